package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

// inheritedAlways are the variables of our environment that any project call
// may see. HOME and XDG_CONFIG_HOME lead to the person's configuration.
var inheritedAlways = []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "LANG"}

// inheritedForRemotes are added where a call may have to reach a remote: only
// the first checkout does (LFS, partial clones).
var inheritedForRemotes = []string{
	"SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
}

const (
	// outputLimit bounds what one call may print unless it says otherwise.
	// 64 MiB holds the status of half a million untracked files.
	outputLimit = 64 << 20
	// stderrLimit bounds the kept part of git's messages.
	stderrLimit = 16 << 10
	// termGrace is how long git has to remove its lock files after SIGTERM
	// before SIGKILL; a killed git leaves them behind for the person to find.
	termGrace = 2 * time.Second
)

// call is one run of git.
type call struct {
	args []string // the subcommand and its arguments
	at   string   // directory for -C; empty for none

	// seal, when set, makes this a sealed call on our own git directory.
	seal *scratch
	// gitDir and workTree name a git directory outright, so that git discovers
	// nothing: a checkout that lost its .git file must not mean its parent.
	gitDir, workTree string

	write  bool // changes the repository: may take optional locks
	remote bool // may reach a remote

	config  []string // extra "key=value", for this call
	env     []string // extra "NAME=value", for this call
	stdin   io.Reader
	stdout  io.Writer     // instead of the returned bytes
	limit   int64         // bytes of standard output; 0 is outputLimit
	cut     bool          // at the limit: stop git and return what came
	timeout time.Duration // 0 is Git.ReadTimeout
	bounds  Bounds        // of what it may use up

	// say, when set, is told git's progress, for which the arguments have to ask.
	say func(text string)
}

// run runs git once and returns its standard output. A refusal of git is an
// *ExitError, returned with what it had printed; too much output is ErrTooLarge (with cut, success); an end of ctx
// is its cause; our own limit of time is ErrNoAnswer. When run returns, neither
// git nor a child of its process group is left.
func (g *Git) run(ctx context.Context, c call) ([]byte, error) {
	out, _, err := g.runCut(ctx, c)
	return out, err
}

// runCut is run, and also reports whether the output was cut at the limit.
func (g *Git) runCut(ctx context.Context, c call) ([]byte, bool, error) {
	if c.write {
		off, err := g.hooksOff(ctx, c)
		if err != nil {
			return nil, false, err
		}
		c.env = append(off, c.env...)
	}
	return g.start(ctx, c)
}

func (g *Git) start(parent context.Context, c call) ([]byte, bool, error) {
	if g.path == "" {
		return nil, false, ErrNoGit
	}
	limit, timeout := c.limit, c.timeout
	if limit == 0 {
		limit = outputLimit
	}
	if timeout == 0 {
		timeout = g.ReadTimeout
	}
	ctx, cancel := context.WithTimeoutCause(parent, timeout, ErrNoAnswer)
	defer cancel()
	if ctx.Err() != nil { // the cause: ours, or that of whoever called
		return nil, false, fmt.Errorf("git %s: %w", c.args[0], cmp.Or(parent.Err(), ErrNoAnswer))
	}

	cmd := exec.CommandContext(ctx, g.path, g.arguments(c)...)
	cmd.Env = g.environment(c)
	cmd.Dir = "/"
	cmd.Stdin = c.stdin // nil is /dev/null
	stdout := &capped{limit: limit, stop: cancel, to: c.stdout}
	stderr := &capped{limit: stderrLimit, lossy: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	lines := &progressLines{to: stderr, say: c.say}
	if c.say != nil {
		cmd.Stderr = lines
	}
	group := ownGroup(cmd)
	cmd.Cancel = group.terminate
	// Then git is killed; and a grandchild that keeps the pipe open must not keep
	// us: this closes our end.
	cmd.WaitDelay = termGrace

	err := g.wait(cmd, group, c)
	_ = lines.rest() // stderr takes everything
	if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		group.kill()
	}

	var exit *exec.ExitError
	switch {
	case stdout.over && c.cut:
		return stdout.buf.Bytes(), true, nil
	case stdout.over:
		return nil, false, fmt.Errorf("git %s: more than %d bytes: %w", c.args[0], limit, ErrTooLarge)
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return stdout.buf.Bytes(), false, nil
	case parent.Err() != nil:
		return nil, false, fmt.Errorf("git %s: %w", c.args[0], parent.Err())
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("git %s: no answer in %s: %w", c.args[0], timeout, ErrNoAnswer)
	case errors.As(err, &exit):
		return stdout.buf.Bytes(), false, &ExitError{Args: c.args, Code: exit.ExitCode(), Stderr: maskUserinfo(stderr.buf.String())}
	default:
		return nil, false, fmt.Errorf("run git %s: %w", c.args[0], err)
	}
}

