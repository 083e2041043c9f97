package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"termic/app/git"
	"termic/app/project"
	"termic/app/repoconf"
	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// RepoSettings is what a project's repository and the person's own file beside it say of its tasks.
type RepoSettings struct {
	Branch string // the default branch, whose commit is read
	Digest string // of the repository's file; empty when there is none
	// Trusted tells that the person trusted exactly that file's commands.
	Trusted      bool
	Repo, Mine   repoconf.Settings
	Problems     []repoconf.Problem // of the repository's file
	MinePath     string
	MineProblems []repoconf.Problem
	Effective    repoconf.Settings
	// Project is the project's name, for who is told what to do.
	Project string
}

// mineDir holds the person's own files, one a project.
const mineDir = "repo-settings"

// RepoSettings reads both files as they are now: the repository's from the default branch's commit, never from a
// task's tree.
func (s *Tasks) RepoSettings(ctx context.Context, id ident.Project) (RepoSettings, error) {
	repo, err := s.Projects.Repo(ctx, id)
	if err != nil {
		return RepoSettings{}, err
	}
	branch, err := repo.DefaultBranch(ctx)
	if err != nil {
		return RepoSettings{}, err
	}
	out := RepoSettings{Branch: branch.Name}
	if p, ok := s.Projects.Get(id); ok {
		out.Project = p.Name
	}
	data, err := repo.FileAt(ctx, branch.OID, repoconf.File, repoconf.MaxBytes)
	switch {
	case errors.Is(err, git.ErrNotFile), errors.Is(err, git.ErrTooLarge):
		out.Problems = []repoconf.Problem{{Line: 1, Column: 1, What: fmt.Sprintf("it is no regular file of at most %d bytes", repoconf.MaxBytes)}}
	case err != nil:
		return RepoSettings{}, err
	case data != nil:
		sum := sha256.Sum256(data)
		out.Digest = hex.EncodeToString(sum[:])
		out.Repo, out.Problems = repoconf.Parse(data)
	case there(repo.Root):
		out.Problems = []repoconf.Problem{{Line: 1, Column: 1, Harmless: true, What: "it is not committed on " + branch.Name + ", and has no effect until it is"}}
	}
	dir, err := s.Store.Subdir(mineDir)
	if err != nil {
		return RepoSettings{}, err
	}
	out.MinePath = filepath.Join(dir, string(id)+".jsonc")
	mine, err := os.ReadFile(out.MinePath)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return RepoSettings{}, fmt.Errorf("read the person's settings of the project: %w", err)
	}
	out.Mine, out.MineProblems = repoconf.ParseMine(mine)
	out.Effective = repoconf.Merge(out.Repo, out.Mine)
	out.Trusted, err = s.trusts(id, out.Digest)
	return out, err
}

// there tells whether a checkout has the file, committed or not.
func there(root string) bool {
	_, err := os.Lstat(filepath.Join(root, repoconf.File))
	return err == nil
}

// trusted is one content that the person trusted.
type trusted struct {
	Project ident.Project `json:"project"`
	Digest  string        `json:"digest"`
	When    time.Time     `json:"when"`
}

var trustFile = store.Define[[]trusted]("trust", 1)

// maxTrusted bounds the list: a content that was pushed out is asked for again.
const maxTrusted = 500

func (s *Tasks) trusts(id ident.Project, digest string) (bool, error) {
	if digest == "" {
		return false, nil
	}
	list, err := trustFile.Load(s.Store)
	if err != nil {
		return false, fmt.Errorf("read what is trusted: %w", err)
	}
	return slices.ContainsFunc(list, func(t trusted) bool { return t.Project == id && t.Digest == digest }), nil
}

