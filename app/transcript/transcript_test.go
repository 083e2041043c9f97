//go:build unix

package transcript

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"termic/app/safefile"
)

const session = "6f1a2b3c-0000-4000-8000-000000000001"

func hold(t *testing.T, files map[string]string) (*safefile.Dir, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := safefile.Hold(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir, root
}

const (
	claudeFile = "projects/-home-x/" + session + ".jsonl"
	claudeText = `{"type":"user","message":{"content":"hi"}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"first"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"one"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","name":"Bash"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"two \u001b[2J"}]}}
{"type":"assistant","isSidechain":true,"message":{"id":"m3","content":[{"type":"text","text":"of a sub-agent"}]}}
not json
`
)

func TestLastMessage(t *testing.T) {
	for name, row := range map[string]struct {
		kind  string
		files map[string]string
		want  string
		err   error
	}{
		"claude, in pieces":       {Claude, map[string]string{claudeFile: claudeText}, "one\ntwo \x1b[2J", nil},
		"claude, the last line":   {Claude, map[string]string{claudeFile: `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`}, "x", nil},
		"claude, nothing said":    {Claude, map[string]string{claudeFile: `{"type":"user"}`}, "", ErrNone},
		"claude, another session": {Claude, map[string]string{"projects/a/other.jsonl": claudeText}, "", ErrNone},
		"claude, no state":        {Claude, nil, "", ErrNone},
		"codex": {Codex, map[string]string{"sessions/2026/11/29/rollout-2026-11-29T10-00-00-" + session + ".jsonl": `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"END1."}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"END2."}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}`}, "END2.", nil},
		"gemini": {Gemini, map[string]string{"tmp/p/chats/session-2026-11-29T10-00-" + session[:8] + ".jsonl": `{"type":"user","content":"q"}
{"type":"gemini","content":[{"text":"a"},{"text":"b"}]}
{"$set":{"x":1}}`}, "ab", nil},
		"an agent of which nothing is known": {"aider", nil, "", ErrKind},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := hold(t, row.files)
			got, err := Last(t.Context(), dir, row.kind, session)
			if got != row.want || !errors.Is(err, row.err) || (err == nil) != (row.err == nil) {
				t.Errorf("%q, %v; want %q, %v", got, err, row.want, row.err)
			}
		})
	}
}

// TestHostileTranscripts: an agent in a cage may put anything where its transcript would be. The twin is the plain file.
func TestHostileTranscripts(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.jsonl")
	if err := os.WriteFile(secret, []byte(claudeText), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(root string) error{
		"a link to a file outside": func(root string) error { return os.Symlink(secret, filepath.Join(root, claudeFile)) },
		"a FIFO":                   func(root string) error { return syscall.Mkfifo(filepath.Join(root, claudeFile), 0o600) },
		"a directory":              func(root string) error { return os.Mkdir(filepath.Join(root, claudeFile), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, root := hold(t, map[string]string{"projects/-home-x/other": ""})
			if err := put(root); err != nil {
				t.Fatal(err)
			}
			if got, err := Last(t.Context(), dir, Claude, session); !errors.Is(err, ErrNone) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	t.Run("a link in the place of its directory", func(t *testing.T) {
		dir, root := hold(t, nil)
		other := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(other, "-home-x"), 0o700), os.WriteFile(filepath.Join(other, "-home-x", session+".jsonl"), []byte(claudeText), 0o600), os.Symlink(other, filepath.Join(root, "projects"))); err != nil {
			t.Fatal(err)
		}
		if got, err := Last(t.Context(), dir, Claude, session); err == nil {
			t.Errorf("%q was read through a link", got)
		}
	})
	t.Run("an id that would be a path", func(t *testing.T) {
		dir, _ := hold(t, map[string]string{claudeFile: claudeText})
		if got, err := Last(t.Context(), dir, Claude, "../-home-x/"+session); !errors.Is(err, ErrNone) {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("only the end of a long one is read", func(t *testing.T) {
		dir, root := hold(t, map[string]string{claudeFile: ""})
		file, err := os.OpenFile(filepath.Join(root, claudeFile), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteAt([]byte("\n"+strings.TrimSuffix(claudeText, "not json\n")), 64<<30); err != nil {
			t.Fatalf("make a sparse file of 64 GiB: %v", err)
		}
		if got, err := Last(t.Context(), dir, Claude, session); err != nil || !strings.HasPrefix(got, "one\n") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestOneMessageInManyLinesIsReadOnce: joining costs what there is to read, not its square. Allocated bytes are counted, since time is
// the machine's.
func TestOneMessageInManyLinesIsReadOnce(t *testing.T) {
	line := `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a"}]}}` + "\n"
	const lines = 20_000
	dir, _ := hold(t, map[string]string{claudeFile: strings.Repeat(line, lines)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Last(t.Context(), dir, Claude, session)
	runtime.ReadMemStats(&after)
	if err != nil || strings.Count(got, "a") != lines {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 { // 80 MB here; 480 MB when each line copied what came before
		t.Errorf("%d bytes were allocated for a file of %d", used, lines*len(line))
	}
}

// TestACallerThatIsGoneIsNotReadFor: reading stops at the next piece. The twin reads to the end.
func TestACallerThatIsGoneIsNotReadFor(t *testing.T) {
	const line = "{}\n"
	dir, _ := hold(t, map[string]string{claudeFile: strings.Repeat(line, 1<<20/len(line)) + claudeText})
	for name, row := range map[string]struct {
		lines int // that are read before the caller goes
		want  error
	}{
		"gone before it is looked for": {0, context.Canceled},
		"gone in the middle":           {3, context.Canceled},
		"twin: stays":                  {1 << 20, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if row.lines == 0 {
				leave()
				if _, err := Last(ctx, dir, Claude, session); !errors.Is(err, row.want) {
					t.Errorf("%v", err)
				}
				return
			}
			file, info, err := dir.Open(claudeFile)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			seen := 0
			_, err = lastIn(ctx, file, info.Size(), func(line []byte) (string, string, bool) {
				if seen++; seen == row.lines {
					leave()
				}
				return claudeLine(line)
			})
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("%v, want %v", err, row.want)
			}
			if at, err := file.Seek(0, io.SeekCurrent); err != nil || row.want != nil && at > 64<<10 {
				t.Errorf("%d bytes of %d were read, %v", at, info.Size(), err)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(claudeText))
	f.Add([]byte(`{"type":"gemini","content":[1,{"text":[]}]}`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		claudeLine(line)
		codexLine(line)
		geminiLine(line)
	})
}
