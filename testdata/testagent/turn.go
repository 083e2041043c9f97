package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// runPrompt does what a prompt says.
func (a *agent) runPrompt(ctx context.Context, prompt string) outcome {
	a.screen.show(working, "")
	a.screen.print(describe(prompt))
	list, err := parsePrompt(prompt)
	if err != nil {
		return outcome{err: err}
	}
	for _, d := range list {
		if ctx.Err() != nil {
			return outcome{err: ctx.Err()}
		}
		if d.verb == "exit" {
			return outcome{exit: &d.n}
		}
		more, err := a.do(ctx, d)
		if err != nil || !more {
			return outcome{err: err}
		}
	}
	return outcome{}
}

// do does one directive and says whether the turn goes on.
func (a *agent) do(ctx context.Context, d directive) (more bool, err error) {
	switch d.verb {
	case "say":
		text, err := a.kept.fillText(d.text)
		if err == nil {
			a.screen.print(text)
		}
		return true, err
	case "work":
		return true, wait(ctx, d.time)
	case "write":
		return true, a.write(d)
	case "ask":
		yes, err := a.ask(ctx, d.text)
		if err == nil {
			a.screen.print("answer: " + map[bool]string{true: "yes", false: "no"}[yes])
		}
		return yes, err
	case "call":
		return true, a.call(ctx, d)
	case "tools":
		names, err := a.endpoint.tools(ctx)
		if err == nil {
			a.screen.print("tools -> " + strings.Join(names, " "))
		}
		return true, err
	case "env":
		for _, line := range describeEnv(os.Environ()) {
			a.screen.print(line)
		}
	case "flood":
		return true, a.flood(ctx, d.n)
	case "split":
		a.screen.raw(func() { time.Sleep(50 * time.Millisecond) }, "cleanup \xe2", "\x80\x94 end")
	case "background":
		a.background(d.time)
	}
	return true, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *agent) write(d directive) error {
	text, err := a.kept.fillText(d.text)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(d.path) {
		return fmt.Errorf("write %s: not below the current directory", d.path)
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(d.path, []byte(text+"\n"), 0o644); err != nil {
		return err
	}
	a.screen.print("wrote " + d.path)
	return nil
}

// call calls a tool. A refusal is an answer: it is printed and the turn goes on.
func (a *agent) call(ctx context.Context, d directive) error {
	args, err := a.kept.fill(d.args)
	if err != nil {
		return err
	}
	result, err := a.endpoint.call(ctx, d.tool, args)
	var refused *toolError
	switch {
	case errors.As(err, &refused):
		a.screen.print(d.tool + " -> error " + refused.text)
		return nil
	case err != nil:
		return fmt.Errorf("call %s: %w", d.tool, err)
	}
	a.screen.print(d.tool + " -> " + string(result))
	if d.keep == "" {
		return nil
	}
	var value any
	if err := json.Unmarshal(result, &value); err != nil {
		return err
	}
	a.kept[d.keep] = value
	return nil
}

// describeEnv returns a line for each variable, sorted by name. The token's value is in none.
func describeEnv(env []string) []string {
	var lines []string
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		switch {
		case key == "TERMIC_MCP_TOKEN":
			lines = append(lines, fmt.Sprintf("env %s (%d bytes)", key, len(value)))
		case strings.HasPrefix(key, "TERMIC_"):
			lines = append(lines, "env "+key+"="+value)
		default:
			lines = append(lines, "env "+key)
		}
	}
	slices.Sort(lines)
	return lines
}

// flood prints n bytes: lines of 64, line ends counted.
func (a *agent) flood(ctx context.Context, n int) error {
	const line = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\r\n" // 64 bytes
	block := strings.Repeat(line, 1024)
	for n > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		part := block[:min(n, len(block))]
		a.screen.raw(nil, part)
		n -= len(part)
	}
	return nil
}

// background starts something that outlives the turn.
func (a *agent) background(d time.Duration) {
	a.screen.background(1)
	go func() {
		time.Sleep(d)
		a.screen.print("background: finished")
		a.screen.background(-1)
	}()
}