// Trust keeps or takes back the person's trust in a content of the repository's file. Only the content that is there
// now can be trusted: the person has just been shown it.
func (s *Tasks) Trust(ctx context.Context, id ident.Project, digest string, yes bool) error {
	if yes {
		now, err := s.RepoSettings(ctx, id)
		if err != nil {
			return err
		}
		if digest != now.Digest || digest == "" {
			return refusal.New(refusal.Conflict, "the file is not the one that was shown", "look at it again: termic project settings")
		}
	}
	return trustFile.Update(s.Store, func(list *[]trusted) error {
		*list = slices.DeleteFunc(*list, func(t trusted) bool { return t.Project == id && (t.Digest == digest || !yes && digest == "") })
		if yes {
			*list = append(*list, trusted{id, digest, time.Now().UTC().Truncate(time.Second)})
			*list = (*list)[max(0, len(*list)-maxTrusted):]
		}
		return nil
	})
}

// notTrusted ends each sentence about what was not done for want of trust.
const notTrusted = "you have not trusted them as they are now"

// Commands returns what is to be run for a key, or copied, or why it is not: the person's own without a question, the
// repository's only as trusted.
func (r RepoSettings) Commands(key string) (lines []string, why string) {
	lines = r.Effective.Values(key)
	switch {
	case bad(r.MineProblems):
		return nil, "your settings of the project are not understood: " + firstBad(r.MineProblems)
	case r.Mine.Given[key] || len(lines) == 0:
		if bad(r.Problems) {
			return lines, repoconf.File + " of the project has no effect: " + firstBad(r.Problems)
		}
		return lines, ""
	case !r.Trusted && key == "copy":
		return nil, "the files that " + repoconf.File + " names were not copied: " + notTrusted
	case !r.Trusted:
		return nil, fmt.Sprintf("the %s commands of %s were not run: %s", key, repoconf.File, notTrusted)
	}
	return lines, ""
}

// Broken tells whether a file is not understood, so that there is nothing to trust.
func (r RepoSettings) Broken() bool { return bad(r.Problems) || bad(r.MineProblems) }

// HowToTrust says what the person does to let the repository's commands run.
func (r RepoSettings) HowToTrust() string {
	return fmt.Sprintf("see: termic project settings %s; then type at the terminal of a foreground serve, or answer in the window: trust %s %s", r.Project, r.Project, r.Digest)
}

func bad(list []repoconf.Problem) bool {
	return slices.ContainsFunc(list, func(p repoconf.Problem) bool { return !p.Harmless })
}

func firstBad(list []repoconf.Problem) string {
	return list[slices.IndexFunc(list, func(p repoconf.Problem) bool { return !p.Harmless })].String()
}

// Narrow returns the person's defaults as far as the files leave them: what is listed there and not by the person is
// not let through.
func (r RepoSettings) Narrow(d project.Defaults) (project.Defaults, error) {
	limit := capability.Set{Network: d.Hosts, Read: d.Read, Write: d.Write}
	var err, failed error
	if r.Effective.Given["hosts"] {
		limit.Network, err = capability.HostsOf(r.Effective.Hosts...)
		failed = errors.Join(failed, err)
	}
	if r.Effective.Given["read"] {
		limit.Read, err = capability.PathsOf(r.Effective.Read...)
		failed = errors.Join(failed, err)
	}
	if r.Effective.Given["write"] {
		limit.Write, err = capability.PathsOf(r.Effective.Write...)
		failed = errors.Join(failed, err)
	}
	met := capability.Meet(capability.Set{Network: d.Hosts, Read: d.Read, Write: d.Write}, limit)
	d.Hosts, d.Read, d.Write = met.Network, met.Read, met.Write
	return d, failed
}

// Wants lists what the repository's file asks for and the person did not give.
func (r RepoSettings) Wants(d project.Defaults) []string {
	var list []string
	asked, err := capability.HostsOf(r.Repo.Hosts...)
	if err == nil {
		if excess, ok := (capability.Set{Network: asked}).Within(capability.Set{Network: d.Hosts}); !ok {
			list = append(list, excess.Gains...)
		}
	}
	for _, paths := range []struct {
		asked []string
		has   capability.Paths
	}{{r.Repo.Read, d.Read}, {r.Repo.Write, d.Write}} {
		asked, err := capability.PathsOf(paths.asked...)
		if err != nil {
			continue
		}
		if excess, ok := (capability.Set{Read: asked}).Within(capability.Set{Read: paths.has}); !ok {
			list = append(list, excess.Gains...)
		}
	}
	return list
}
