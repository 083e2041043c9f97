package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// OID is an object id: 40 or 64 lower-case hexadecimal digits. The zero value
// names no object.
type OID string

var oidRE = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Valid reports whether o has the form of an object id and is not all zeros.
func (o OID) Valid() bool {
	return oidRE.MatchString(string(o)) && strings.Trim(string(o), "0") != ""
}

// Branch is a local branch and the commit that it points at.
type Branch struct {
	Name string
	OID  OID
}

// none is git's word for "the ref must not exist": as many zeros as an id has digits.
func (r *Repo) none() string {
	if r.sha256 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// maxRef is longer than any ref that a file system takes (255 bytes a
// component) in practice, and bounds what we hand to git.
const maxRef = 1024

// checkRevision refuses text that must not reach git as a revision. An open brace
// would swallow the "^{commit}" that we append.
func checkRevision(ref string) error {
	if strings.Count(ref, "{") != strings.Count(ref, "}") || ref == "" || len(ref) > maxRef || ref[0] == '-' || !utf8.ValidString(ref) || strings.ContainsFunc(ref, isControl) {
		return fmt.Errorf("%q: %w", clip(ref, 80), ErrBadRef)
	}
	return nil
}

func isControl(c rune) bool { return c < 0x20 || c == 0x7f || (0x80 <= c && c < 0xa0) }

// Resolve returns the commit that ref (a branch, tag, id or revision
// expression) stands for. It returns ErrBadRef for text that is no ref and
// ErrRefNotFound when it names no commit.
func (r *Repo) Resolve(ctx context.Context, ref string) (OID, error) {
	if err := checkRevision(ref); err != nil {
		return "", err
	}
	out, err := r.git.run(ctx, call{at: r.Root, limit: 4 << 10, args: []string{
		"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}})
	if err != nil {
		if code := exitCode(err); code == 1 || code == 128 && stderrHas(err, "Needed a single revision", "unknown revision", "not a valid object name", "bad revision", "Not a valid object name", "ambiguous") {
			return "", fmt.Errorf("%q: %w", ref, ErrRefNotFound)
		}
		return "", fmt.Errorf("resolve %q: %w", ref, err)
	}
	oid := OID(strings.TrimSuffix(string(out), "\n"))
	if !oid.Valid() {
		return "", fmt.Errorf("%q: %w", ref, ErrRefNotFound)
	}
	return oid, nil
}

// readRef returns what the full ref name points at, and "" when it does not exist.
func (r *Repo) readRef(ctx context.Context, name string) (OID, error) {
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--format=%(refname) %(objectname)", name}})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for line := range strings.Lines(string(out)) { // a prefix matches too: look for the name itself
		if ref, oid, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && ref == name {
			return OID(oid), nil
		}
	}
	return "", nil
}

// branches returns every local branch, in git's order.
func (r *Repo) branches(ctx context.Context) ([]Branch, error) {
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"}})
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	var list []Branch
	for line := range strings.Lines(string(out)) {
		ref, oid, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return nil, fmt.Errorf("list branches: unexpected line %q", clip(line, 80))
		}
		list = append(list, Branch{Name: strings.TrimPrefix(ref, "refs/heads/"), OID: OID(oid)})
	}
	return list, nil
}

// BranchExists reports whether the local branch exists.
func (r *Repo) BranchExists(ctx context.Context, name string) (bool, error) {
	if err := r.git.CheckBranchName(ctx, name); err != nil {
		return false, err
	}
	oid, err := r.readRef(ctx, "refs/heads/"+name)
	return oid != "", err
}

// CheckBranchName returns ErrBadRef and ErrBadBranch, with git's rules behind it, unless name
// can be a branch. "HEAD", "@" and names that git would expand ("@{-1}") cannot.
func (g *Git) CheckBranchName(ctx context.Context, name string) error {
	bad := fmt.Errorf("branch %q: %w: %w", clip(name, 80), ErrBadBranch, ErrBadRef)
	if checkRevision(name) != nil || name == "HEAD" || name == "@" || strings.HasPrefix(name, "refs/") {
		return bad
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 200 { // the file is <part>.lock for a moment; 255 bytes is the limit of file systems
			return bad
		}
	}
	_, err := g.run(ctx, call{args: []string{"check-ref-format", "refs/heads/" + name}, limit: 4 << 10})
	if err != nil && exitCode(err) == 1 {
		return bad
	}
	return err
}

// checkFree returns ErrBranchExists or ErrBranchConflict unless name can be
// created: "a" and "a/b" exclude each other, and names that differ only in case
// or Unicode form would be one file where file systems fold (macOS), so they
// are refused everywhere: branches travel.
func (r *Repo) checkFree(ctx context.Context, name string) error {
	list, err := r.branches(ctx)
	if err != nil {
		return err
	}
	folded := foldName(name)
	for _, b := range list {
		if b.Name == name {
			return fmt.Errorf("branch %q: %w", name, ErrBranchExists)
		}
		other := foldName(b.Name)
		if other == folded || strings.HasPrefix(other, folded+"/") || strings.HasPrefix(folded, other+"/") {
			return &BranchConflictError{Name: name, Other: b.Name}
		}
	}
	return nil
}

func foldName(s string) string { return norm.NFC.String(cases.Fold().String(s)) }

// DefaultBranch returns the branch that new work starts from. In this order:
// the local branch of the name that origin/HEAD points at; the local branch
// that init.defaultBranch names; main; master; the branch that is checked out
// in the main worktree; else its detached HEAD, with an empty Name.
func (r *Repo) DefaultBranch(ctx context.Context) (Branch, error) {
	list, err := r.branches(ctx)
	if err != nil {
		return Branch{}, err
	}
	byName := map[string]Branch{}
	for _, b := range list {
		byName[b.Name] = b
	}
	var names []string
	origin, err := r.git.run(ctx, call{at: r.Root, limit: 4 << 10, args: []string{"symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"}})
	if err != nil && exitCode(err) != 1 {
		return Branch{}, fmt.Errorf("read origin/HEAD: %w", err)
	}
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(origin)), "refs/remotes/origin/"); ok {
		names = append(names, name)
	}
	configured, err := r.git.run(ctx, call{at: r.Root, limit: 4 << 10, args: []string{"config", "--get", "init.defaultBranch"}})
	if err != nil && exitCode(err) != 1 {
		return Branch{}, fmt.Errorf("read init.defaultBranch: %w", err)
	}
	names = append(names, strings.TrimSuffix(string(configured), "\n"), "main", "master")
	current, err := r.git.run(ctx, call{at: r.Root, limit: 4 << 10, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil && exitCode(err) != 1 {
		return Branch{}, fmt.Errorf("read HEAD: %w", err)
	}
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(current)), "refs/heads/"); ok {
		names = append(names, name)
	}
	for _, n := range names {
		if b, ok := byName[n]; ok && n != "" {
			return b, nil
		}
	}
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return Branch{}, fmt.Errorf("default branch: %w", err)
	}
	return Branch{OID: head}, nil
}

