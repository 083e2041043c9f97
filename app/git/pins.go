package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// pinPrefix is where the pins of one id live in the project. Each pin is named
// after the object that it keeps, so that none is ever moved or overwritten.
func pinPrefix(id string) string { return "refs/termic/" + id + "/keep/" }

// pinAll pins in the project everything that the checkout knows: HEAD, the branches and where they were, the base, tags
// of its commits, stashes, and whatever its private refs, reflogs and unfinished operations name. That another branch or
// a tag holds some of it too does not count: it can go at any time, and a reflog that comes back must lead somewhere.
func (r *Repo) pinAll(ctx context.Context, o ArchiveOptions, v view, state map[string][]byte, a *Archived) (err error) {
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
	known := idsIn(state, r.sha256)
	for _, name := range append([]string{v.head.branch}, o.Branches...) {
		known = append(known, r.reflogIDs(name)...)
	}
	if a.Tags, err = r.tagsOn(ctx, v, o.Base); err != nil {
		return err
	}
	for _, tag := range a.Tags {
		oid, err := r.readRef(ctx, "refs/tags/"+tag)
		if err != nil {
			return err
		}
		known = append(known, oid)
	}
	commits, tags, err := r.commitsAmong(ctx, append(known, o.Base))
	if err != nil {
		return err
	}
	pins = append(pins, tags...) // of a tag object, rev-list names only the commit
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
	tips, err := r.unreachableTips(ctx, commits, pins)
	if err != nil {
		return err
	}
	pins = append(pins, tips...)
	slices.Sort(pins)
	a.Pins = slices.Compact(pins)
	return r.pin(ctx, o.ID, a.Pins)
}

// reflogIDs returns the object ids that the reflog of a branch names; none when there is no branch or no reflog.
func (r *Repo) reflogIDs(branch string) []OID {
	if branch == "" {
		return nil
	}
	data, err := readSmall(filepath.Join(r.CommonDir, "logs", "refs", "heads", filepath.FromSlash(branch)), stateFile)
	if err != nil { // not every branch has one
		return nil
	}
	return idsIn(map[string][]byte{"": data}, r.sha256)
}

// commitsAmong returns those ids that are commits that exist, and those that are tag objects.
func (r *Repo) commitsAmong(ctx context.Context, ids []OID) (commits, tags []OID, err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(oid OID) bool { return !oid.Valid() })
	if len(ids) == 0 {
		return nil, nil, nil
	}
	var in strings.Builder
	for _, oid := range ids {
		in.WriteString(string(oid) + "\n")
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, stdin: strings.NewReader(in.String()), args: []string{
		"cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"}})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(out)) {
		switch oid, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); kind {
		case "commit":
			commits = append(commits, OID(oid))
		case "tag":
			tags = append(tags, OID(oid))
		}
	}
	return commits, tags, nil
}

// unreachableTips returns those of the commits that none of the pins reaches, without those that another of them
// reaches. No other ref counts: each goes without asking us.
func (r *Repo) unreachableTips(ctx context.Context, commits, pins []OID) ([]OID, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, oid := range commits {
		in.WriteString(string(oid) + "\n")
	}
	for _, oid := range pins {
		in.WriteString("^" + string(oid) + "\n")
	}
	out, err := r.git.run(ctx, call{gitDir: r.CommonDir, stdin: strings.NewReader(in.String()), timeout: archiveTimeout, args: []string{
		"rev-list", "--parents", "--stdin"}})
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
