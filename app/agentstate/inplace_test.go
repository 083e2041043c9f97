package agentstate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/agentstate"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	"termic/sandbox/seatbelt/judge"
)

// Where a cage has no mounts of its own, what an agent gets is at paths that a policy can name, and every path that the agent is
// told of leads there.
func TestAPlanWithoutMounts(t *testing.T) {
	for _, l := range logins {
		t.Run(l.agent, func(t *testing.T) {
			r := newRig(t)
			r.write(t, l.file, l.content)
			task := r.task(t, l.agent)
			task.Hook = writeFile(t, filepath.Join(r.Outside, "hook"), "#!/bin/sh\n", 0o755)
			r.inPlace(t)
			plan := r.prepare(t, task)
			text, at := r.policy(t, plan)
			policy, err := judge.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			ask := func(op, path string) bool {
				if strings.HasPrefix(path, "/tmp/") {
					path = "/private" + path // as a Mac has it
				}
				return policy.Allows(judge.Request{Op: op, Path: path})
			}
			if plan.Hook != task.Hook || !ask("file-read-data", plan.Hook) || ask("file-write-data", plan.Hook) {
				t.Errorf("the hooks' program %q", plan.Hook)
			}
			for _, o := range plan.Own {
				if !ask("file-read-data", o.Source) || !o.Write && ask("file-write-data", o.Source) {
					t.Errorf("%+v is not as planned", o)
				}
				if o.Path != o.Source && !strings.HasPrefix(o.Path, r.Home+"/") {
					t.Errorf("%+v cannot be reached by a link in the home directory %s", o, at.Home)
				}
			}
			for name, value := range plan.Env {
				if strings.HasPrefix(value, "/") && !ask("file-read-data", value) {
					t.Errorf("%s=%s cannot be read", name, value)
				}
			}
			r.linksLead(t, ask)
		})
	}
}

// The twin: in a plan for mounts the agent is told of a path that is nowhere on the host.
func TestAPlanWithMountsIsForMounts(t *testing.T) {
	r := newRig(t)
	dir := r.prepare(t, r.task(t, "claude")).Env["CLAUDE_CONFIG_DIR"]
	if _, err := os.Lstat(dir); dir == "" || !os.IsNotExist(err) {
		t.Errorf("%q: %v", dir, err)
	}
}

func (r *rig) inPlace(t *testing.T) {
	t.Helper()
	keeper, err := agentstate.Open(agentstate.Options{Dir: r.state, InPlace: true, Environ: func() []string { return []string{"HOME=" + r.Home, "PATH=" + os.Getenv("PATH")} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keeper.Close() })
	r.keeper = keeper
}

// policy is that of a cage with the plan.
func (r *rig) policy(t *testing.T, plan agentstate.Plan) (string, seatbelt.Places) {
	t.Helper()
	dirs := r.Dirs
	dirs.Own = append(dirs.Own[:len(dirs.Own):len(dirs.Own)], plan.Own...)
	dirs.Caches, dirs.Read = plan.Caches, plan.Read
	p, err := profile.Compile(capability.Declared{Mode: capability.Enforce}, dirs, profile.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	at := seatbelt.Places{Home: r.Data + "/cage/home", Temp: r.Data + "/cage/temp", Programs: r.Data + "/cage/programs", Proxy: 4712}
	text, err := seatbelt.Render(p, at)
	if err != nil {
		t.Fatal(err)
	}
	return text, at
}

// linksLead checks that every link in what was made leads to what is there, and may be read.
func (r *rig) linksLead(t *testing.T, ask func(op, path string) bool) {
	t.Helper()
	err := filepath.WalkDir(r.state, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink == 0 {
			return err
		}
		if to, err := filepath.EvalSymlinks(name); err != nil || !ask("file-read-data", to) {
			t.Errorf("the link %s leads to %q: %v", name, to, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
