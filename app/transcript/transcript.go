//go:build unix

// Package transcript reads an agent's last message from the file in which the agent keeps its session. Agents write these files, caged
// ones too: what is opened lies beneath a directory that the caller chose and holds, is a regular file, is bounded, and is somebody
// else's word.
package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"termic/app/safefile"
)

// What callers tell apart.
var (
	// ErrNone: there is no transcript of that session, or no message in it.
	ErrNone = errors.New("no transcript of the session with a message of the agent")
	// ErrKind: nothing is known of where this agent keeps its sessions.
	ErrKind = errors.New("no transcript is known of this agent")
)

// Bounds. What is read is the end of the file: the last message is there.
const (
	maxTail    = 32 << 20 // bytes of a file that are looked at; a session of a day has some 10 MB
	maxEntries = 20_000   // names of one directory
	maxDirs    = 4096     // directories that are looked into
)

// MaxMessage is the longest message that is returned whole, in bytes.
const MaxMessage = 1 << 20

// Kinds of transcripts, named as agent.Cage.State is.
const (
	Claude = "claude" // projects/*/ID.jsonl in its configuration directory
	Codex  = "codex"  // sessions/YEAR/MONTH/DAY/rollout-*-ID.jsonl in CODEX_HOME
	Gemini = "gemini" // tmp/*/chats/session-*-ID8.jsonl in .gemini
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{7,127}$`)

// Convention says in words where the agent keeps its sessions, for whoever looks there.
func Convention(kind string) string {
	switch kind {
	case Claude:
		return "projects/<directory>/<session>.jsonl in Claude Code's configuration directory"
	case Codex:
		return "sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl in CODEX_HOME"
	case Gemini:
		return "tmp/<project>/chats/session-<time>-<id>.jsonl in .gemini"
	case "opencode":
		return "a database: ask `opencode export <session>` in a tab of the task"
	}
	return "nowhere that termic knows"
}

// Last returns the agent's last message of a session, exactly as it stands there. root is the agent's state directory. The error wraps
// ErrNone or ErrKind, or is that of the disk, or of ctx: what may be long is given up when its caller is gone.
func Last(ctx context.Context, root *safefile.Dir, kind, session string) (string, error) {
	find, read := ways(kind)
	if find == nil {
		return "", fmt.Errorf("%s: %w", kind, ErrKind)
	}
	if !idPattern.MatchString(session) {
		return "", fmt.Errorf("%.40q is no session id: %w", session, ErrNone)
	}
	name, err := find(ctx, root, session)
	if err != nil {
		return "", err
	}
	file, info, err := root.Open(name)
	if err != nil {
		return "", fmt.Errorf("open transcript: %w", err)
	}
	defer file.Close()
	return lastIn(ctx, file, info.Size(), read)
}

type (
	finder func(ctx context.Context, root *safefile.Dir, session string) (name string, err error)
	// reader returns the text of one line, if it is of a message of the agent's. Lines with the same id are one message.
	reader func(line []byte) (text, id string, ok bool)
)

func ways(kind string) (finder, reader) {
	switch kind {
	case Claude:
		return below("projects", func(session string) string { return "*/" + session + ".jsonl" }), claudeLine
	case Codex:
		return below("sessions", func(session string) string { return "*/*/*/rollout-*-" + session + ".jsonl" }), codexLine
	case Gemini:
		return below("tmp", func(session string) string { return "*/chats/session-*-" + session[:8] + ".jsonl" }), geminiLine
	}
	return nil, nil
}

// below finds the last name beneath dir that matches a pattern, component by component, and follows nothing.
func below(dir string, pattern func(session string) string) finder {
	return func(ctx context.Context, root *safefile.Dir, session string) (string, error) {
		budget := maxDirs
		name, err := search(ctx, root, dir, pattern(session), &budget)
		if errors.Is(err, os.ErrNotExist) || err == nil && name == "" {
			return "", ErrNone
		}
		return name, err
	}
}

func search(ctx context.Context, root *safefile.Dir, dir, pattern string, budget *int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("look for transcript: %w", err)
	}
	if *budget--; *budget < 0 {
		return "", nil
	}
	first, rest, deeper := strings.Cut(pattern, "/")
	held, err := root.Dir(dir)
	if err != nil {
		return "", err
	}
	entries, _, err := held.List(maxEntries)
	held.Close()
	if err != nil {
		return "", err
	}
	// The latest first: names of dates and times are in order.
	slices.SortFunc(entries, func(a, b safefile.Entry) int { return strings.Compare(b.Name, a.Name) })
	for _, entry := range entries {
		if ok, err := path.Match(first, entry.Name); err != nil || !ok {
			continue
		}
		name := dir + "/" + entry.Name
		switch {
		case !deeper && entry.Type.IsRegular():
			return name, nil
		case deeper && entry.Type.IsDir():
			// What may not be entered, or is gone, is somewhere that the session is not.
			if found, err := search(ctx, root, name, rest, budget); err == nil && found != "" {
				return found, nil
			}
		}
	}
	return "", ctx.Err()
}

// lastIn reads the end of a file line by line and returns the last message.
func lastIn(ctx context.Context, file *os.File, size int64, read reader) (string, error) {
	if size > maxTail {
		if _, err := file.Seek(size-maxTail, io.SeekStart); err != nil {
			return "", fmt.Errorf("read transcript: %w", err)
		}
	}
	lines := bufio.NewReaderSize(io.LimitReader(while{ctx, file}, maxTail), 64<<10)
	var last []byte // joined in place: a file may be one message in a million lines
	lastID, found := "", false
	for {
		line, err := lines.ReadBytes('\n')
		if text, id, ok := read(bytes.TrimSpace(line)); ok {
			if id != "" && id == lastID {
				last = append(last, '\n')
			} else {
				last = last[:0]
			}
			last, lastID, found = append(last, text...), id, true
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read transcript: %w", err)
		}
	}
	if !found {
		return "", ErrNone
	}
	return string(last), nil
}

// while reads for as long as its context lasts. It is asked for 64 KiB at most, so that much is read after the end.
type while struct {
	ctx  context.Context
	file io.Reader
}

func (w while) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.file.Read(p)
}

// claudeLine: each block of an answer is a line of its own, and those of one answer have the same message id. Lines of sub-agents are
// marked (2.1.332, tried 2026-11-29).
func claudeLine(line []byte) (text, id string, ok bool) {
	var in struct {
		Type      string `json:"type"`
		Sidechain bool   `json:"isSidechain"`
		Message   struct {
			ID      string          `json:"id"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &in) != nil || in.Type != "assistant" || in.Sidechain {
		return "", "", false
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(in.Message.Content, &blocks) != nil {
		return "", "", false
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n"), in.Message.ID, len(parts) > 0
}

// codexLine: the end of a turn holds its last message (0.171.0, tried 2026-11-29).
func codexLine(line []byte) (text, id string, ok bool) {
	var in struct {
		Type    string `json:"type"`
		Payload struct {
			Type string  `json:"type"`
			Last *string `json:"last_agent_message"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &in) != nil || in.Type != "event_msg" || in.Payload.Type != "task_complete" || in.Payload.Last == nil {
		return "", "", false
	}
	return *in.Payload.Last, "", true
}

// geminiLine: messages are lines with a type and a content, which is text or parts; a line may repeat one that has grown (0.61.0, read
// 2026-11-29).
func geminiLine(line []byte) (text, id string, ok bool) {
	var in struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(line, &in) != nil || in.Type != "gemini" {
		return "", "", false
	}
	if json.Unmarshal(in.Content, &text) == nil {
		return text, "", text != ""
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(in.Content, &parts) != nil {
		return "", "", false
	}
	for _, p := range parts {
		text += p.Text
	}
	return text, "", text != ""
}
