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

	"termic/mcpserver/clients"
)

// The marks are lines of their own. Markdown shows neither.
const (
	begin = "<!-- termic:begin, kept up to date by `termic agents-md --install`: changes in here are lost -->"
	end   = "<!-- termic:end -->"
)

// ErrMarks says that the marks in a file are not one of each, the first first, so that it is not known what is ours.
var ErrMarks = errors.New("the marks of termic in it are not one pair")

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
	case len(src) == 0:
		return []byte(block + newline), nil
	case bytes.HasSuffix(src, []byte("\n")):
		return slices.Concat(src, []byte(newline+block+newline)), nil
	}
	return slices.Concat(src, []byte(newline+newline+block)), nil
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

// Install writes text into a file; Remove takes it out. They return how the file changed as a diff, empty when it did
// not, and the copy of what it held before.
func Install(file, text string, now time.Time) (diff, backup string, err error) {
	return change(file, now, func(src []byte) ([]byte, error) { return Put(src, text) })
}

// Remove is the opposite of Install. A file that holds nothing else stays, empty.
func Remove(file string, now time.Time) (diff, backup string, err error) {
	return change(file, now, Take)
}

func change(file string, now time.Time, edit func([]byte) ([]byte, error)) (diff, backup string, err error) {
	f, err := clients.Open(file)
	if err != nil {
		return "", "", err
	}
	out, err := edit(f.Data)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(out, f.Data) {
		return "", "", nil
	}
	done, err := f.Replace(out, now)
	return clients.Diff(file, string(f.Data), string(out)), done.Backup, err
}