// wait runs git to its end, within its bounds. It stays on one thread meanwhile; endWithUs says why.
func (g *Git) wait(cmd *exec.Cmd, group *group, c call) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := c.bounds.apply(cmd.Process.Pid); err != nil {
		group.kill()
		return errors.Join(fmt.Errorf("bound git %s: %w", c.args[0], err), cmd.Wait())
	}
	return cmd.Wait()
}

// arguments puts our own options before the subcommand.
func (g *Git) arguments(c call) []string {
	args := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}
	for _, kv := range c.config {
		args = append(args, "-c", kv)
	}
	switch {
	case c.seal != nil:
		args = append(args, "--git-dir="+c.seal.dir)
		if c.seal.work != "" {
			args = append(args, "--work-tree="+c.seal.work)
		}
	case c.gitDir != "":
		args = append(args, "--git-dir="+c.gitDir)
		if c.workTree != "" {
			args = append(args, "--work-tree="+c.workTree)
		}
	}
	at := c.at
	if at == "" && c.seal != nil {
		at = c.seal.work
	}
	if at == "" {
		at = c.workTree
	}
	if at != "" {
		args = append(args, "-C", at)
	}
	return append(args, c.args...)
}

// environment is built from nothing. Pathspecs are literal everywhere: a path
// that a person or an agent named is never a pattern.
func (g *Git) environment(c call) []string {
	env := []string{
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"GIT_LITERAL_PATHSPECS=1",
	}
	inherit := inheritedAlways
	if c.seal != nil {
		inherit = []string{"PATH", "LANG"}
		env = append(env, sealedEnv...)
	}
	if c.remote {
		inherit = append(append([]string(nil), inherit...), inheritedForRemotes...)
	} else {
		// GIT_ALLOW_PROTOCOL stands in for GIT_NO_LAZY_FETCH on a git that does
		// not know it (2.39): no protocol is called "none", so no remote is reached.
		env = append(env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1")
	}
	if !c.write {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	for _, name := range inherit {
		if v, ok := g.inherited[name]; ok {
			env = append(env, name+"="+v)
		}
	}
	if c.say != nil {
		env = append(env, progressEnv)
	}
	return append(env, c.env...)
}

// sealedEnv hides every configuration and attribute file but those of the
// sealed git directory itself.
var sealedEnv = []string{
	"HOME=/nonexistent",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
}

// hookEvents are the hooks that a writing call of ours could meet; a git that
// knows hook.<event>.enabled (2.55) switches them off by name.
var hookEvents = []string{
	"reference-transaction", "post-checkout", "post-index-change", "post-commit", "post-merge", "post-rewrite", "pre-auto-gc",
}

// hooksOff returns the environment that switches off hooks which the
// configuration itself names (git 2.54 and later): core.hooksPath does not.
func (g *Git) hooksOff(ctx context.Context, c call) ([]string, error) {
	if c.seal != nil || g.version.Less(configHooks) {
		return nil, nil
	}
	ask := call{args: []string{"config", "-z", "--name-only", "--get-regexp", `^hook\..*\.(command|event|parallel)$`},
		at: c.at, gitDir: c.gitDir, workTree: c.workTree}
	out, _, err := g.start(ctx, ask)
	if err != nil && exitCode(err) != 1 { // 1: nothing matches
		return nil, fmt.Errorf("list configured hooks: %w", err)
	}
	names := map[string]bool{}
	for _, key := range splitNUL(out) {
		key = strings.TrimPrefix(key, "hook.")
		if dot := strings.LastIndexByte(key, '.'); dot > 0 {
			names[key[:dot]] = true
		}
	}
	for _, e := range hookEvents {
		names[e] = true
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(sorted))}
	for i, n := range sorted {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=hook.%s.enabled", i, n), fmt.Sprintf("GIT_CONFIG_VALUE_%d=false", i))
	}
	return env, nil
}

// capped collects at most limit bytes. Beyond it a lossy one drops the rest,
// any other calls stop and fails the write, which ends the process.
type capped struct {
	buf   bytes.Buffer
	to    io.Writer // nil: buf
	n     int64
	limit int64
	lossy bool
	over  bool
	stop  func()
}

func (w *capped) Write(p []byte) (int, error) {
	keep := p
	if w.n+int64(len(p)) > w.limit {
		keep = p[:w.limit-w.n]
		w.over = true
	}
	w.n += int64(len(keep))
	if w.to != nil {
		if n, err := w.to.Write(keep); err != nil {
			return n, err
		}
	} else {
		w.buf.Write(keep)
	}
	if w.over && !w.lossy {
		w.stop()
		return len(keep), ErrTooLarge
	}
	return len(p), nil
}

var userinfoRE = regexp.MustCompile(`(://)[^/@\s]+@`)

// maskUserinfo hides name and password in addresses that git quotes.
func maskUserinfo(s string) string { return userinfoRE.ReplaceAllString(s, "${1}***@") }

// splitNUL splits NUL-terminated records; a last record without its NUL counts.
func splitNUL(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
