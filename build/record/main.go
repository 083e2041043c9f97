// Command record runs full-screen programs of Debian on a terminal and writes down every byte that they print, as asciicast v2
// (https://docs.asciinema.org/manual/asciicast/v2/), gzipped: app/screen is compared with xterm.js on them. The recordings are
// made once and kept; what they must not show is this machine: other processes, host, user, home.
//
//	go run ./build/record app/screen/testdata/sessions [NAME…]      needs: vim less htop tmux, and root for htop's own PIDs
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: record DIRECTORY [NAME…]")
		os.Exit(2)
	}
	for _, s := range sessions {
		if names := os.Args[2:]; len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		if err := s.record(os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "record %s: %v\n", s.name, err)
			os.Exit(1)
		}
	}
}

// record runs the session and writes NAME.cast.gz into dir.
func (s *session) record(dir string) (err error) {
	home, err := os.MkdirTemp("", "session")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	for name, text := range s.files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "SHELL=/bin/sh", "TMUX_TMPDIR=" + home}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(s.cols), Rows: uint16(s.rows)})
	if err != nil {
		return err
	}
	tape := &tape{begin: time.Now()}
	tape.add(map[string]any{"version": 2, "width": s.cols, "height": s.rows, "title": strings.Join(s.argv, " ")})
	read := make(chan struct{})
	go func() { defer close(read); tape.copy(tty) }()
	for _, step := range s.steps {
		time.Sleep(step.wait)
		if step.cols > 0 {
			tape.event("r", fmt.Sprintf("%dx%d", step.cols, step.rows))
			err = pty.Setsize(tty, &pty.Winsize{Cols: uint16(step.cols), Rows: uint16(step.rows)})
		} else {
			_, err = io.WriteString(tty, step.keys)
		}
		if err != nil {
			return err
		}
	}
	if len(s.after) > 0 {
		after := exec.Command(s.after[0], s.after[1:]...)
		after.Env = cmd.Env
		if out, err := after.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	<-read
	_ = cmd.Wait() // its status says nothing about the recording
	return tape.write(filepath.Join(dir, s.name+".cast.gz"))
}

// tape collects the lines of the file.
type tape struct {
	mu    sync.Mutex
	begin time.Time
	lines []byte
	err   error
}

func (t *tape) add(v any) {
	line, err := json.Marshal(v)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(append(t.lines, line...), '\n')
	t.err = errors.Join(t.err, err)
}

func (t *tape) event(kind, text string) {
	t.add([]any{time.Since(t.begin).Round(time.Millisecond).Seconds(), kind, text})
}

// copy records what is read until the end. A character that a read has cut goes with the next: JSON holds no half ones.
func (t *tape) copy(from io.Reader) {
	buf := make([]byte, 64<<10)
	held := 0
	for {
		n, err := from.Read(buf[held:])
		end := held + n
		whole := end
		for back := 1; back < utf8.UTFMax && back <= end; back++ {
			if utf8.RuneStart(buf[end-back]) {
				if !utf8.FullRune(buf[end-back : end]) {
					whole = end - back
				}
				break
			}
		}
		if whole > 0 {
			t.event("o", string(buf[:whole]))
		}
		held = copy(buf, buf[whole:end])
		if err != nil {
			return
		}
	}
}

func (t *tape) write(name string) error {
	if t.err != nil {
		return t.err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(t.lines)
		err = errors.Join(err, zip.Close())
	}
	return errors.Join(err, file.Close())
}
