package tab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"termic/app/pty"
	"termic/app/settle"
)

func TestASavedTabIsShownAgain(t *testing.T) {
	opened := command(t, `printf '\033]2;its title\007plain \033[32mgreen\033[m\r\nsecret-123 \033[1mbold\033[m\r\n'; read x`)
	see(t, opened, "bold")
	saved := opened.Save(func(line string) string { return strings.ReplaceAll(line, "secret-123", "[gone]") })
	if want := []string{"plain \x1b[0;32mgreen\x1b[0m", "[gone] bold"}; fmt.Sprintf("%q", saved.Lines) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, want %q", saved.Lines, want)
	}
	if saved.Cols != 200 || saved.Rows != 30 || saved.Title != "its title" || saved.Session != opened.Pid() || !saved.Ended.IsZero() {
		t.Errorf("%+v", saved)
	}
	again := Restore(saved, "t-x", builtin(t, "shell"), 1000)
	text, _ := again.Log(100)
	if !strings.HasPrefix(text, "plain green\n[gone] bold\n--- above: what this tab showed before the app ended ---") {
		t.Errorf("%q", text)
	}
	if info := again.Info(); info.State != settle.Exited || info.Title != "its title" || info.ID != opened.ID() {
		t.Errorf("%+v", info)
	}
	// Nothing runs in it: it takes nothing, and who watches it sees its end.
	if _, err := again.Send(t.Context(), Message{Text: "text"}); !errors.Is(err, ErrExited) {
		t.Errorf("send: %v", err)
	}
	if err := again.Type(t.Context(), []byte("x")); !errors.Is(err, ErrExited) {
		t.Errorf("type: %v", err)
	}
	if err := again.Resize(pty.Size{Cols: 80, Rows: 24}); !errors.Is(err, ErrExited) {
		t.Errorf("resize: %v", err)
	}
	if got, err := again.Wait(t.Context(), patience, ""); got != Exited || err != nil {
		t.Errorf("wait: %q, %v", got, err)
	}
	w := again.Watch()
	defer w.Close()
	if p := next(t, w); !strings.Contains(string(p), "green") {
		t.Errorf("a watcher sees %q", p)
	}
	if _, err := w.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("then %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	// Saved again it is the same: no mark upon mark.
	if twice := again.Save(strings.ToUpper); fmt.Sprintf("%q", twice.Lines) != fmt.Sprintf("%q", saved.Lines) {
		t.Errorf("saved again: %q", twice.Lines)
	}
	enter(t, opened)
}

func TestWhatIsSavedIsBounded(t *testing.T) {
	opened := command(t, `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done; echo the-end; read x`)
	see(t, opened, "the-end")
	saved := opened.Save(func(line string) string { return line })
	if len(saved.Lines) > maxSavedLines || saved.Lines[len(saved.Lines)-1] != "the-end" {
		t.Errorf("%d lines, the last %q", len(saved.Lines), saved.Lines[len(saved.Lines)-1])
	}
	saved.Lines = nil
	if text, _ := Restore(saved, "t-x", builtin(t, "shell"), 1000).Log(10); text != "" {
		t.Errorf("nothing saved shows %q", text)
	}
	saved.Cols, saved.Rows = 1, 65000
	if got := saved.size(); got.Cols != pty.MinCols || got.Rows != 500 {
		t.Errorf("a size from a damaged file is %v", got)
	}
	enter(t, opened)
}

// TestATabSaysOnceThatItIsUnsaved: whoever saves tabs need not look at them while nothing is printed.
func TestATabSaysOnceThatItIsUnsaved(t *testing.T) {
	said := 0
	tab := Restore(Saved{Cols: 80, Rows: 24}, "t-1", builtin(t, "shell"), 100)
	tab.spec.Printed = func() { said++ }
	tab.session = &pty.Session{}
	for i, want := range []int{1, 1} {
		tab.show([]byte("x"))
		if said != want {
			t.Errorf("piece %d: said %d times, want %d", i+1, said, want)
		}
	}
	tab.Save(func(line string) string { return line })
	if said != 1 {
		t.Errorf("a save is output: said %d times", said)
	}
	tab.show([]byte("y"))
	if said != 2 {
		t.Errorf("after a save: said %d times", said)
	}
}
