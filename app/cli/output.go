package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"

	"termic/registry/refusal"
)

// Rules of this program's output. Every message goes through a method of printer.
//
//   - Standard output has what was asked for, and nothing else: a result, help, a script.
//   - Standard error has what is said about it. A line begins with "termic: ", goes on in lower case and ends
//     without a period. What to do next is a line of its own that begins with "hint: ".
//   - With --json, standard output has exactly one JSON document, a refusal included: {"refusal": …}. What a
//     --wait adds is in the first result's document. Standard error then stays empty; the exit status tells.
//   - Keys and column heads are the names of the JSON document, so that what was seen can be asked for.
//   - There are no colours. What came from elsewhere (a log, a name, a reason) reaches a terminal only with its
//     control characters made visible: it must not move the cursor or change the title. A raw text that goes
//     into a file or a pipe stays as it is: a patch. An agent's own words do not: what they are piped into shows
//     them on a terminal more often than not. With --raw they are printed as they are, wherever they go.
//   - How far a call has come is one line on standard error, drawn over and removed at the end, and only on a terminal.
//   - The one exception is attach, which hands the terminal over.
type printer struct {
	out, err io.Writer
	json     bool
	asIs     bool // --raw
	// cols is the width of the terminal that out is; 0 when it is none.
	cols int
	// drawn: a line of progress is on standard error.
	drawn bool
}

func newPrinter(out, err io.Writer, asJSON bool) *printer {
	p := &printer{out: out, err: err, json: asJSON}
	if file, ok := terminal(out); ok {
		if cols, _, err := term.GetSize(int(file.Fd())); err == nil && cols > 0 {
			p.cols = cols
		} else {
			p.cols = 80
		}
	}
	return p
}

// terminal returns what is behind a stream when that is a terminal.
func terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	return file, ok && file != nil && term.IsTerminal(int(file.Fd()))
}

// toTerminal tells whether standard output is a terminal.
func (p *printer) toTerminal() bool { return p.cols > 0 }

// note says something about the result.
func (p *printer) note(format string, args ...any) {
	if !p.json {
		fmt.Fprintf(p.err, "termic: %s\n", visible(fmt.Sprintf(format, args...), false))
	}
}

// progress is a note for who watches, and not for a script.
func (p *printer) progress(format string, args ...any) {
	if _, watched := terminal(p.err); watched {
		p.note(format, args...)
	}
}

// telling returns what draws how far a call has come; nil where nobody watches.
func (p *printer) telling() func(text string) {
	file, watched := terminal(p.err)
	if !watched || p.json {
		return nil
	}
	return func(text string) {
		cols, _, err := term.GetSize(int(file.Fd()))
		if err != nil || cols <= 0 {
			cols = 80
		}
		p.drawn = true
		// A line that wraps would not be drawn over.
		fmt.Fprintf(p.err, "\r%s\x1b[K", displaywidth.TruncateString("termic: "+visible(text, false), cols-1, "…"))
	}
}

// told removes the line of progress.
func (p *printer) told() {
	if p.drawn {
		fmt.Fprint(p.err, "\r\x1b[K")
	}
	p.drawn = false
}

// refused says a refusal, or with --json prints it beside what was reached before it.
func (p *printer) refused(no *refusal.Refusal, reached json.RawMessage) error {
	if p.json {
		return p.document(withMember(reached, "refusal", no))
	}
	reason := no.Reason
	if no.Code == refusal.Internal && no.Request != "" {
		reason += " (request " + no.Request + ")"
	}
	if cause := no.Cause(); cause != nil && no.Code == refusal.Internal {
		// The refusal was made by this program, so its cause is not in the app's log.
		reason = cause.Error()
	}
	fmt.Fprintf(p.err, "termic: %s\n", visible(reason, false))
	if no.Remedy != "" {
		fmt.Fprintf(p.err, "hint: %s\n", visible(no.Remedy, false))
	}
	return nil
}

// document prints JSON, indented, with what could act on a terminal escaped.
func (p *printer) document(raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	b.WriteByte('\n')
	return p.write(escapeJSON(b.String()))
}

// write puts text on standard output. An error is told apart from the app's: the disk is full, or a pipe is gone.
func (p *printer) write(text string) error {
	if _, err := io.WriteString(p.out, text); err != nil {
		return refusal.New(refusal.StorageFailed, "standard output cannot be written", "").Because(err)
	}
	return nil
}

// withMember returns the JSON object raw, or an empty one, with another member at its end.
func withMember(raw json.RawMessage, name string, value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil { // results and refusals always encode
		panic(err)
	}
	head := strings.TrimSuffix(strings.TrimSpace(string(raw)), "}")
	switch strings.TrimSpace(head) {
	case "":
		head = "{"
	case "{":
	default:
		head += ","
	}
	return json.RawMessage(fmt.Sprintf("%s%q:%s}", head, name, text))
}
