//go:build unix

package gitview

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/app/git"
)

// object writes bytes as a loose object of the cage, whatever git thinks of them.
func (r *rig) object(kind, data string) git.OID { r.t.Helper(); return r.loose(r.private, kind, data) }

// projectObject writes bytes as an object of the project, where the cage can name it.
func (r *rig) projectObject(kind, data string) git.OID {
	r.t.Helper()
	return r.loose(filepath.Join(r.project, ".git"), kind, data)
}

func (r *rig) loose(gitDir, kind, data string) git.OID {
	r.t.Helper()
	text := fmt.Sprintf("%s %d\x00%s", kind, len(data), data)
	oid := fmt.Sprintf("%x", sha1.Sum([]byte(text)))
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write([]byte(text)) //nolint:errcheck // into memory
	w.Close()
	r.write(filepath.Join(gitDir, "objects", oid[:2], oid[2:]), packed.String())
	return git.OID(oid)
}

// line is one entry of a tree object.
func line(mode, name string, oid git.OID) string {
	raw, _ := hex.DecodeString(string(oid))
	return mode + " " + name + "\x00" + string(raw)
}

func (r *rig) treeOf(lines ...string) git.OID { return r.object("tree", strings.Join(lines, "")) }
func (r *rig) commitOf(tree git.OID) git.OID {
	return git.OID(r.cage("commit-tree", "-p", "HEAD", "-m", "x", string(tree)))
}

// packOf packs the named objects and nothing else.
func (r *rig) packOf(oids ...git.OID) []byte {
	r.t.Helper()
	var in strings.Builder
	for _, o := range oids {
		fmt.Fprintln(&in, o)
	}
	name := filepath.Join(r.top, "pack")
	out, err := r.run(r.task.Dir, r.cageEnv(), in.String(), "pack-objects", "-q", name)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(name + "-" + out + ".pack")
	must(r.t, err)
	return data
}

// bomb is a tree of so many levels, in each of which all entries are the same directory; and all its objects.
func (r *rig) bomb(levels, width int) (root git.OID, all []git.OID) {
	below, mode := r.object("blob", "x"), "100644"
	all = append(all, below)
	for range levels {
		var lines []string
		for i := range width {
			lines = append(lines, line(mode, fmt.Sprintf("f%d", i), below))
		}
		below, mode = r.treeOf(lines...), "40000"
		all = append(all, below)
	}
	return below, all
}

// bombed is a commit of a bomb, and its pack: pack-objects would have to walk it.
func bombed(levels, width int) func(r *rig) (git.OID, []byte) {
	return func(r *rig) (git.OID, []byte) {
		root, all := r.bomb(levels, width)
		tip := r.commitOf(root)
		return tip, r.packOf(append(all, tip)...)
	}
}

