package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// directive is one line of a prompt. The zero verb is text that is no directive.
type directive struct {
	verb string // say work write ask call tools env flood split background exit
	text string // say, write, ask
	path string // write
	time time.Duration
	n    int    // flood, exit
	tool string // call
	args any    // call: decoded JSON
	keep string // call: the name of let
}

var letPattern = regexp.MustCompile(`^let ([a-z][a-z0-9]*) = (call .*)$`)

// parsePrompt reads a prompt. A line that begins with a directive's word and is not one is an error.
func parsePrompt(prompt string) ([]directive, error) {
	var list []directive
	for line := range strings.SplitSeq(prompt, "\n") {
		d, err := parseLine(strings.TrimRight(line, " \t\r"))
		if err != nil {
			return nil, fmt.Errorf("%.60q: %w", line, err)
		}
		if d.verb != "" {
			list = append(list, d)
		}
	}
	return list, nil
}

func parseLine(line string) (directive, error) {
	keep := ""
	if m := letPattern.FindStringSubmatch(line); m != nil {
		keep, line = m[1], m[2]
	}
	verb, rest, _ := strings.Cut(line, " ")
	d := directive{verb: verb, keep: keep}
	var err error
	switch verb {
	case "say", "ask":
		d.text = rest
	case "write":
		d.path, d.text, _ = strings.Cut(rest, " ")
		if d.path == "" {
			err = fmt.Errorf("write wants PATH TEXT")
		}
	case "work", "background":
		d.time, err = time.ParseDuration(rest)
	case "flood", "exit":
		d.n, err = strconv.Atoi(rest)
	case "call":
		var text string
		d.tool, text, _ = strings.Cut(rest, " ")
		if d.tool == "" {
			return d, fmt.Errorf("call wants VERB JSON")
		}
		if text == "" {
			text = "{}"
		}
		err = json.Unmarshal([]byte(text), &d.args)
	case "tools", "env", "split":
		if rest != "" {
			return directive{}, nil // a sentence that happens to begin with the word
		}
	default:
		return directive{}, nil
	}
	return d, err
}