// SetRef points the full ref name at oid. With an empty old the ref must not
// exist, otherwise it must be at old; else ErrRefMoved and nothing is changed.
func (r *Repo) SetRef(ctx context.Context, name string, oid, old OID) error {
	was := string(old)
	if was == "" {
		was = r.none()
	}
	return r.updateRef(ctx, name, string(oid), was)
}

// DeleteRef deletes the full ref name if it is at old, else ErrRefMoved. A ref
// that does not exist has moved.
func (r *Repo) DeleteRef(ctx context.Context, name string, old OID) error {
	if !old.Valid() {
		return fmt.Errorf("delete %s: %w", name, ErrRefMoved)
	}
	return r.updateRef(ctx, name, "", string(old))
}

// DeleteBranch deletes the branch if it is at ifAt, else ErrRefMoved. It returns
// ErrBranchInUse while a worktree has it checked out.
func (r *Repo) DeleteBranch(ctx context.Context, name string, ifAt OID) error {
	if err := r.git.CheckBranchName(ctx, name); err != nil {
		return err
	}
	unlock, err := repoLocks.lock(ctx, r.CommonDir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.checkUnused(ctx, name); err != nil {
		return err
	}
	return r.DeleteRef(ctx, "refs/heads/"+name, ifAt)
}

// checkUnused returns ErrBranchInUse when a worktree has the branch checked out.
func (r *Repo) checkUnused(ctx context.Context, name string) error {
	list, err := r.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.Branch == name {
			return fmt.Errorf("branch %q, at %s: %w", name, w.Dir, ErrBranchInUse)
		}
	}
	return nil
}

// RenameBranch renames a branch with its configuration and reflog; worktrees
// that have it checked out follow. The new name must be free (ErrBranchExists,
// ErrBranchConflict); an old one that does not exist is ErrRefNotFound.
func (r *Repo) RenameBranch(ctx context.Context, old, name string) error {
	for _, n := range []string{old, name} {
		if err := r.git.CheckBranchName(ctx, n); err != nil {
			return err
		}
	}
	unlock, err := repoLocks.lock(ctx, r.CommonDir)
	if err != nil {
		return err
	}
	defer unlock()
	if oid, err := r.readRef(ctx, "refs/heads/"+old); err != nil {
		return err
	} else if oid == "" {
		return fmt.Errorf("branch %q: %w", old, ErrRefNotFound)
	}
	if err := r.checkFree(ctx, name); err != nil {
		return err
	}
	err = r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, config: refTimeouts, args: []string{"branch", "-m", "--end-of-options", old, name}})
		return err
	})
	if err != nil {
		return fmt.Errorf("rename branch %q to %q: %w", old, name, err)
	}
	return nil
}

// refTimeouts lets git itself wait for the ref locks of other gits (ms).
var refTimeouts = []string{"core.filesRefLockTimeout=2000", "core.packedRefsTimeout=5000"}

// updateRef runs one compare-and-swap; an empty oid deletes.
func (r *Repo) updateRef(ctx context.Context, name, oid, old string) error {
	if err := checkFullRef(name); err != nil {
		return err
	}
	args := []string{"update-ref", "--no-deref"}
	if oid == "" {
		args = append(args, "-d", "--end-of-options", name, old)
	} else {
		args = append(args, "--end-of-options", name, oid, old)
	}
	err := r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, config: refTimeouts, args: args})
		return err
	})
	if err != nil {
		return fmt.Errorf("update %s: %w", name, refError(err))
	}
	return nil
}

// checkFullRef takes refs/… only; git checks the rest of the rules.
func checkFullRef(name string) error {
	if checkRevision(name) != nil || !strings.HasPrefix(name, "refs/") {
		return fmt.Errorf("ref %q: %w", clip(name, 80), ErrBadRef)
	}
	return nil
}

// refError names the reasons for which update-ref refuses.
func refError(err error) error {
	kind := error(nil)
	switch {
	case stderrHas(err, "reference already exists"):
		kind = ErrRefMoved
	case stderrHas(err, "but expected", "unable to resolve reference", "reference is missing"):
		kind = ErrRefMoved
	case stderrHas(err, "exists; cannot create", "cannot process"):
		kind = ErrBranchConflict
	case stderrHas(err, "refusing to update ref with bad name", "invalid ref format", "bad name"):
		kind = ErrBadRef
	default:
		return err
	}
	return errors.Join(kind, err)
}