func TestHostileCommits(t *testing.T) {
	file := func(r *rig) git.OID { return r.object("blob", "x\n") }
	named := func(names ...string) func(r *rig) (git.OID, []byte) {
		return func(r *rig) (git.OID, []byte) {
			var lines []string
			for _, n := range names {
				lines = append(lines, line("100644", n, file(r)))
			}
			return r.commitOf(r.treeOf(lines...)), nil
		}
	}
	modules := func(text string) func(r *rig) (git.OID, []byte) {
		return func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("100644", ".gitmodules", r.object("blob", text)))), nil
		}
	}
	raw := func(format string) func(r *rig) (git.OID, []byte) {
		return func(r *rig) (git.OID, []byte) {
			return r.object("commit", fmt.Sprintf(format, r.treeOf(line("100644", "x", file(r))))), nil
		}
	}
	r := newRig(t) // one for all rows: nothing moves in it
	who := "A <a@example.org> 1700000000 +0000"
	for name, c := range map[string]struct {
		make func(r *rig) (tip git.OID, pack []byte) // pack nil: what the claim packs to
		rule Rule                                    // of the refusal; "" when it is taken
		note Rule
	}{
		"a plain file":             {named("x"), "", ""},
		"a plain commit":           {raw("tree %s\nauthor " + who + "\ncommitter " + who + "\n\nx\n"), "", ""},
		".git":                     {named(".git"), RulePack, ""},
		".GiT":                     {named(".GiT"), RulePack, ""},
		"git~1":                    {named("git~1"), RulePack, ""},
		".git with a joiner":       {named(".g\u200cit"), RulePack, ""},
		"..":                       {named(".."), RulePack, ""},
		"a slash":                  {named("a/b"), RulePack, ""},
		"a name twice":             {named("a", "a"), RulePack, ""},
		"names out of order":       {named("b", "a"), RulePack, ""},
		"names that fold together": {named("A", "a"), "", NoteCaseClash},
		"a control character":      {named("a\x1b[2J"), "", NoteName},
		"a name for terminals":     {named("a\u202eb"), "", NoteName},
		"an ordinary .gitmodules":  {modules("[submodule \"s\"]\n\tpath = s\n\turl = https://example.org/s\n"), "", NoteModules},
		"a .gitmodules with ext":   {modules("[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c x\n"), "", NoteModulesURL},
		"a module's name climbs":   {modules("[submodule \"../../x\"]\n\tpath = s\n\turl = https://example.org/s\n"), RulePack, ""},
		"a module's url option":    {modules("[submodule \"s\"]\n\tpath = s\n\turl = -u./x\n"), RulePack, ""},
		"a module's path option":   {modules("[submodule \"s\"]\n\tpath = -x\n\turl = https://example.org/s\n"), RulePack, ""},
		"a .gitmodules of 2 MB":    {modules(strings.Repeat("# nothing\n", 200_000)), RuleSize, ""},
		".gitmodules is a link": {func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("120000", ".gitmodules", file(r)))), nil
		}, RulePack, ""},
		".gitattributes is a link": {func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("120000", ".gitattributes", file(r)))), nil
		}, "", NoteLinkedFile},
		"a bad mode": {func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("100666", "x", file(r)))), nil
		}, "", NoteMode},
		"a gitlink": {func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("160000", "sub", r.cageOID("HEAD")))), nil
		}, RuleGitlink, ""},
		"a gitlink in a directory": {func(r *rig) (git.OID, []byte) {
			return r.commitOf(r.treeOf(line("40000", "d", r.treeOf(line("160000", "sub", r.cageOID("HEAD")))))), nil
		}, RuleGitlink, ""},
		"a gitlink in a commit before the tip": {func(r *rig) (git.OID, []byte) {
			first := r.commitOf(r.treeOf(line("160000", "sub", r.cageOID("HEAD"))))
			return git.OID(r.cage("commit-tree", "-p", string(first), "-m", "x", "HEAD^{tree}")), nil
		}, RuleGitlink, ""},
		"a bad committer": {raw("tree %s\nauthor " + who + "\ncommitter nobody\n\nx\n"), RulePack, ""},
		"NUL in a commit": {raw("tree %s\nauthor " + who + "\ncommitter " + who + "\n\nx\x00y\n"), RulePack, ""},
		"a tree bomb":     {bombed(11, 10), RuleEntries, ""},
		"a bomb of gitlinks": {func(r *rig) (git.OID, []byte) {
			below := r.treeOf(line("160000", "sub", r.cageOID("HEAD")))
			for range 11 {
				var lines []string
				for i := range 10 {
					lines = append(lines, line("40000", fmt.Sprint(i), below))
				}
				below = r.treeOf(lines...)
			}
			return r.commitOf(below), nil
		}, RuleEntries, ""},
		"600 directories below each other": {bombed(600, 1), RuleDepth, ""},
		"500 directories below each other": {bombed(500, 1), "", ""},
		"a missing blob": {func(r *rig) (git.OID, []byte) {
			tree := r.treeOf(line("100644", "x", r.object("blob", "missing\n")))
			tip := r.commitOf(tree)
			return tip, r.packOf(tip, tree)
		}, RulePack, ""},
		"a missing directory": {func(r *rig) (git.OID, []byte) {
			tip := r.commitOf(r.treeOf(line("100644", "only here", file(r))))
			return tip, r.packOf(tip)
		}, RulePack, ""},
		"a missing parent": {func(r *rig) (git.OID, []byte) {
			parent := r.commitOf(r.treeOf(line("100644", "y", file(r))))
			tip := git.OID(r.cage("commit-tree", "-p", string(parent), "-m", "x", "HEAD^{tree}"))
			return tip, r.packOf(tip)
		}, RulePack, ""},
		"a commit of the project whose directory is gone": {func(r *rig) (git.OID, []byte) {
			return r.projectObject("commit", "tree "+strings.Repeat("a", 40)+"\nauthor "+who+"\ncommitter "+who+"\n\nx\n"), r.packOf()
		}, RuleMissing, ""},
		"a commit of the project whose file is gone": {func(r *rig) (git.OID, []byte) {
			tree := r.projectObject("tree", line("100644", "x", git.OID(strings.Repeat("b", 40))))
			return r.projectObject("commit", "tree "+string(tree)+"\nauthor "+who+"\ncommitter "+who+"\n\nx\n"), r.packOf()
		}, RuleMissing, ""},
		"a whole commit that the project has": {func(r *rig) (git.OID, []byte) {
			return git.OID(r.host("commit-tree", "-m", "x", "HEAD^{tree}")), r.packOf()
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tip, pack := c.make(r)
			if pack == nil {
				pack = r.packed(Claim{Tip: tip})
			}
			before := r.host("for-each-ref")
			start := time.Now()
			got, err := r.task.Import(t.Context(), bytes.NewReader(pack), Claim{Keep: []git.OID{tip}}, Limits{})
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
			var refused *RefusedError
			switch {
			case c.rule == "" && err != nil:
				t.Fatal(err)
			case c.rule != "" && (!errors.As(err, &refused) || refused.Rule != c.rule):
				t.Fatalf("%v, want a refusal for %s", err, c.rule)
			case c.rule != "" && r.host("for-each-ref") != before:
				t.Error("a refused import changed refs")
			}
			if c.note != "" {
				for _, n := range got.Notes {
					if n.Rule == c.note {
						return
					}
				}
				t.Errorf("notes %v, want %s", got.Notes, c.note)
			}
		})
	}
}

