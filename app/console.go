package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"termic/app/hold"
	"termic/registry"
	"termic/registry/verbs"
)

// maxShown is how much of a call's arguments the terminal shows; the rest is counted.
const maxShown = 2000

// answerAt puts calls that wait before the person at the terminal that started the app in the foreground, one after the
// other, until ctx ends. Whoever gives the terminal vouches that it is the person's: no tab of ours.
func (a *app) answerAt(ctx context.Context, terminal io.ReadWriter) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(terminal)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for ctx.Err() == nil {
		waiting, changed := a.holds.Pending()
		if len(waiting) == 0 {
			select {
			case <-changed:
			case <-ctx.Done():
			case line, open := <-lines: // typed while nothing was asked: no answer to anything
				if !open {
					return
				}
				a.trustAt(terminal, line)
			}
			continue
		}
		if !a.ask(ctx, terminal, lines, waiting[0]) {
			return
		}
	}
}

// ask shows one call and takes one answer. It is false when the terminal has ended. A line that was typed before the
// question was shown is no answer to it.
func (a *app) ask(ctx context.Context, terminal io.Writer, lines <-chan string, p hold.Pending) bool {
	choices := "y: once, a: always, anything else: no"
	if p.Verb.Class == registry.Destructive {
		choices = "y: once, anything else: no"
	}
	fmt.Fprintf(terminal, "\n%s asks for %s (%s) with %s\nAllow it? [%s] ", printable(p.Holder), p.Verb.Name, p.Verb.Class, printable(string(p.Arguments)), choices)
	for {
		waiting, changed := a.holds.Pending()
		if len(waiting) == 0 || waiting[0].ID != p.ID {
			fmt.Fprintln(terminal, "\nit does not wait any more")
			return true
		}
		select {
		case line, open := <-lines:
			if !open {
				return false
			}
			a.answer(terminal, p, line)
			return true
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// answer carries what the person typed to the router, as the person.
func (a *app) answer(terminal io.Writer, p hold.Pending, line string) {
	answer := hold.Deny
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		answer = hold.Once
	case "a", "always":
		answer = hold.Always
	}
	raw, err := json.Marshal(verbs.HoldAnswerIn{ID: p.ID, Digest: p.Digest, Answer: string(answer)})
	if err == nil {
		_, err = a.router.Dispatch(context.Background(), registry.Person(registry.Window), verbs.HoldAnswer.Verb().Name, raw)
	}
	if err != nil {
		fmt.Fprintln(terminal, printable(err.Error()))
	}
}

// trustAt takes "trust PROJECT DIGEST" and "distrust PROJECT DIGEST": the person's word on a repository's commands, which is
// otherwise given in the window. What is none of these is ignored.
func (a *app) trustAt(terminal io.Writer, line string) {
	words := strings.Fields(line)
	if len(words) != 3 || words[0] != "trust" && words[0] != "distrust" {
		return
	}
	raw, err := json.Marshal(verbs.TrustAnswerIn{Project: words[1], Digest: words[2], Trust: words[0] == "trust"})
	if err == nil {
		_, err = a.router.Dispatch(context.Background(), registry.Person(registry.Window), verbs.TrustAnswer.Verb().Name, raw)
	}
	if err != nil {
		fmt.Fprintln(terminal, printable(err.Error()))
		return
	}
	fmt.Fprintln(terminal, printable(words[0]+"ed: "+words[1]))
}

// printable makes what an agent wrote safe to print: nothing of it acts on the terminal or hides.
func printable(text string) string {
	cut := ""
	if len(text) > maxShown {
		text, cut = strings.ToValidUTF8(text[:maxShown], ""), fmt.Sprintf("… (%d bytes in all)", len(text))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text) + cut
}
