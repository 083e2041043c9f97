package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	spinEvery  = 80 * time.Millisecond // real ones step at 10 Hz
	escapeWait = 50 * time.Millisecond // an escape sequence comes in one piece nearly always
	maxDraft   = 8 << 20               // bytes that the box takes
)

// agent is the whole program: the loop owns the draft and the queue, a turn runs beside it.
type agent struct {
	o        options
	screen   *screen
	keys     keyReader
	draft    string
	queue    []string
	endpoint *endpoint
	kept     values

	turn   context.CancelFunc // ends the turn; nil when there is none
	over   chan outcome       // a turn's end
	exit   int                // code to exit with
	ending bool
	answer chan bool // the picker's answer, while it asks

	mu    sync.Mutex // guards asked
	asked bool
}

// outcome is how a turn ended.
type outcome struct {
	err  error
	exit *int // the code that the directive exit gave
}

func newAgent(o options) *agent {
	return &agent{
		o: o, screen: &screen{signals: o.signals}, kept: values{},
		endpoint: newEndpoint(os.Getenv("TERMIC_MCP_URL"), os.Getenv("TERMIC_MCP_TOKEN")),
		over:     make(chan outcome, 1), answer: make(chan bool),
	}
}

// loop runs until the agent exits and returns its code.
func (a *agent) loop() int {
	time.Sleep(a.o.start)
	input := make(chan []byte)
	go readInput(input)
	if a.o.trust {
		a.begin(func(ctx context.Context) outcome { return a.askTrust(ctx) })
	} else {
		a.ready()
	}
	defer a.screen.close()
	spin := time.NewTicker(spinEvery)
	defer spin.Stop()
	flush := time.NewTimer(time.Hour)
	defer flush.Stop()
	for !a.ending {
		select {
		case p, ok := <-input:
			if !ok {
				return a.exit
			}
			a.press(a.keys.feed(p, time.Now()))
			flush.Reset(escapeWait)
		case <-flush.C:
			a.press(a.keys.flush())
		case <-spin.C:
			if a.o.spin {
				a.screen.spin()
			}
		case o := <-a.over:
			a.end(o)
		}
	}
	return a.exit
}

func readInput(input chan<- []byte) {
	defer close(input)
	for {
		p := make([]byte, 64<<10)
		n, err := os.Stdin.Read(p)
		if n > 0 {
			input <- p[:n]
		}
		if err != nil {
			return
		}
	}
}

// ready shows the box and takes the first prompt.
func (a *agent) ready() {
	a.screen.open()
	if a.o.prompt != "" {
		a.submit(a.o.prompt)
	}
}

func (a *agent) askTrust(ctx context.Context) outcome {
	yes, err := a.ask(ctx, "trust this folder")
	if err != nil || !yes {
		code := 1
		return outcome{exit: &code}
	}
	return outcome{}
}

// press takes keys: to the picker while it asks, else to the box.
func (a *agent) press(keys []key) {
	for _, k := range keys {
		if a.isAsking() {
			a.pick(k)
			continue
		}
		a.typeKey(k)
	}
	a.screen.edit(a.draft)
}

// pick answers the picker. A paste is dropped; Enter means yes.
func (a *agent) pick(k key) {
	switch {
	case k.kind == keyEnter, k.kind == keyText && (k.text == "y" || k.text == "1"):
		a.setAsking(false)
		a.answer <- true
	case k.kind == keyEscape, k.kind == keyInterrupt, k.kind == keyText && (k.text == "n" || k.text == "2"):
		a.setAsking(false)
		a.answer <- false
	}
}

// typeKey takes one key into the box.
func (a *agent) typeKey(k key) {
	switch k.kind {
	case keyText, keyPaste:
		if len(a.draft)+len(k.text) <= maxDraft {
			a.draft += k.text
		}
	case keyErase:
		_, n := utf8.DecodeLastRuneInString(a.draft)
		a.draft = a.draft[:len(a.draft)-n]
	case keyClear:
		a.draft = ""
	case keyEnter:
		if a.draft != "" {
			text := a.draft
			a.draft = ""
			a.submit(text)
		}
	case keyEscape, keyInterrupt:
		switch {
		case a.turn != nil:
			a.turn()
		case k.kind == keyInterrupt:
			a.draft = ""
		}
	case keyEnd:
		a.ending = a.draft == "" && a.turn == nil
	}
}

// submit starts a turn, or queues it behind the one that runs.
func (a *agent) submit(prompt string) {
	a.queue = append(a.queue, prompt)
	if a.turn == nil {
		a.next()
	}
}

// next starts the first queued turn.
func (a *agent) next() {
	prompt := a.queue[0]
	a.queue = a.queue[1:]
	a.begin(func(ctx context.Context) outcome { return a.runPrompt(ctx, prompt) })
}

func (a *agent) begin(turn func(context.Context) outcome) {
	ctx, cancel := context.WithCancel(context.Background())
	a.turn = cancel
	go func() {
		defer cancel()
		a.over <- turn(ctx)
	}()
}

// end closes a turn and starts the next one. Between queued turns it stays working, as claude does.
func (a *agent) end(o outcome) {
	a.turn = nil
	switch {
	case o.exit != nil:
		a.exit, a.ending = *o.exit, true
		return
	case errors.Is(o.err, context.Canceled):
		a.screen.print("interrupted")
		o.err = nil
	case o.err != nil:
		a.screen.print("error: " + o.err.Error())
	}
	if len(a.queue) > 0 {
		a.next()
		return
	}
	if a.o.trust {
		a.o.trust = false
		a.screen.show(idle, "")
		a.ready()
		return
	}
	if o.err != nil {
		a.screen.show(failed, o.err.Error())
		return
	}
	a.screen.show(idle, "")
}

// ask opens the picker and waits for the answer.
func (a *agent) ask(ctx context.Context, question string) (bool, error) {
	a.screen.print("? " + question + " [Y/n]")
	a.setAsking(true)
	a.screen.show(asking, question)
	select {
	case yes := <-a.answer:
		a.screen.show(working, "")
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (a *agent) isAsking() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

func (a *agent) setAsking(yes bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = yes
}

// describe tells what was submitted, so that a test can tell whether it came whole.
func describe(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return fmt.Sprintf("prompt: %d bytes, sha256 %x", len(prompt), sum[:8])
}
