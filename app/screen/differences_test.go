package screen

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the two terminals do into testdata/differences.json; look at the diff")

// difference is one thing on which terminals disagree: what each of three does with the same input. Ours and XtermJS are
// compared with what they do now; Xterm is xterm 379 of Debian 12, asked on 2026-11-29 for its cells (DECRQCRA) and answers.
type difference struct {
	Name    string  `json:"name"`
	W       int     `json:"w"`
	H       int     `json:"h"`
	In      string  `json:"in"`
	Ours    outcome `json:"ours"`
	XtermJS outcome `json:"xterm.js"`
	Xterm   outcome `json:"xterm"`
}

// outcome is what a person or a program would notice.
type outcome struct {
	Rows    []string `json:"rows"` // without blanks and blank rows at the end
	X       int      `json:"x"`
	Y       int      `json:"y"`
	Answers string   `json:"answers,omitempty"`
}

const differencesFile = "testdata/differences.json"

// TestKnownDifferences pins each difference, so that one that goes away, here or in a new version of xterm.js, is noticed.
func TestKnownDifferences(t *testing.T) {
	data, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []difference
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var inputs []trial
	for _, d := range list {
		inputs = append(inputs, written(d.W, d.H, d.In))
	}
	asked(t, inputs, func(i int, v verdict) {
		d := &list[i]
		if v.Error != "" {
			t.Fatalf("%s: xterm.js threw %s", d.Name, v.Error)
		}
		ours, theirs := noticed(inputs[i].run()[0], d.W), noticed(v.Looks[0], d.W)
		if *update {
			d.Ours, d.XtermJS = ours, theirs
			return
		}
		t.Run(d.Name, func(t *testing.T) {
			if !reflect.DeepEqual(ours, d.Ours) {
				t.Errorf("ours\n got %+v\nwant %+v", ours, d.Ours)
			}
			if !reflect.DeepEqual(theirs, d.XtermJS) {
				t.Errorf("xterm.js\n got %+v\nwant %+v", theirs, d.XtermJS)
			}
			if reflect.DeepEqual(d.Ours, d.XtermJS) && reflect.DeepEqual(d.Ours, d.Xterm) {
				t.Error("nobody differs")
			}
		})
	})
	if !*update {
		return
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = os.WriteFile(differencesFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedDifferences: the page for people names each of them.
func TestDocumentedDifferences(t *testing.T) {
	page, err := os.ReadFile("../../docs/terminals.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []difference
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if !strings.Contains(string(page), d.Name) {
			t.Errorf("docs/terminals.md does not say: %s", d.Name)
		}
	}
}

func noticed(v view, cols int) outcome {
	o := outcome{X: min(v.X, cols-1), Y: v.Y, Rows: []string{}}
	for _, r := range v.Rows {
		var b strings.Builder
		for i := 0; i < len(r.Cells); i += 2 {
			text := r.Cells[i]
			if text == "" {
				text = " "
			}
			b.WriteString(text)
		}
		o.Rows = append(o.Rows, strings.TrimRight(b.String(), " "))
	}
	for len(o.Rows) > 0 && o.Rows[len(o.Rows)-1] == "" {
		o.Rows = o.Rows[:len(o.Rows)-1]
	}
	answers, err := base64.StdEncoding.DecodeString(v.Answers)
	if err != nil {
		panic(err) // it is our own, or the oracle's, which is tested by every trial
	}
	o.Answers = string(answers)
	return o
}
