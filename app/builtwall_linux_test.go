package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"termic/registry/refusal"
)

// wallCases are the walls of each cage mode, one a row, seen from a shell inside.
var wallCases = []boundaryCase{
	{"wall-read", func(b *built) {
		b.cagedShell("walled-enforce", "")
		b.must("task_new", `{"name":"walled-enforce-fs","project":"demo","agent":"shell","cage":"enforce-fs"}`)
		b.rig.wait("walled-enforce-fs")
		b.task("unwalled", "shell", "")
		b.rig.wait("unwalled")
		secret := put(b.t, "the person's\n", sharedDir(b.t), "secret.txt")
		b.wall("cat "+secret, "the person's", "No such file or directory")
	}},
	{"wall-write", func(b *built) {
		dir := sharedDir(b.t)
		b.wall(fmt.Sprintf("touch %s/planted && echo written", dir), "written", "No such file or directory", "Read-only file system", "Permission denied")
		if _, err := os.Stat(filepath.Join(dir, "planted")); err != nil {
			b.t.Errorf("twin: %v", err)
		}
		b.wall("touch /usr/planted-by-termics-test && rm /usr/planted-by-termics-test && echo written || touch /dev/shm/../../usr/x", "", "Read-only file system", "Permission denied")
	}},
	{"wall-data", func(b *built) {
		b.wall("cat "+filepath.Join(b.dir, "cli-token"), "termic_", "No such file or directory", "Permission denied")
	}},
	{"wall-processes", func(b *built) {
		b.wall(fmt.Sprintf("kill -0 %d && echo reached", b.pid), "reached", "No such process")
	}},
	{"wall-crowd", func(b *built) {
		crowd := func(name, limit string) string {
			b.must("settings_set", `{"key":"cage.processes","value":%q}`, limit)
			b.cagedShell(name, "")
			put(b.t, "i=0; while [ $i -lt 800 ]; do sleep 30 >/dev/null 2>&1 & i=$((i+1)); done 2>&1; echo all of them\n",
				b.flag(name, "path").(string), "crowd.sh")
			return b.run(name, "sh crowd.sh")
		}
		if got := crowd("roomy", "0"); !strings.Contains(got, "all of them") {
			b.t.Errorf("twin: %s", got)
		}
		got := crowd("crowded", "256")
		if notes := fmt.Sprint(b.must("task_status", `{"task":"crowded"}`)["notes"]); strings.Contains(notes, "is not limited") { // by this kernel, as the task says
			return
		}
		if strings.Contains(got, "all of them") || !strings.Contains(got, "fork") {
			b.t.Errorf("800 processes in a cage of 256: %s", got)
		}
	}},
	{"wall-ports", func(b *built) {
		line := fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s && echo reached'", b.secret("mcp-port"))
		if got := b.run("unwalled", line); !strings.Contains(got, "reached") {
			b.t.Errorf("twin: %s", got)
		}
		if got := b.run("walled-enforce", line); !strings.Contains(got, "refused") || strings.Contains(got, "reached") {
			b.t.Errorf("the host's port from inside: %s", got)
		}
		if got := b.run("walled-enforce-fs", line); !strings.Contains(got, "reached") { // whose network is open, as its row says
			b.t.Errorf("enforce-fs: %s", got)
		}
	}},
	{"egress", func(b *built) {
		b.cagedShell("egress", `,"hosts":["allowed.invalid"]`)
		connect := func(host string) string {
			script := fmt.Sprintf(`P=${HTTPS_PROXY##*/}
exec 3<>/dev/tcp/${P%%:*}/${P##*:}
printf 'CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n' >&3
head -1 <&3
`, host, host)
			if err := os.WriteFile(filepath.Join(b.flag("egress", "path").(string), "connect.sh"), []byte(script), 0o600); err != nil {
				b.t.Fatal(err)
			}
			return b.run("egress", "bash connect.sh")
		}
		if got := connect("other.invalid"); !strings.Contains(got, "403") {
			b.t.Errorf("a host that is not listed: %q", got)
		}
		if got := connect("127.0.0.1"); !strings.Contains(got, "400 addresses are never reached") {
			b.t.Errorf("this machine: %q", got)
		}
		// The twin passes the rule; that no such name is to be found is another answer.
		if got := connect("allowed.invalid"); !strings.Contains(got, "HTTP/1.1 5") {
			b.t.Errorf("twin: %q", got)
		}
	}},
	{"servers", func(b *built) {
		b.cagedShell("serving", "")
		b.serveInside("serving")
		if got, err := getPage("http://127.0.0.1:18080/page.html"); !errors.Is(err, syscall.ECONNREFUSED) {
			b.t.Errorf("it is reached without having been opened: %q, %v", got, err)
		}
		url := b.must("server_open", `{"task":"serving","port":18080}`)["server"].(map[string]any)["url"].(string)
		if got, err := getPage(url + "/page.html"); got != "from-the-cage\n" {
			b.t.Errorf("twin: %q, %v", got, err)
		}
		b.must("server_close", `{"task":"serving","port":18080}`)
		if got, err := getPage(url + "/page.html"); !errors.Is(err, syscall.ECONNREFUSED) {
			b.t.Errorf("it was closed and answers: %q, %v", got, err)
		}
	}},
}

