package tab

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"termic/app/screen"
)

// ErrMark is returned for a mark that is none of this terminal's: it was given by another tab, or before the app was started.
var ErrMark = errors.New("not a mark of this terminal")

// LogOptions say which part of a log is wanted, and how.
type LogOptions struct {
	Lines int    // the last so many at most
	Since string // Log.Mark of an earlier one: only what came after it; empty is everything
	// Styled keeps colours and other styles, as SGR sequences and no others. Blank then takes secrets out of a line; a line from
	// which it takes something loses its styles, since they may lie inside of what was taken.
	Styled bool
	Blank  func(string) string
}

// Log is a part of what a terminal has shown.
type Log struct {
	Text string
	More bool   // there are earlier lines, or there were: some that came after the mark are gone
	Mark string // this moment, for LogOptions.Since
}

// ReadLog returns a part of what the terminal has shown. In a tab of a program that draws (an agent's) what comes after a mark begins
// with all that was on the screen then, since any of it may have changed. The error is ErrMark.
func (t *Tab) ReadLog(o LogOptions) (Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.screen.Numbered()
	out := Log{Mark: t.markOf(now.Now)}
	if o.Since == "" && !o.Styled {
		out.Text, out.More = t.tail(o.Lines)
		return out, nil
	}
	var from screen.Moment
	if o.Since != "" {
		var err error
		if from, err = t.moment(o.Since); err != nil {
			return Log{}, err
		}
	} else {
		from.Drawn, from.Written = now.First, now.First
	}
	lines, missed := now.Since(from, !t.spec.Agent.Shell)
	out.More = missed || len(lines) > o.Lines
	lines = lines[max(0, len(lines)-o.Lines):]
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(o.text(line))
	}
	out.Text = b.String()
	return out, nil
}

// text is a line as it is wanted.
func (o LogOptions) text(line screen.Line) string {
	if !o.Styled {
		return line.Plain
	}
	if clean := o.Blank(line.Plain); clean != line.Plain {
		return clean
	}
	return line.Styled
}

// tail returns the last lines of what shows as text, scrollback included, and whether there are earlier ones; t.mu is held.
func (t *Tab) tail(lines int) (text string, more bool) {
	text = t.screen.Text(screen.TextOptions{Lines: lines + 1, Scrollback: true})
	if strings.Count(text, "\n") < lines {
		return text, false
	}
	_, text, _ = strings.Cut(text, "\n")
	return text, true
}

// newEpoch returns what tells the marks of one terminal from those of all others, its own of an earlier run among them.
func newEpoch() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // it never fails (crypto/rand)
	return hex.EncodeToString(random[:])
}

// markOf writes a moment; moment reads it.
func (t *Tab) markOf(m screen.Moment) string {
	return fmt.Sprintf("%s-%d-%d-%d", t.epoch, m.Drawn, m.Written, m.Erased)
}

func (t *Tab) moment(mark string) (screen.Moment, error) {
	var m screen.Moment
	rest, ours := strings.CutPrefix(mark, t.epoch+"-")
	if !ours {
		return m, ErrMark
	}
	if n, err := fmt.Sscanf(rest, "%d-%d-%d", &m.Drawn, &m.Written, &m.Erased); err != nil || n != 3 || t.markOf(m) != mark || m.Drawn > m.Written {
		return screen.Moment{}, ErrMark
	}
	return m, nil
}
