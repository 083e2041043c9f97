package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// pinPrefix is where the pins of one id live in the project. Each pin is named
// after the object that it keeps, so that none is ever moved or overwritten.
func pinPrefix(id string) string { return "refs/termic/" + id + "/keep/" }

// pinAll pins in the project whatever would be lost with the checkout: HEAD, the
// branches, and the commits that only its private refs, reflogs and unfinished
// operations reach.
func (r *Repo) pinAll(ctx context.Context, o ArchiveOptions, v view, state map[string][]byte, a *Archived) error {
	var pins []OID
	if v.head.oid != "" {
		pins = append(pins, v.head.oid)
	}
	for _, name := range o.Branches {
		oid, err := r.readRef(ctx, "refs/heads/"+name)
		if err != nil {
			return err
		}
		if oid != "" {
			if a.Branches == nil {
				a.Branches = map[string]OID{}
			}
			a.Branches[name] = oid
			pins = append(pins, oid)
		}
	}
	commits, err := r.commitsAmong(ctx, idsIn(state, r.sha256))
	if err != nil {
		return err
	}
	for _, branch := range append([]string{v.head.branch}, o.Branches...) {
		stashes, err := r.stashes(ctx, branch)
		if err != nil {
			return err
		}
		for _, s := range stashes { // a stash that is dropped later is still in the archive
			pins = append(pins, s.oid)
			if len(a.Stashes) < maxListed && !slices.Contains(a.Stashes, s.message) {
				a.Stashes = append(a.Stashes, s.message)
			}
		}
	}
	if a.Tags, err = r.tagsOn(ctx, v, o.Base); err != nil {
		return err
	}
	tips, err := r.unreachableTips(ctx, o.ID, append(commits, pins...))
	if err != nil {
		return err
	}
	pins = append(pins, tips...)
	slices.Sort(pins)
	a.Pins = slices.Compact(pins)
	return r.pin(ctx, o.ID, a.Pins)
}

// commitsAmong returns those ids that are commits, or tags, that exist.
func (r *Repo) commitsAmong(ctx context.Context, ids []OID) ([]OID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, oid := range ids {
		in.WriteString(string(oid) + "\n")
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, stdin: strings.NewReader(in.String()), args: []string{
		"cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"}})
	if err != nil {
		return nil, err
	}
	var found []OID
	for line := range strings.Lines(string(out)) {
		oid, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if kind == "commit" || kind == "tag" {
			found = append(found, OID(oid))
		}
	}
	return found, nil
}

// unreachableTips returns those of the commits that no branch, tag or pin of id
// reaches, without those that another of them reaches. Remote-tracking refs,
// stashes and other ids' pins do not count: they go without asking us.
func (r *Repo) unreachableTips(ctx context.Context, id string, commits []OID) ([]OID, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, oid := range commits {
		in.WriteString(string(oid) + "\n")
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, stdin: strings.NewReader(in.String()), timeout: archiveTimeout, args: []string{
		"rev-list", "--parents", "--stdin", "--not", "--branches", "--tags", "--glob=" + pinPrefix(id)}})
	if err != nil {
		return nil, err
	}
	var order []OID
	isParent := map[OID]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		order = append(order, OID(f[0]))
		for _, p := range f[1:] {
			isParent[OID(p)] = true
		}
	}
	return slices.DeleteFunc(order, func(oid OID) bool { return isParent[oid] }), nil
}

// pin creates the pins in one transaction; one that exists already must be right.
func (r *Repo) pin(ctx context.Context, id string, pins []OID) error {
	have, err := r.pins(ctx, id)
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, oid := range pins {
		if !slices.Contains(have, oid) {
			fmt.Fprintf(&in, "create %s%s\x00%s\x00", pinPrefix(id), oid, oid)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	err = r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, config: append([]string{"core.fsync=all"}, refTimeouts...),
			args: []string{"update-ref", "--no-deref", "-z", "--stdin"}, stdin: strings.NewReader(in.String())})
		return err
	})
	if err != nil {
		return fmt.Errorf("pin commits of %s: %w", id, refError(err))
	}
	return nil
}

// pins returns what is pinned for id. A pin that does not name its own object
// was made by somebody else and is not counted.
func (r *Repo) pins(ctx context.Context, id string) ([]OID, error) {
	prefix := pinPrefix(id)
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--format=%(refname) %(objectname)", prefix}})
	if err != nil {
		return nil, fmt.Errorf("list pins of %s: %w", id, err)
	}
	var pins []OID
	for line := range strings.Lines(string(out)) {
		ref, oid, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ref == prefix+oid {
			pins = append(pins, OID(oid))
		}
	}
	return pins, nil
}

// DropPins deletes every ref below refs/termic/<id>/ of the project. What only
// they kept is lost when git next collects garbage: call it when the person
// deletes the task for good.
func (r *Repo) DropPins(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--format=%(refname) %(objectname)", "refs/termic/" + id + "/"}})
	if err != nil {
		return fmt.Errorf("list refs of %s: %w", id, err)
	}
	for line := range strings.Lines(string(out)) {
		ref, oid, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := r.DeleteRef(ctx, ref, OID(oid)); err != nil {
			return err
		}
	}
	return nil
}
