package agentstate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/agentstate"
	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
)

// TestHostileState: whatever a cage leaves in its state, the next start works, nothing outside is read or changed, and
// what was really kept is kept. Each row plants something in the running agent's place and names what must be there
// after the restart.
func TestHostileState(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	tests := []struct{ name, agent, plant, then string }{
		{"transcripts replaced by a link to outside", "claude", "rm -rf $D/projects; ln -s $OUTSIDE $D/projects", "gone $D/projects"},
		{"transcripts replaced by a link to the login", "codex", "rm -rf $D/sessions; ln -s ../codex-login $D/sessions", "gone $D/sessions"},
		{"transcripts that are a pipe", "codex", "rm -rf $D/sessions; mkfifo $D/sessions", "gone $D/sessions"},
		{"a database that is a link", "opencode", "ln -s $OUTSIDE/notes ~/.local/share/opencode/opencode.db", "gone ~/.local/share/opencode/opencode.db"},
		{"a database that is a pipe, beside a real one", "opencode", "cd ~/.local/share/opencode; mkfifo opencode.db-shm; echo real > opencode.db",
			"cd ~/.local/share/opencode && gone opencode.db-shm && grep real opencode.db"},
		{"chats replaced by a link", "gemini", "rm -rf $D/.gemini/tmp; ln -s $OUTSIDE $D/.gemini/tmp", "gone $D/.gemini/tmp"},
		{"directories that nobody may enter", "claude", "mkdir -p $D/a/b $D/projects/p; echo kept > $D/projects/p/1.jsonl; chmod 0 $D/a/b $D/a", "gone $D/a && grep kept $D/projects/p/1.jsonl"},
		{"a path longer than the system takes", "claude", "n=$(printf 'd%.0s' $(seq 250)); l=$(printf \"$n/%.0s\" $(seq 12)); mkdir -p $D/deep/$l; cd $D/deep/$l; mkdir -p $l", "gone $D/deep"},
		{"names that are patterns", "claude", "mkdir -p $D/projects/'*' $D/'pro*'; echo kept > $D/projects/'*'/1.jsonl", "grep kept $D/projects/'*'/1.jsonl && gone $D/'pro*'"},
		{"a file of 20 GB that is not there", "claude", "mkdir -p $D/projects/p; truncate -s 20G $D/projects/p/1.jsonl", "test $(stat -c %s $D/projects/p/1.jsonl) = 21474836480"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			outside := stamps(t, r.Outside)
			task := r.task(t, tt.agent)
			for round := range 2 {
				plan := r.prepare(t, task)
				set := "OUTSIDE=" + r.Outside + "; D=" + ownAt(plan, tt.agent+"/state").Path + "; "
				cage := r.cage(t, plan)
				if round == 1 {
					r.sh(t, cage, plan, set+`gone() { [ ! -e "$1" ] && [ ! -L "$1" ]; }; `+tt.then)
				} else {
					r.sh(t, cage, plan, set+tt.plant)
				}
				r.end(t, cage, task)
			}
			if got := stamps(t, r.Outside); strings.Join(got, " ") != strings.Join(outside, " ") {
				t.Errorf("outside changed:\n%v\n%v", outside, got)
			}
			if err := r.keeper.Remove(task.ID); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(filepath.Join(r.state, string(task.ID))); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after its removal there is something of the task: %v", err)
			}
		})
	}
}

