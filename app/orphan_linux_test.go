package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// grantOf returns the id of the grant that a task holds; empty when it holds none.
func (b *built) grantOf(name string) string {
	b.t.Helper()
	for _, g := range b.must("grant_list", `{}`)["grants"].([]any) {
		if g := g.(map[string]any); g["task_name"] == name {
			return g["id"].(string)
		}
	}
	return ""
}

// TestAnArchiveMakesOrphansAndGivesThemToNobody: who descends from an archived task keeps its own grant, whoever is further
// up still sees it and acts on it, and to everybody else it is what it was: nothing that there is. Nothing re-parents: the
// restored task is its maker again.
func TestAnArchiveMakesOrphansAndGivesThemToNobody(t *testing.T) {
	b := newBuilt(t)
	b.lead("grand", "")
	b.lead("stranger", "")
	for _, made := range [][2]string{{"grand", "parent"}, {"grand", "aunt"}, {"parent", "orphan"}} {
		b.allowed(made[0], fmt.Sprintf(`task_new {"name":%q,"agent":"test"}`, made[1]))
		b.rig.wait(made[1])
	}
	grandparents := func(when string) {
		t.Helper()
		b.allowed("grand", `task_status {"task":"orphan"}`, `task_send {"task":"orphan","text":"say hello `+when+`"}`,
			`task_wait {"task":"orphan","timeoutMs":20000}`, `task_log {"task":"orphan"}`)
		for _, other := range []string{"stranger", "aunt"} {
			b.refusedInside(other, map[string]string{
				`task_status {"task":"orphan"}`: "not_found", `task_send {"task":"orphan","text":"say owned"}`: "not_found", `task_log {"task":"orphan"}`: "not_found",
			})
		}
	}
	grandparents("before")
	b.allowed("parent", `task_status {"task":"orphan"}`)
	before, parents := b.grantOf("orphan"), b.grantOf("parent")

	b.must("task_archive", `{"task":"parent","force":true}`)
	if after := b.grantOf("orphan"); after != before || after == "" {
		t.Errorf("the orphan's grant was %q, and is %q", before, after)
	}
	if left := b.grantOf("parent"); left != "" || parents == "" {
		t.Errorf("the archived task's grant was %q, and is %q", parents, left)
	}
	b.allowed("orphan", `task_status {}`, `task_new {"name":"late","agent":"test","mcp":false}`)
	grandparents("after")
	b.allowed("grand", `task_status {"task":"late"}`)
	b.refusedInside("aunt", map[string]string{`task_status {"task":"late"}`: "not_found"})

	b.must("task_restore", `{"task":"parent"}`)
	b.must("task_tab", `{"task":"parent","agent":"test"}`)
	b.rig.wait("parent")
	if again := b.grantOf("parent"); again == parents || again == "" {
		t.Errorf("the restored task's grant was %q, and is %q", parents, again)
	}
	b.allowed("parent", `task_status {"task":"orphan"}`, `task_status {"task":"late"}`)
	if after := b.grantOf("orphan"); after != before {
		t.Errorf("the orphan's grant was %q, and is %q", before, after)
	}
}

// TestARestoreMintsAnotherToken: what a task held before it was archived is no token any more, at either door, neither while
// it is archived nor afterwards; what it is given then is one.
func TestARestoreMintsAnotherToken(t *testing.T) {
	b := newBuilt(t)
	for mode, ask := range map[string]func(name, file, token string) string{
		"enforce":    func(name, file, _ string) string { return b.askInside(name, file) },
		"enforce-fs": func(_, _, token string) string { return fmt.Sprint(askAs(t, b.url, token, bearer(token))) },
	} {
		made := b.must("task_new", `{"name":%q,"project":"demo","agent":"shell","cage":%q,"mcp":true}`, mode, mode)["task"].(map[string]any)
		b.rig.wait(mode)
		token := func(file string) string {
			b.inside(mode, `printf %s "$TERMIC_MCP_TOKEN" > `+file)
			return readFile(t, filepath.Join(made["path"].(string), file))
		}
		old := token("old.txt")
		if got := ask(mode, "old.txt", old); !strings.Contains(got, "200") {
			t.Errorf("twin: %s: its token before: %q", mode, got)
		}
		b.must("task_archive", `{"task":%q,"force":true}`, mode)
		b.status(http.StatusUnauthorized, bearer(old))
		b.must("task_restore", `{"task":%q}`, mode)
		b.refused(refusal.AgentExited, "task_send", `{"task":%q,"text":"x"}`, mode)
		b.must("task_tab", `{"task":%q,"agent":"shell"}`, mode)
		b.rig.wait(mode)
		fresh := token("new.txt")
		if fresh == old || fresh == "" {
			t.Errorf("%s: the restored task has the token that it had", mode)
		}
		if got := ask(mode, "old.txt", old); !strings.Contains(got, "401") {
			t.Errorf("%s: the old token: %q", mode, got)
		}
		if got := ask(mode, "new.txt", fresh); !strings.Contains(got, "200") {
			t.Errorf("%s: the new token: %q", mode, got)
		}
	}
}
