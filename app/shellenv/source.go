package shellenv

import (
	"bufio"
	"context"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
)

// Source is the environment that new terminals start from. It is safe for concurrent use.
type Source struct {
	own []string // the app's, cleaned

	refreshing sync.Mutex // one capture at a time

	mu      sync.Mutex // guards the rest
	environ []string
	shell   string
	problem error
}

// Own returns a source that gives the app's own environment, cleaned: what somebody wants who started it from their shell.
func Own(environ []string) *Source {
	own := Clean(environ)
	return &Source{own: own, environ: own}
}

// Environ returns the environment ("NAME=value" each), which is the caller's to change.
func (s *Source) Environ() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.environ)
}

// State tells which shell the environment is from ("" for the app's own), and why its capture did not work: what was had before
// it, the app's own at first, is then still in use.
func (s *Source) State() (shell string, problem error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shell, s.problem
}

// Refresh captures the login shell's environment (anew), in at most Timeout.
func (s *Source) Refresh(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	shell := LoginShell(s.own)
	captured, err := Capture(ctx, shell, s.own)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = err
	if err == nil {
		s.shell, s.environ = shell, merge(Clean(captured), s.own)
	}
	return err
}

// UseOwn goes back to the app's own environment.
func (s *Source) UseOwn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environ, s.shell, s.problem = s.own, "", nil
}

// merge returns captured with the entries of PATH that only own has at its end: what the app was started with to find its own
// programs stays findable, after everything that the person chose.
func merge(captured, own []string) []string {
	ours, _ := lookup(own, "PATH")
	i := slices.IndexFunc(captured, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	if i < 0 {
		return append(captured, "PATH="+ours)
	}
	path := strings.Split(strings.TrimPrefix(captured[i], "PATH="), ":")
	for _, dir := range strings.Split(ours, ":") {
		if dir != "" && !slices.Contains(path, dir) {
			path = append(path, dir)
		}
	}
	captured[i] = "PATH=" + strings.Join(path, ":")
	return captured
}

func lookup(environ []string, name string) (string, bool) {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// LoginShell returns the path of the person's shell: SHELL, else what the user database says, else /bin/sh.
func LoginShell(environ []string) string {
	if shell, _ := lookup(environ, "SHELL"); shell != "" {
		return shell
	}
	if shell := registered(); shell != "" {
		return shell
	}
	return "/bin/sh"
}

// registered reads the seventh field of the person's line in /etc/passwd (passwd(5)). On macOS people are not in it, but there
// SHELL is always set.
func registered() string {
	me, err := user.Current()
	if err != nil {
		return ""
	}
	file, err := os.Open("/etc/passwd")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) == 7 && fields[0] == me.Username {
			return fields[6]
		}
	}
	return ""
}
