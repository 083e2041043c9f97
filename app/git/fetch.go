package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// origin is the one remote that is fetched from: a task starts from what the others of a project start from.
const origin = "origin"

// fetchTimeout bounds a fetch: a line that is slow, and an end to a remote that never answers. What needs longer, the
// person fetches themselves.
const fetchTimeout = 2 * time.Minute

// fetchLocks let one fetch of a repository run at a time: two of the same branch would fetch everything twice, and one of
// them would find the ref moved.
var fetchLocks keyedMutex

// FetchBranch brings refs/remotes/origin/<branch> to where origin has the branch, and returns the commit; nothing else of
// the repository changes. It returns ErrNoRemote without an origin, ErrRefNotFound when origin has no such branch, and
// ErrUnreachable, with the cause, when origin does not answer in time or refuses: what was fetched before stands then.
//
// It runs with the person's configuration and credentials. Nothing can ask: there is no terminal, and git, ssh and
// git's credential manager are told so. say, unless it is nil, is told in a few words how far it has come.
func (r *Repo) FetchBranch(ctx context.Context, branch string, say func(string)) (OID, error) {
	if err := r.git.CheckBranchName(ctx, branch); err != nil {
		return "", fmt.Errorf("fetch: %w", err)
	}
	tip, err := r.fetch(ctx, branch, say)
	if err != nil {
		return "", fmt.Errorf("fetch %s from %s: %w", branch, origin, err)
	}
	return tip, nil
}

func (r *Repo) fetch(ctx context.Context, branch string, say func(string)) (OID, error) {
	_, err := r.git.run(ctx, call{at: r.Root, limit: 64 << 10, args: []string{"remote", "get-url", origin}})
	if exitCode(err) == 2 { // git-remote(1), "EXIT STATUS"
		return "", ErrNoRemote
	}
	if err != nil {
		return "", err
	}
	ssh, err := r.sshCommand(ctx)
	if err != nil {
		return "", err
	}
	within, cancel := context.WithTimeoutCause(ctx, r.git.FetchTimeout, ErrNoAnswer)
	defer cancel()
	unlock, err := fetchLocks.lock(within, r.CommonDir)
	if err != nil {
		return "", unreachable(ctx, err)
	}
	defer unlock()
	tracking := "refs/remotes/" + origin + "/" + branch
	c := call{at: r.Root, write: true, remote: true, timeout: r.git.FetchTimeout, env: append(unasked(), ssh...),
		config: append([]string{"gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false", "credential.interactive=false"}, refTimeouts...),
		args: []string{"fetch", shown(say), "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--end-of-options",
			origin, "+refs/heads/" + branch + ":" + tracking}, say: say}
	err = r.retryLocked(within, func() error {
		_, err := r.git.run(within, c)
		return err
	})
	switch {
	case stderrHas(err, "couldn't find remote ref"):
		return "", fmt.Errorf("%w: %w", ErrRefNotFound, err)
	case err != nil:
		return "", unreachable(ctx, err)
	}
	tip, err := r.readRef(ctx, tracking)
	if err == nil && tip == "" {
		err = ErrRefNotFound
	}
	return tip, err
}

// shown is the option that makes git say what say is to be told.
func shown(say func(string)) string {
	if say == nil {
		return "--quiet"
	}
	return "--progress"
}

// unreachable tells a caller that went away from an origin that does not answer.
func unreachable(caller context.Context, err error) error {
	if caller.Err() != nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) { // ours: the caller is still there
		err = ErrNoAnswer
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// unasked is what tells the programs that know credentials that nobody is there to be asked.
func unasked() []string {
	return []string{"SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
}

// sshCommand returns the environment with which ssh asks nothing and gives up on a host that does not answer. A command of
// the person's that is not ssh itself is left alone: other programs do not know these options.
func (r *Repo) sshCommand(ctx context.Context) ([]string, error) {
	out, err := r.git.run(ctx, call{at: r.Root, limit: 64 << 10, args: []string{"config", "--get", "core.sshCommand"}})
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("read core.sshCommand: %w", err)
	}
	command := strings.TrimSpace(string(out))
	if command == "" {
		command = "ssh"
	}
	if filepath.Base(strings.Fields(command)[0]) != "ssh" {
		return nil, nil
	}
	return []string{"GIT_SSH_COMMAND=" + command + " -oBatchMode=yes -oConnectTimeout=15"}, nil
}

// Why returns the last line of what git said, for a person: why a remote was not reached.
func Why(err error) string {
	var exit *ExitError
	switch {
	case errors.Is(err, ErrNoAnswer):
		return "it gave no answer in time"
	case !errors.As(err, &exit):
		return "git could not be run"
	}
	said := "git said nothing"
	for line := range strings.Lines(exit.Stderr) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			said = clip(line, 300)
			if strings.HasPrefix(line, "fatal: ") {
				break
			}
		}
	}
	return strings.Map(func(c rune) rune {
		if isControl(c) {
			return ' '
		}
		return c
	}, said)
}
