// Command testagent behaves like an agent CLI on a terminal, by script: it is what tests drive in place of a
// real one. It is never shipped.
//
// It draws a box ("> ") on the last line, reads a bracketed paste, shows it in the box, submits on CR alone, works,
// answers, and is idle again. While it works it steps a spinner in box and title and shows progress. A prompt
// that comes meanwhile is queued and gets a turn of its own.
//
//	idle      title "✳ ready",    OSC 9;4;0, box "> "
//	working   title "⠋ working…", OSC 9;4;3, box "⠋ > "
//	asking    title "✋ Action Required (testagent)", OSC 9;4;4, line "? QUESTION [Y/n]", box "❯ 1. Yes  2. No"
//
// Keys: CR submits (sooner than 30 ms after a paste it becomes part of it, as with gemini), LF is a new line of
// the draft, Esc or Ctrl-C ends the turn, Ctrl-C clears the draft, Ctrl-D in an empty box exits. While it asks,
// a paste is dropped, and Enter, y or 1 mean yes, n, 2 or Esc mean no: what a real agent does.
//
// Flags
//
//	-prompt TEXT    first prompt, submitted once the box is there
//	-signals LIST   which of title,progress,status it sends (default title,progress); status is OSC 7501 as
//	                app=testagent, with the query that claude asks left out
//	-spin=false     draws nothing while it works, so that only quiet is left
//	-start D        time before it shows anything
//	-trust          asks "trust this folder" before the box is there, and exits on no
//	-version        prints its version (--version too)
//
// A prompt is lines. Each line that begins with one of these words is a directive, done in turn; any other line is
// taken as text. Every turn first prints "prompt: N bytes, sha256 HEX" of what was submitted (the
// first 16 digits, so that the line fits a narrow terminal).
//
//	say TEXT            prints TEXT
//	work D              works for D ("200ms")
//	write PATH TEXT     writes TEXT and a line feed to PATH, which must lie below the current directory
//	ask QUESTION        asks; prints "answer: yes", or "answer: no" and ends the turn
//	call VERB JSON      calls an MCP tool at TERMIC_MCP_URL with TERMIC_MCP_TOKEN; prints "VERB -> {…}", the
//	                    structured result on one line; or "VERB -> error …" (a tool's own error, with its
//	                    result; a protocol error; an HTTP status)
//	let NAME = call VERB JSON   the same, and keeps the result as NAME
//	tools               prints "tools -> NAME NAME …"
//	env                 prints "env NAME" for each variable, "env NAME=VALUE" for TERMIC_*, of the token its
//	                    length only: "env TERMIC_MCP_TOKEN (N bytes)"
//	flood N             prints N bytes of lines
//	split               prints an em dash in two writes: "cleanup — end"
//	background D        starts something that outlives the turn by D, then prints "background: finished"; the
//	                    title looks idle meanwhile, 7501 stays working, as with claude
//	exit N              exits with code N
//
// In JSON, and in the text of say and write, "$NAME.path.to.0.value" stands for a value that let kept; a JSON string
// that is nothing else becomes that value, whatever its type. A name that is not kept ends the turn with "error: …",
// as does any directive that fails; a call that gets an answer has not failed.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	name    = "testagent"
	version = "1.0.0"
)

// options are the flags.
type options struct {
	prompt  string
	signals map[string]bool
	spin    bool
	start   time.Duration
	trust   bool
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	o, code, ok := parseFlags(args, os.Stderr)
	if !ok {
		return code
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		fmt.Fprintln(os.Stderr, "testagent: wants a terminal")
		return 2
	}
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		fmt.Fprintln(os.Stderr, "testagent:", err)
		return 1
	}
	defer term.Restore(int(os.Stdin.Fd()), before)
	return newAgent(o).loop()
}

func parseFlags(args []string, errs io.Writer) (o options, code int, ok bool) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.prompt, "prompt", "", "first prompt")
	signals := f.String("signals", "title,progress", "signals to send: title,progress,status")
	f.BoolVar(&o.spin, "spin", true, "draw while working")
	f.DurationVar(&o.start, "start", 0, "time before anything is shown")
	f.BoolVar(&o.trust, "trust", false, "ask for trust first")
	showVersion := f.Bool("version", false, "print the version")
	if err := f.Parse(args); err != nil {
		return o, 2, false
	}
	if *showVersion {
		fmt.Println(name, version)
		return o, 0, false
	}
	if f.NArg() > 0 {
		fmt.Fprintf(errs, "testagent: unexpected argument %q\n", f.Arg(0))
		return o, 2, false
	}
	o.signals = map[string]bool{}
	for s := range strings.SplitSeq(*signals, ",") {
		switch s {
		case "title", "progress", "status":
			o.signals[s] = true
		case "":
		default:
			fmt.Fprintf(errs, "testagent: unknown signal %q\n", s)
			return o, 2, false
		}
	}
	return o, 0, true
}