// TestTwoStarts: one task has one cage. A second start is refused, in this program and in another, until the end of the
// first; other tasks are not kept from theirs.
func TestTwoStarts(t *testing.T) {
	r := newRig(t)
	task := r.task(t, "claude")
	r.prepare(t, task)
	if _, err := r.keeper.Prepare(t.Context(), task); !errors.Is(err, agentstate.ErrInUse) {
		t.Errorf("a second start: %v", err)
	}
	first := r.keeper
	r.open(t) // as another program would
	if _, err := r.keeper.Prepare(t.Context(), task); !errors.Is(err, agentstate.ErrInUse) {
		t.Errorf("a second start in another program: %v", err)
	}
	for what, do := range map[string]error{"archived": r.keeper.Archive(task.ID), "removed": r.keeper.Remove(task.ID)} {
		if !errors.Is(do, agentstate.ErrInUse) {
			t.Errorf("%s while it runs: %v", what, do)
		}
	}
	r.prepare(t, r.task(t, "claude"))
	if err := first.Release(task.ID); err != nil {
		t.Fatal(err)
	}
	r.prepare(t, task)
}

// TestWider: instructions that an agent kept are there in a cage that may touch no more, and gone in one that may.
func TestWider(t *testing.T) {
	reads := func(paths ...string) capability.Set {
		list, err := capability.PathsOf(paths...)
		if err != nil {
			t.Fatal(err)
		}
		return capability.Set{Read: list}
	}
	tests := []struct {
		name   string
		limits []capability.Set // of one start after the other
		kept   bool             // at the last one, of what was written in the first
	}{
		{"the same", []capability.Set{reads("/srv/a"), reads("/srv/a")}, true},
		{"narrower", []capability.Set{reads("/srv/a"), {}}, true},
		{"wider", []capability.Set{{}, reads("/srv/a")}, false},
		{"other", []capability.Set{reads("/srv/a"), reads("/srv/b")}, false},
		{"narrower, and back", []capability.Set{reads("/srv/a"), {}, reads("/srv/a")}, false},
	}
	for agent, written := range map[string]struct{ instructions, transcript string }{
		"claude":   {"projects/-x/memory/MEMORY.md", "projects/-x/1.jsonl"},
		"gemini":   {".gemini/history/x/config", ".gemini/tmp/x/chats/1.jsonl"},
		"opencode": {"data/snapshot/x/config", "data/opencode.db"},
	} {
		for _, tt := range tests {
			t.Run(agent+": "+tt.name, func(t *testing.T) {
				r := newRig(t)
				task := r.task(t, agent)
				state := filepath.Join(r.state, string(task.ID), agent, "state")
				for i, limit := range tt.limits {
					task.Limit = limit
					r.prepare(t, task)
					if i == 0 {
						writeFile(t, filepath.Join(state, written.instructions), "do", 0o600)
						writeFile(t, filepath.Join(state, written.transcript), "said", 0o600)
					}
					if err := r.keeper.Release(task.ID); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := os.Lstat(filepath.Join(state, written.instructions)); (err == nil) != tt.kept {
					t.Errorf("instructions: %v, want kept %v", err, tt.kept)
				}
				if _, err := os.Lstat(filepath.Join(state, written.transcript)); err != nil {
					t.Errorf("transcript: %v", err)
				}
			})
		}
	}
}

// TestArchive keeps transcripts, and the next start has them.
func TestArchive(t *testing.T) {
	r := newRig(t)
	task := r.task(t, "claude", "opencode")
	r.prepare(t, task)
	dir := filepath.Join(r.state, string(task.ID))
	transcript := writeFile(t, filepath.Join(dir, "claude/state/projects/-x/1.jsonl"), "said", 0o600)
	planted := writeFile(t, filepath.Join(dir, "claude/state/skills/s.md"), "do", 0o600)
	if err := r.keeper.Release(task.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds nothing to do
		if err := r.keeper.Archive(task.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, gone := range []string{planted, transcript, filepath.Join(dir, "cache")} {
		if _, err := os.Lstat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	r.prepare(t, task)
	if _, err := os.Lstat(transcript); err != nil {
		t.Errorf("restored: %v", err)
	}
	if _, err := os.Lstat(planted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("restored: %v", err)
	}
	if err := r.keeper.Archive(r.task(t).ID); err != nil {
		t.Errorf("a task that never had a cage: %v", err)
	}
}
