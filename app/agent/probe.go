package agent

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Probed is what was found out about an agent's program.
type Probed struct {
	Path    string // absolute; empty when it is not installed
	Version string // the first line that it printed, cleaned; empty when it has none or did not answer
}

// Installed says whether the program was found.
func (p Probed) Installed() bool { return p.Path != "" }

const (
	probeTimeout = 3 * time.Second        // node programs answer in about 1 s on a busy machine
	probeDrain   = 200 * time.Millisecond // how long a child that kept the pipe is waited for
	maxVersion   = 80                     // characters of a version that are kept
	maxProbe     = 4 << 10                // bytes of output that are looked at
)

// Probe looks a program up and asks it for its version, within 3 seconds, in a session of its own, with a cleared
// environment and in the root directory. The error wraps ErrNotInstalled when there is no program; any other one
// comes with Path set and tells why there is no version.
func Probe(ctx context.Context, d Definition, w Where) (Probed, error) {
	path, err := Find(d, w)
	if err != nil {
		return Probed{}, err
	}
	if len(d.Version) == 0 {
		return Probed{Path: path}, nil
	}
	out, err := run(ctx, path, d.Version, probeEnv(w))
	if err != nil {
		return Probed{Path: path}, fmt.Errorf("probe %s: %w", d.ID, err)
	}
	return Probed{Path: path, Version: firstLine(out)}, nil
}

// probeEnv is all that the program sees. HOME is the person's: without it some of them start to set one up.
func probeEnv(w Where) []string {
	env := []string{"LANG=C.UTF-8", "TERM=dumb", "PATH=" + w.Path}
	if w.Home != "" {
		env = append(env, "HOME="+w.Home)
	}
	return env
}

// run returns the beginning of what the program printed. Whatever happens its whole process group is ended: gemini
// is two processes, and the second outlives the first.
func run(ctx context.Context, path string, args, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	out := &head{}
	cmd.Env, cmd.Dir, cmd.Stdout = env, "/", out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = probeDrain
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		// A child still holds the pipe, so its group still exists and its number cannot be another's.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		err = nil
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer: %w", ctx.Err())
	case err != nil:
		return "", err
	}
	return out.String(), nil
}

// head keeps the first bytes written to it and takes the rest without a word, so that the program never blocks.
type head struct{ b strings.Builder }

func (h *head) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), maxProbe-h.b.Len())])
	return len(p), nil
}

func (h *head) String() string { return h.b.String() }

// firstLine returns the first line that says anything, as printable text.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		var b strings.Builder
		n := 0
		for _, r := range strings.TrimSpace(line) {
			if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
				continue
			}
			if n++; n > maxVersion {
				break
			}
			b.WriteRune(r)
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}
