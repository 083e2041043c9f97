package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

// Entry is one line of the log: an event of the control plane or a note of the log about itself.
type Entry struct {
	Seq   uint64          `json:"seq"` // counts from 1 without gaps, over all files
	Prev  string          `json:"prev"`
	Event *registry.Event `json:"event,omitempty"`
	Note  *Note           `json:"note,omitempty"`
	Hash  string          `json:"hash"`
}

// NoteKind says what the log has to tell about itself.
type NoteKind string

const (
	// NoteTorn: a crash left half a line at the end; its bytes were moved to File.
	NoteTorn NoteKind = "torn"
	// NoteDamaged: File was found changed from outside, and is left as it was found; or, without File, entry Seq no longer had Hash.
	NoteDamaged NoteKind = "damaged"
	// NoteMissing: the log ended before an entry that had been on disk; Seq is that entry's.
	NoteMissing NoteKind = "missing"
	// NoteDropped: the oldest file was removed, as Options.Keep says. Seq and Hash are its last entry's.
	NoteDropped NoteKind = "dropped"
	// NoteQuota: Grant reached its share of this hour. With Count set: that many of its calls went unrecorded, and so did not happen.
	NoteQuota NoteKind = "quota"
	// NoteFull: the disk was full, and ordinary calls were refused from here on.
	NoteFull NoteKind = "full"
	// NoteUnsynced: the disk failed to confirm the Count entries up to Seq; their calls may have been refused although they stand here.
	NoteUnsynced NoteKind = "unsynced"
	// NoteUnreadable is made by Tail in place of a line that it cannot read. It is never written.
	NoteUnreadable NoteKind = "unreadable"
)

// Note is what the log tells about itself. Which members are set depends on Kind.
type Note struct {
	Time  time.Time   `json:"time"`
	Kind  NoteKind    `json:"kind"`
	File  string      `json:"file,omitempty"`
	Seq   uint64      `json:"seq,omitempty"`
	Hash  string      `json:"hash,omitempty"`
	Grant ident.Grant `json:"grant,omitempty"`
	Count uint64      `json:"count,omitempty"`
}

// Time returns when the entry was made.
func (e Entry) Time() time.Time {
	switch {
	case e.Event != nil:
		return e.Event.Time
	case e.Note != nil:
		return e.Note.Time
	}
	return time.Time{}
}

// genesis stands for the hash before the first entry.
var genesis = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// The hash is the last member of a line, and is of all bytes before it. What is hashed is thus what is written, byte for byte:
// no second encoder has to agree on a canonical form, and `sha256sum` can check a line.
const (
	hashOpen  = `,"hash":"`
	hashClose = `"}`
)

// maxLine bounds a line in bytes when reading. The longest that seal makes is under 4 KiB (maxText each, JSON-escaped).
const maxLine = 16 << 10

// maxText bounds the free text of an event in bytes: what an outside client calls itself, and the rule that decided.
const maxText = 256

// seal returns the line of an entry with its newline, and the entry's hash.
//
// The line is built in room where it fits there.
func seal(room []byte, e Entry) (line []byte, hash string, err error) {
	body := strconv.AppendUint(append(room[:0], `{"seq":`...), e.Seq, 10)
	body = appendText(body, `,"prev":`, e.Prev)
	if e.Event != nil {
		short := *e.Event
		short.Caller, short.Why, short.ClientSays = shorten(short.Caller), shorten(short.Why), shorten(short.ClientSays)
		body = appendEvent(append(body, `,"event":`...), short)
	}
	if e.Note != nil {
		note, err := json.Marshal(e.Note)
		if err != nil {
			return nil, "", fmt.Errorf("encode entry: %w", err)
		}
		body = append(append(body, `,"note":`...), note...)
	}
	hash = digest(body)
	line = append(append(body, hashOpen...), hash...)
	return append(line, hashClose+"\n"...), hash, nil
}

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// link is what chains a line to its neighbours.
type link struct {
	seq        uint64
	prev, hash string // as the line declares them
	note       *Note
}

// errAltered: a line's content is not what its hash was made of.
var errAltered = errors.New("content does not match its hash")

// unseal reads a line without its newline. The link is usable with errAltered too; any other error means that the line is none of ours.
func unseal(line []byte) (link, error) {
	var e struct {
		Seq  uint64 `json:"seq"`
		Prev string `json:"prev"`
		Note *Note  `json:"note"`
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return link{}, fmt.Errorf("read entry: %w", err)
	}
	l := link{e.Seq, e.Prev, e.Hash, e.Note}
	body, ok := bytes.CutSuffix(line, []byte(hashOpen+e.Hash+hashClose))
	if !ok || e.Seq == 0 || len(e.Hash) != len(genesis) || len(e.Prev) != len(genesis) {
		return link{}, errors.New("not an entry")
	}
	if digest(body) != e.Hash {
		return l, errAltered
	}
	return l, nil
}
