package settle

import (
	"strings"
	"testing"
)

func bottomOf(cols int, text string) string {
	rows := strings.Split(text, "\n")
	return Bottom(len(rows), cols, func(y int) string { return rows[y] })
}

func TestBottomIsTheSameAtAnyWidth(t *testing.T) {
	wide := bottomOf(110, "│ Do you want to proceed?   │\n│ ❯ 1. Yes  │\n│   2. No  │\n╰──────╯\n\n")
	narrow := bottomOf(12, "Do you want\nto proceed?\n❯ 1. Yes\n2. No\n")
	if want := "Do you want to proceed? ❯ 1. Yes 2. No"; wide != want || narrow != want {
		t.Errorf("wide %q, narrow %q", wide, narrow)
	}
}

func TestBottomLeavesOutWhatIsAbove(t *testing.T) {
	text := "far above\n" + strings.Repeat("x\n", bottomRows)
	if strings.Contains(bottomOf(80, text), "far above") {
		t.Error("row 15 from below was read at 80 columns")
	}
	if !strings.Contains(bottomOf(40, text), "far above") {
		t.Error("row 15 from below was not read at 40 columns")
	}
}

func TestScreenRules(t *testing.T) {
	rules := ScreenRules{
		Permission: MustPatterns(`Do you want to [^❯]*❯ 1\. Yes`), Question: MustPatterns(`Esc to cancel$`),
		Working: MustPatterns(`esc to interrupt`), Idle: MustPatterns(`❯`), Background: MustPatterns(`(\d+) shells? running`),
	}
	for text, want := range map[string]Seen{
		"Do you want to proceed? ❯ 1. Yes 2. No": {State: Waiting, Kind: "permission"},
		"Which? ❯ 1. Red Esc to cancel":          {State: Waiting, Kind: "question"},
		"Esc to cancel ❯ type here":              {State: Idle},
		"✻ Baking · esc to interrupt ❯":          {State: Working},
		"❯ 3 shells running":                     {State: Idle, Background: 3},
		"$ ":                                     {},
	} {
		if got := rules.Read(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzBottom(f *testing.F) {
	f.Add("│ a  b │\n❯", 80)
	f.Fuzz(func(t *testing.T, text string, cols int) {
		got := bottomOf(cols, text)
		if strings.Contains(got, "  ") || strings.ContainsAny(got, "─│█") || strings.HasPrefix(got, " ") {
			t.Fatalf("%q", got)
		}
	})
}