func TestLimitsOfImports(t *testing.T) {
	r := newRig(t)
	r.commit("x/a", "1\n")
	r.commit("x/b", "2\n")
	tip := r.commit("x/y/c", strings.Repeat("3\n", 1000))
	claim := Claim{Tip: tip}
	pack := r.packed(claim)
	for name, c := range map[string]struct {
		lim  Limits
		rule Rule
	}{
		"two commits of three":      {Limits{Commits: 2}, RuleCommits},
		"too few directories":       {Limits{Trees: 3}, RuleTrees},
		"too little depth":          {Limits{Depth: 2}, RuleDepth},
		"too few bytes":             {Limits{Pack: int64(len(pack)) - 1}, RuleSize},
		"too little memory at once": {Limits{Object: 1000}, RulePack},
	} {
		_, err := r.task.Import(t.Context(), bytes.NewReader(pack), claim, c.lim)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Rule != c.rule {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Ten times the base may always come in: five entries are there.
	if got, err := r.task.Import(t.Context(), bytes.NewReader(pack), claim, Limits{Commits: 3, Depth: 3, Entries: 1, Pack: int64(len(pack)) + 4096}); err != nil || got.Outcome != Moved {
		t.Errorf("just enough: %+v, %v", got, err)
	}
}

func TestGitlinksThatThePersonAgreedTo(t *testing.T) {
	r := newRig(t)
	link := line("160000", "sub", r.cageOID("HEAD"))
	tip := r.commitOf(r.treeOf(link))
	claim := Claim{Tip: tip}
	got, err := r.task.Import(t.Context(), bytes.NewReader(r.packed(claim)), claim, Limits{Gitlinks: true})
	if err != nil || got.Outcome != Moved {
		t.Fatalf("%+v, %v", got, err)
	}
	again := r.commitOf(r.treeOf(line("100644", "a", r.object("blob", "a")), link)) // known now, at that path
	if got := r.importTip(again); got.Commits != 1 {
		t.Errorf("%+v", got)
	}
	moved := Claim{Tip: r.commitOf(r.treeOf(line("40000", "e", r.treeOf(link))))}
	_, err = r.task.Import(t.Context(), bytes.NewReader(r.packed(moved)), moved, Limits{})
	if !errors.Is(err, ErrRefused) {
		t.Errorf("the same directory at another path: %v", err)
	}
}
