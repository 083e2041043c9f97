// Package agentsmd keeps a text of ours between two marks in a file of the person's, such as AGENTS.md, and changes no
// other byte of it.
package agentsmd

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"termic/mcpserver/clients"
)

// The marks are lines of their own. Markdown shows neither.
const (
	begin = "<!-- termic:begin, kept up to date by `termic agents-md --install`: changes in here are lost -->"
	end   = "<!-- termic:end -->"
)

// ErrMarks says that the marks in a file are not one of each, the first first, so that it is not known what is ours.
var ErrMarks = errors.New("the marks of termic in it are not one pair")

// ErrTrace says that the text could not be taken out of a file again without a trace. It ends in a lone carriage return.
var ErrTrace = errors.New("the text could not be taken out of it again without a trace")

// Put returns src with text between the marks, which are added at the end after an empty line where there are none.
func Put(src []byte, text string) ([]byte, error) {
	newline := newlineOf(src)
	block := strings.ReplaceAll(begin+"\n"+strings.TrimRight(text, "\n")+"\n"+end, "\n", newline)
	start, stop, found, err := find(src)
	switch {
	case err != nil:
		return nil, err
	case found:
		return slices.Concat(src[:start], []byte(block), src[stop:]), nil
	}
	out := slices.Concat(src, []byte(newline+newline+block))
	switch {
	case len(src) == 0:
		out = []byte(block + newline)
	case bytes.HasSuffix(src, []byte("\n")):
		out = slices.Concat(src, []byte(newline+block+newline))
	}
	if back, err := Take(out); err != nil || !bytes.Equal(back, src) {
		return nil, ErrTrace
	}
	return out, nil
}

// Take returns src without the marks, what is between them, and the empty line before them.
func Take(src []byte) ([]byte, error) {
	start, stop, found, err := find(src)
	if err != nil || !found {
		return src, err
	}
	before, after := src[:start], src[stop:]
	if rest, ok := cutNewline(before, true); ok && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))) {
		before = rest // an empty line
	}
	if rest, ok := cutNewline(after, false); ok {
		after = rest
	} else if rest, ok := cutNewline(before, true); ok {
		before = rest // the file ended without a line break
	}
	return slices.Concat(before, after), nil
}

// cutNewline returns b without the line break at its end or its start.
func cutNewline(b []byte, atEnd bool) ([]byte, bool) {
	for _, newline := range []string{"\r\n", "\n"} {
		if atEnd && bytes.HasSuffix(b, []byte(newline)) {
			return b[:len(b)-len(newline)], true
		}
		if !atEnd && bytes.HasPrefix(b, []byte(newline)) {
			return b[len(newline):], true
		}
	}
	return b, false
}

func newlineOf(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// find returns where the first mark starts and where the second one ends.
func find(src []byte) (start, stop int, found bool, err error) {
	starts, stops := marks(src, begin), marks(src, end)
	switch {
	case len(starts) == 0 && len(stops) == 0:
		return 0, 0, false, nil
	case len(starts) != 1 || len(stops) != 1 || stops[0] < starts[0]:
		return 0, 0, false, ErrMarks
	}
	return starts[0], stops[0] + len(end), true, nil
}

// marks returns where a mark is a whole line. The mark's first words count, so that its remark can change.
func marks(src []byte, mark string) []int {
	word, _, _ := strings.Cut(mark, ",")
	var at []int
	offset := 0
	for line := range bytes.Lines(src) {
		text := strings.TrimRight(string(line), "\r\n")
		if text == mark || mark == begin && strings.HasPrefix(text, word+",") && strings.HasSuffix(text, "-->") {
			at = append(at, offset)
		}
		offset += len(line)
	}
	return at
}

// ErrEncoding says that a file is no UTF-8, so that text added to it would be read as something else.
var ErrEncoding = errors.New("it is no UTF-8 text")

// Install writes text into a file. It returns how the file changed as a diff, empty when it did not, and the copy of what it
// held before.
func Install(file, text string, now time.Time) (diff, backup string, err error) {
	done, err := change(file, now, func(src []byte) ([]byte, error) { return Put(src, text) })
	return done.diff, done.backup, err
}

// Remove is the opposite of Install: it takes the text out, and removes the copies that hold nothing besides it, or besides it what
// the file then holds. A file that holds nothing then is removed, unless a copy says that it was there, empty, before the text was.
func Remove(file string, now time.Time) (diff, backup string, err error) {
	done, err := change(file, now, Take)
	if err != nil || done.diff == "" {
		return done.diff, done.backup, err
	}
	copies, err := done.file.Backups()
	if err != nil {
		return done.diff, done.backup, err
	}
	wasEmpty := false
	kept := clients.Tidy(copies, func(data []byte) bool {
		wasEmpty = wasEmpty || len(data) == 0
		rest, err := Take(data)
		return err == nil && (len(rest) == 0 || bytes.Equal(rest, done.now))
	})
	if len(done.now) == 0 && !wasEmpty {
		if err := drop(file); err != nil {
			return done.diff, done.backup, err
		}
	}
	if !slices.Contains(kept, done.backup) {
		done.backup = ""
	}
	return done.diff, done.backup, nil
}

// drop removes an empty file; one that a link leads to stays, since the link is the person's.
func drop(file string) error {
	f, err := clients.Open(file)
	if err != nil || f.Target != f.Name || len(f.Data) > 0 {
		return err
	}
	return f.Remove(nil)
}

// changed is what became of a file: nothing where diff is empty.
type changed struct {
	file         clients.File
	now          []byte
	diff, backup string
}

func change(file string, now time.Time, edit func([]byte) ([]byte, error)) (changed, error) {
	f, err := clients.Open(file)
	if err != nil {
		return changed{}, err
	}
	if !utf8.Valid(f.Data) {
		return changed{}, fmt.Errorf("%s: %w", file, ErrEncoding)
	}
	out, err := edit(f.Data)
	if err != nil {
		return changed{}, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(out, f.Data) {
		return changed{}, nil
	}
	done, err := f.Replace(out, now)
	return changed{f, out, clients.Diff(file, string(f.Data), string(out)), done.Backup}, err
}