// wall runs a line in a task without a cage, where it shows want, and in a cage of each mode, where it shows one of the
// errors and not want. An empty want: it is tried in the cages only, since outside it would change the machine.
func (b *built) wall(line, want string, errors ...string) {
	b.t.Helper()
	if want != "" {
		if got := b.run("unwalled", line+" | head -c 40"); !strings.Contains(got, want) && !strings.Contains(got, "termic_") {
			b.t.Errorf("twin: %s: %s", line, got)
		}
	}
	for _, name := range []string{"walled-enforce", "walled-enforce-fs"} {
		got := b.run(name, line)
		refused := false
		for _, e := range errors {
			refused = refused || strings.Contains(got, e)
		}
		if !refused || want != "" && strings.Contains(got, want) {
			b.t.Errorf("%s: %s: %s", name, line, got)
		}
	}
}

// wordOf returns the word that a refusal gave, for who has seen what it names.
func wordOf(no *refusal.Refusal) string { return no.Remedy[strings.LastIndex(no.Remedy, " ")+1:] }

// gitCases are about what runs when the app works with git.
var gitCases = []boundaryCase{
	{"hooks", func(b *built) {
		fired := filepath.Join(filepath.Dir(b.repo), "hook-fired")
		hook := put(b.t, "#!/bin/sh\ntouch '"+fired+"'\n", b.repo, ".git", "hooks", "post-checkout")
		if err := os.Chmod(hook, 0o755); err != nil {
			b.t.Fatal(err)
		}
		b.task("hooked", "shell", "")
		if _, err := os.Stat(fired); err == nil {
			b.t.Error("a hook ran")
		}
		runGit(b.t, "-C", b.repo, "worktree", "add", "-q", filepath.Join(filepath.Dir(b.repo), "by-hand"))
		if _, err := os.Stat(fired); err != nil {
			b.t.Errorf("twin: plain git did not run it: %v", err)
		}
		if err := os.Remove(hook); err != nil {
			b.t.Fatal(err)
		}
	}},
	{"landing", func(b *built) {
		b.cagedShell("landed", "")
		b.inside("landed", "echo 'touch owned' > .envrc; echo x > plain-work.txt; git add -A; git commit -qm work")
		no := b.refused(refusal.Unconfirmed, "task_apply", `{"task":"landed"}`)
		if !strings.Contains(no.Reason, ".envrc") || strings.Contains(no.Reason, "plain-work") {
			b.t.Errorf("%+v", no)
		}
		b.has("plain-work.txt", "")
		b.refused(refusal.Unconfirmed, "task_new", `{"name":"uncaged","agent":"shell","project":"demo","base":"termic/landed"}`)
		b.must("task_apply", `{"task":"landed","confirm":%q}`, wordOf(no))
		b.has("plain-work.txt", "x\n")
		b.must("task_apply", `{"task":"landed","undo":true}`)
	}},
	{"trust", func(b *built) {
		b.commitRepo("run = \"echo ran > ran.txt\"\n")
		b.task("obedient", "shell", "")
		b.refused(refusal.Unconfirmed, "task_run", `{"task":"obedient"}`)
		digest := b.repository()["digest"].(string)
		b.refused(refusal.UnknownVerb, "trust_answer", `{"project":"demo","digest":%q,"trust":true}`, digest)
		b.types("trust demo " + digest + "\n") // the person's word
		b.until("it is trusted", func() bool { return b.repository()["trusted"] == true })
		b.must("task_run", `{"task":"obedient"}`)
		ran := filepath.Join(b.flag("obedient", "path").(string), "ran.txt")
		b.until("it runs", func() bool { _, err := os.Stat(ran); return err == nil })
	}},
	{"view", func(b *built) {
		made := b.cagedShell("planter", "")
		owned := filepath.Join(made["path"].(string), "owned")
		plant := fmt.Sprintf(`git config core.fsmonitor 'touch %s; false'; git config diff.external 'touch %s'`, owned, owned)
		b.inside("planter", plant)
		b.must("task_diff", `{"task":"planter"}`)
		runGit(b.t, "-C", made["path"].(string), "status", "--short") // the person's
		if _, err := os.Stat(owned); err == nil {
			b.t.Error("what a cage wrote into its git ran outside")
		}
		b.inside("planter", "git status >/dev/null 2>&1; true")
		if _, err := os.Stat(owned); err != nil {
			b.t.Errorf("twin: its own git does not obey it either: %v", err)
		}
	}},
}
