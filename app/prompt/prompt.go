// Package prompt is the library of saved prompts: those that come with the program, and the person's own, each a Markdown file.
package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/app/safefile"
)

// Prompt is one saved prompt.
type Prompt struct {
	ID, Name, Description, Text string
	// Agents tells that agents in cages may see and use it. The zero value keeps it to the person.
	Agents bool
	// Builtin tells that it comes with the program.
	Builtin bool
}

// What callers tell apart.
var (
	// ErrUnknown: there is no such prompt.
	ErrUnknown = errors.New("no such prompt")
	// ErrInvalid: a file is no prompt.
	ErrInvalid = errors.New("no prompt")
)

// Bounds of the person's own.
const (
	maxFile    = 256 << 10 // bytes of one file; the longest prompt is 1 MiB, and this is to be read by people
	maxPrompts = 256       // more cannot be chosen from
	maxName    = 64        // characters
	maxAbout   = 200       // characters of a description
)

// suffix is what files of prompts end in.
const suffix = ".md"

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,59}$`)

// Library is the prompts of one directory, and the built-in ones. Files are read anew at each call: they are few, and the person edits
// them with any editor. It is safe for concurrent use.
type Library struct{ dir string }

// New returns the library of a directory, which need not be there.
func New(dir string) *Library { return &Library{dir} }

// Dir returns where the person's own are.
func (l *Library) Dir() string { return l.dir }

// List returns all prompts by id, the person's in the place of a built-in one of the same id; and the files that are none, with why.
func (l *Library) List() (prompts []Prompt, faults []error) {
	prompts = Builtin()
	dir, err := safefile.Hold(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return prompts, nil
	}
	if err != nil {
		return prompts, []error{fmt.Errorf("open prompts: %w", err)}
	}
	defer dir.Close()
	entries, more, err := dir.List(maxPrompts)
	if err != nil {
		return prompts, []error{fmt.Errorf("list prompts: %w", err)}
	}
	if more {
		faults = append(faults, fmt.Errorf("more than %d files: the rest is left out: %w", maxPrompts, ErrInvalid))
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name, suffix)
		if !ok || strings.HasPrefix(entry.Name, ".") {
			continue // an editor's
		}
		prompt, err := read(dir, id)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if i := slices.IndexFunc(prompts, func(p Prompt) bool { return p.ID == id }); i >= 0 {
			prompts[i] = prompt
		} else {
			prompts = append(prompts, prompt)
		}
	}
	slices.SortFunc(prompts, func(a, b Prompt) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return prompts, faults
}

// Get returns one prompt; forAgents only one that agents may see. What they may not see is as if it were not.
func (l *Library) Get(id string, forAgents bool) (Prompt, error) {
	prompts, _ := l.List()
	for _, p := range prompts {
		if p.ID == id && (p.Agents || !forAgents) {
			return p, nil
		}
	}
	return Prompt{}, ErrUnknown
}

// Compose returns a prompt with a text of the sender's own below it.
func Compose(saved, own string) string {
	if strings.TrimSpace(own) == "" {
		return saved
	}
	if saved == "" {
		return own
	}
	return strings.TrimRight(saved, "\n") + "\n\n" + own
}

// read reads one file: a regular one, in the directory itself, bounded.
func read(dir *safefile.Dir, id string) (Prompt, error) {
	name := show(id) + suffix
	if !idPattern.MatchString(id) {
		return Prompt{}, fmt.Errorf("%s: name a prompt with a-z, 0-9 and hyphen, 60 at most: %w", name, ErrInvalid)
	}
	data, err := dir.Read(id+suffix, maxFile)
	if err != nil {
		return Prompt{}, fmt.Errorf("%s: %w", name, err)
	}
	prompt, err := Parse(id, data)
	if err != nil {
		return Prompt{}, fmt.Errorf("%s: %w", name, err)
	}
	return prompt, nil
}

// show is a file's name as it may be printed.
func show(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	runes := []rune(clean)
	return string(runes[:min(len(runes), maxName)])
}

// Parse reads a file: front matter between two lines of three hyphens (name, description, agents: yes or no; all of it may be left
// out), then the text. What is not understood is an error, so that no misspelt "agents" counts as anything.
func Parse(id string, data []byte) (Prompt, error) {
	prompt := Prompt{ID: id, Name: id}
	if !utf8.Valid(data) {
		return prompt, fmt.Errorf("not UTF-8: %w", ErrInvalid)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		head, body, closed := strings.Cut("\n"+rest, "\n---\n")
		if !closed {
			return prompt, fmt.Errorf("the front matter does not end: %w", ErrInvalid)
		}
		if err := prompt.head(head); err != nil {
			return prompt, err
		}
		text = body
	}
	if prompt.Text = strings.TrimSpace(text); prompt.Text == "" {
		return prompt, fmt.Errorf("no text: %w", ErrInvalid)
	}
	if strings.ContainsFunc(prompt.Text, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
		return prompt, fmt.Errorf("control characters in the text: %w", ErrInvalid)
	}
	return prompt, nil
}

// head reads the front matter.
func (p *Prompt) head(head string) error {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(head, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)
		if !ok || seen[key] {
			return fmt.Errorf("front matter: %q is no line of its own: %w", show(line), ErrInvalid)
		}
		seen[key] = true
		if err := p.set(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prompt) set(key, value string) error {
	plain := func(most int) error {
		if value == "" || utf8.RuneCountInString(value) > most || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("front matter: %s is 1 to %d printable characters: %w", key, most, ErrInvalid)
		}
		return nil
	}
	switch key {
	case "name":
		p.Name = value
		return plain(maxName)
	case "description":
		p.Description = value
		return plain(maxAbout)
	case "agents":
		p.Agents = value == "yes"
		if value != "yes" && value != "no" {
			return fmt.Errorf("front matter: agents is yes or no: %w", ErrInvalid)
		}
		return nil
	}
	return fmt.Errorf("front matter: %q is none of name, description, agents: %w", show(key), ErrInvalid)
}
