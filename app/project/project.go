// Package project knows the repositories that tasks may work in.
package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"termic/app/git"
	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// Project is a registered repository.
type Project struct {
	ID   ident.Project `json:"id"`
	Name string        `json:"name"`
	// Root is the top level of the main worktree, CommonDir what all its worktrees share.
	Root      string    `json:"root"`
	CommonDir string    `json:"common_dir"`
	Added     time.Time `json:"added"`
	// Defaults are what new tasks of the project get unless told otherwise.
	Defaults Defaults `json:"defaults,omitzero"`
}

// Defaults are the person's choice for the cages of a project's tasks. The zero value chooses nothing.
type Defaults struct {
	Mode     capability.Mode  `json:"mode,omitzero"`
	MCP      bool             `json:"mcp,omitzero"`
	Projects []ident.Project  `json:"projects,omitempty"`
	Hosts    capability.Hosts `json:"hosts,omitzero"`
	Read     capability.Paths `json:"read,omitzero"`
	Write    capability.Paths `json:"write,omitzero"`
	Env      capability.Names `json:"env,omitzero"`
	// IsolatedHistory gives each caged task a store with the history of its base only.
	IsolatedHistory bool `json:"isolated_history,omitzero"`
}

var file = store.Define[[]Project]("projects", 1)

// Projects is the list of them. It is safe for concurrent use.
type Projects struct {
	store *store.Store
	git   *git.Git
	mu    sync.RWMutex
	list  []Project
}

// Open reads the list.
func Open(s *store.Store, g *git.Git) (*Projects, error) {
	list, err := file.Load(s)
	if err != nil {
		return nil, fmt.Errorf("open projects: %w", err)
	}
	return &Projects{store: s, git: g, list: list}, nil
}

// Git returns the git program that repositories are opened with.
func (p *Projects) Git() *git.Git { return p.git }

// List returns the projects by name.
func (p *Projects) List() []Project {
	p.mu.RLock()
	defer p.mu.RUnlock()
	list := slices.Clone(p.list)
	slices.SortFunc(list, func(a, b Project) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Get returns one project.
func (p *Projects) Get(id ident.Project) (Project, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i := slices.IndexFunc(p.list, func(q Project) bool { return q.ID == id })
	if i < 0 {
		return Project{}, false
	}
	return p.list[i], true
}

// ErrGone is a project at whose place there is no repository any more.
var ErrGone = errors.New("the project's repository is gone")

// Repo opens the project's repository, which may have moved or broken since it was added: ErrGone when none is there.
func (p *Projects) Repo(ctx context.Context, id ident.Project) (*git.Repo, error) {
	project, ok := p.Get(id)
	if !ok {
		return nil, refusal.New(refusal.NotFound, "no such project", "see: termic project list")
	}
	repo, err := p.git.Open(ctx, project.Root)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, refusal.New(refusal.Conflict, "the repository of project "+project.Name+" is not where it was",
			"bring it back there (termic project list says where); what termic keeps of its tasks is not touched by that").Because(fmt.Errorf("%w: %w", ErrGone, err))
	}
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != project.CommonDir {
		return nil, refusal.New(refusal.Conflict, "another repository is now where project "+project.Name+" was", "remove the project and add it again")
	}
	return repo, nil
}

// Absent returns a project's repository that is gone, for what is left of it elsewhere.
func (p *Projects) Absent(id ident.Project) (*git.Repo, error) {
	project, ok := p.Get(id)
	if !ok {
		return nil, refusal.New(refusal.NotFound, "no such project", "see: termic project list")
	}
	return p.git.Absent(project.CommonDir), nil
}

// Tasks says what the tasks know of a repository that is to become a project.
type Tasks interface {
	// OutsideTasks refuses one that tasks may have written. It is asked with the list of projects locked.
	OutsideTasks(root, common string) error
	// FormerProject returns the id under which its tasks know it, when the list was lost and they were not; else nothing.
	FormerProject(ctx context.Context, repo *git.Repo) (ident.Project, error)
}

// Add registers the repository at path. With an empty name it is named after its directory. Adding the same
// repository again returns the project that there is. tasks is asked about a repository that is none yet.
func (p *Projects) Add(ctx context.Context, path, name string, tasks Tasks) (Project, error) {
	if !filepath.IsAbs(path) {
		return Project{}, refusal.New(refusal.BadInput, "the path is not absolute", "give the full path")
	}
	repo, err := p.git.Open(ctx, path)
	if err != nil {
		return Project{}, err
	}
	given := name != ""
	if !given {
		name = nameOf(repo.Root)
	}
	if err := ident.CheckName(name); err != nil {
		return Project{}, refusal.New(refusal.BadInput, err.Error(), "give the project another name").Because(err)
	}
	id, err := tasks.FormerProject(ctx, repo)
	if err != nil {
		return Project{}, fmt.Errorf("add project: look for its tasks: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.list {
		switch {
		case other.CommonDir == repo.CommonDir && (!given || other.Name == name):
			return other, nil
		case other.CommonDir == repo.CommonDir:
			return Project{}, refusal.New(refusal.Conflict, "this repository is project "+other.Name+" already", "use that one")
		case strings.EqualFold(other.Name, name):
			return Project{}, refusal.New(refusal.Conflict, "there is a project "+other.Name+" already", "give this one another name")
		}
	}
	if err := tasks.OutsideTasks(repo.Root, repo.CommonDir); err != nil {
		return Project{}, err
	}
	if id == "" || slices.ContainsFunc(p.list, func(q Project) bool { return q.ID == id }) {
		id = ident.NewProject()
	}
	project := Project{ID: id, Name: name, Root: repo.Root, CommonDir: repo.CommonDir, Added: time.Now().UTC()}
	list := append(slices.Clone(p.list), project)
	if err := file.Save(p.store, list); err != nil {
		return Project{}, fmt.Errorf("add project: %w", err)
	}
	p.list = list
	return project, nil
}

// nameOf makes a name out of a directory's: what a name may not hold becomes a hyphen.
func nameOf(root string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, filepath.Base(root))
	name = strings.Trim(name, "-._")
	if name == "" {
		return "project"
	}
	return name
}

// Change changes what new tasks of a project get, on disk first. Tasks that there are keep what they have.
func (p *Projects) Change(id ident.Project, change func(*Defaults) error) (Project, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.list)
	i := slices.IndexFunc(list, func(q Project) bool { return q.ID == id })
	if i < 0 {
		return Project{}, refusal.New(refusal.NotFound, "no such project", "see: termic project list")
	}
	if err := change(&list[i].Defaults); err != nil {
		return Project{}, err
	}
	if err := file.Save(p.store, list); err != nil {
		return Project{}, fmt.Errorf("change project: %w", err)
	}
	p.list = list
	return list[i], nil
}

// Remove forgets a project; nothing in the repository changes. unless is asked, with the list locked, whether
// anything still needs it.
func (p *Projects) Remove(id ident.Project, unless func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := unless(); err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(p.list), func(q Project) bool { return q.ID == id })
	if len(list) == len(p.list) {
		return refusal.New(refusal.NotFound, "no such project", "see: termic project list")
	}
	if err := file.Save(p.store, list); err != nil {
		return fmt.Errorf("remove project: %w", err)
	}
	p.list = list
	return nil
}
