package git

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// steps are the progress of git that is passed on, in our words. The words are git's with LC_ALL=C.
var steps = map[string]string{
	"Updating files":    "checking out",
	"Filtering content": "filtering",
	"Receiving objects": "fetching",
	"Resolving deltas":  "unpacking what was fetched",
}

// progressRE is one line of git's progress: "Updating files:  42% (420/1000)", with more behind it for what is received.
var progressRE = regexp.MustCompile(`^([A-Z][a-z]+ [a-z]+): +([0-9]{1,3})% \(([0-9]{1,12})/([0-9]{1,12})\)`)

// maxProgressLine bounds a line that never ends.
const maxProgressLine = 4 << 10

// progressEnv makes git say nothing of what takes less than a second.
const progressEnv = "GIT_PROGRESS_DELAY=1"

// progressLines stands before what keeps git's messages: it passes progress on and takes it out, so that it does not push the
// message out that says why git failed. A line that git means to draw over, which ends in a carriage return, is no message.
type progressLines struct {
	to   io.Writer
	say  func(text string)
	part []byte // of a line that has not ended
}

func (w *progressLines) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		end := bytes.IndexAny(w.part, "\r\n")
		if end < 0 {
			break
		}
		if err := w.line(w.part[:end], w.part[end]); err != nil {
			return 0, err
		}
		w.part = w.part[end+1:]
	}
	if len(w.part) > maxProgressLine {
		if err := w.rest(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (w *progressLines) line(line []byte, end byte) error {
	if text := progressText(line); text != "" {
		w.say(text)
		return nil
	}
	if end == '\r' {
		return nil
	}
	_, err := w.to.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// rest passes on a line that did not end.
func (w *progressLines) rest() error {
	_, err := w.to.Write(w.part)
	w.part = nil
	return err
}

// progressText returns a line of git's progress in our words, "" for any other line.
func progressText(line []byte) string {
	m := progressRE.FindSubmatch(line)
	if m == nil {
		return ""
	}
	what, ok := steps[string(m[1])]
	percent, err := strconv.Atoi(string(m[2]))
	if !ok || err != nil || percent > 100 {
		return ""
	}
	things := "objects"
	if what == "checking out" || what == "filtering" {
		things = "files"
	}
	return what + ": " + strconv.Itoa(percent) + "% (" + string(m[3]) + " of " + string(m[4]) + " " + things + ")"
}
