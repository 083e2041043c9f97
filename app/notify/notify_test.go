package notify

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termic/app/settle"
)

// desk is a desktop of which a test moves the tabs and reads the notices.
type desk struct {
	*Watcher
	mu   sync.Mutex
	tabs map[string]Tab
	said []Notice
	off  bool
	gone bool // the window
	fail error
}

func (d *desk) set(id string, state settle.State) {
	d.mu.Lock()
	tab, there := d.tabs[id]
	if !there {
		tab = Tab{ID: id, Task: "task-" + id, Project: "shop", Agent: "Claude"}
	}
	tab.State, tab.Since = state, time.Now()
	d.tabs[id] = tab
	d.mu.Unlock()
	d.Poke()
}

func (d *desk) silence(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tab := d.tabs[id]
	tab.Silent = true
	d.tabs[id] = tab
}

func (d *desk) list() []Tab {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Tab
	for _, id := range []string{"a", "b", "c"} {
		if tab, there := d.tabs[id]; there {
			list = append(list, tab)
		}
	}
	return list
}

// after lets that much time pass and returns what was said in it.
func (d *desk) after(wait time.Duration) []string {
	time.Sleep(wait) // in a bubble of synctest: it waits for everybody else, and takes no time
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	var said []string
	for _, notice := range d.said {
		said = append(said, notice.Summary)
	}
	d.said = nil
	return said
}

func TestWhatThePersonIsTold(t *testing.T) {
	const told, passing = 2 * time.Second, 500 * time.Millisecond
	for name, c := range map[string]struct {
		do   func(d *desk)
		want []string
	}{
		"an agent that waits":            {func(d *desk) { d.set("a", settle.Waiting) }, []string{"task-a: Claude waits for you"}},
		"an agent that stopped":          {func(d *desk) { d.set("a", settle.Done) }, []string{"task-a: Claude has stopped"}},
		"an agent that ended":            {func(d *desk) { d.set("a", settle.Exited) }, []string{"task-a: Claude has ended"}},
		"one that began and waits":       {func(d *desk) { d.set("c", settle.Waiting) }, []string{"task-c: Claude waits for you"}},
		"one that was brought back":      {func(d *desk) { d.set("c", settle.Exited) }, nil},
		"one that began":                 {func(d *desk) { d.set("c", settle.Idle) }, nil},
		"one that ended when idle":       {func(d *desk) { d.set("b", settle.Exited) }, nil},
		"one that nobody can tell":       {func(d *desk) { d.set("a", settle.Unknown) }, nil},
		"a tab in view":                  {func(d *desk) { d.InView([]string{"a"}); d.set("a", settle.Waiting) }, nil},
		"a tab of a window that is gone": {func(d *desk) { d.InView([]string{"a"}); d.gone = true; d.set("a", settle.Waiting) }, []string{"task-a: Claude waits for you"}},
		"another tab than in view":       {func(d *desk) { d.InView([]string{"b"}); d.set("a", settle.Done) }, []string{"task-a: Claude has stopped"}},
		"one looked at in time":          {func(d *desk) { d.set("a", settle.Done); time.Sleep(passing); d.InView([]string{"a"}) }, nil},
		"one that goes on by itself":     {func(d *desk) { d.set("a", settle.Done); time.Sleep(passing); d.set("a", settle.Working) }, nil},
		"quiet hours":                    {func(d *desk) { d.off = true; d.set("a", settle.Waiting) }, nil},
		"a project without":              {func(d *desk) { d.silence("a"); d.set("a", settle.Waiting) }, nil},
		"two at once, in one notice":     {func(d *desk) { d.set("a", settle.Waiting); d.set("b", settle.Done) }, []string{"task-a and 1 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := begin(t)
				c.do(d)
				if got := d.after(told); strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("said %q, want %q", got, c.want)
				}
			})
		})
	}
}

// begin runs a watcher over a, which works, and b, which is idle.
func begin(t *testing.T) *desk {
	d := &desk{tabs: map[string]Tab{}}
	d.Watcher = New(Options{
		Tabs:   d.list,
		On:     func(time.Time) bool { return !d.off },
		Window: func() bool { return !d.gone },
		Send: func(_ context.Context, notice Notice) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.said = append(d.said, notice)
			return d.fail
		},
		Log: slog.New(slog.DiscardHandler),
	})
	d.set("a", settle.Working)
	d.set("b", settle.Idle)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); d.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	if said := d.after(time.Minute); said != nil {
		t.Fatalf("said at the beginning: %q", said)
	}
	return d
}

func TestNoticesKeepApartAndLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t)
		d.set("a", settle.Waiting)
		if got := d.after(2 * time.Second); len(got) != 1 {
			t.Fatalf("first: %q", got)
		}
		d.set("b", settle.Done)
		d.set("c", settle.Waiting)
		if got := d.after(5 * time.Second); got != nil {
			t.Errorf("too soon: %q", got)
		}
		if got := d.after(5 * time.Second); len(got) != 1 || got[0] != "task-b and 1 more" {
			t.Errorf("later: %q", got)
		}
		if got := d.after(time.Hour); got != nil {
			t.Errorf("said again: %q", got)
		}
	})
}

func TestAnAgentThatFlickersIsSaidOnceInTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t)
		n := 0
		for range 60 { // two minutes
			d.set("a", settle.Done)
			n += len(d.after(1800 * time.Millisecond))
			d.set("a", settle.Working)
			n += len(d.after(200 * time.Millisecond))
		}
		if n == 0 || n > 13 {
			t.Errorf("said %d times", n)
		}
	})
}

func TestADesktopThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t)
		calls := 0
		d.Send = func(ctx context.Context, _ Notice) error { // read by Run at the next notice, after a poke
			calls++
			<-ctx.Done()
			return ctx.Err()
		}
		start := time.Now()
		d.set("a", settle.Waiting)
		d.after(3 * time.Second)
		for range 1000 {
			d.Poke()
		}
		if time.Since(start) > 3*time.Second || calls != 1 {
			t.Errorf("%s, %d calls", time.Since(start), calls)
		}
		d.set("a", settle.Working)
		d.set("b", settle.Done)
		d.after(time.Minute)
		if calls != 2 || !d.failed {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestTheWordsAreOursAndTheAgentsTextIsHarmless(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for name, c := range map[string]struct{ title, want string }{
		"markup":             {`<b>x</b> <img src="http://x/">&`, `shop: &lt;b&gt;x&lt;/b&gt; &lt;img src=&#34;http://x/&#34;&gt;&amp;`},
		"controls and bidi":  {"a\x1b[31mb\x00\u202ec\u0085\nd", "shop: a[31mbc d"},
		"bytes of no letter": {"a\xff\xfeb", "shop: ab"},
		"too long":           {long, "shop: " + strings.Repeat("ä", 119) + "…"},
		"nothing":            {" \n ", "shop"},
	} {
		notice := words([]Tab{{Task: "fix-login", Project: "shop", Agent: "Claude Code", Title: c.title, State: settle.Waiting}})
		if notice.Summary != "fix-login: Claude Code waits for you" || notice.Body != c.want {
			t.Errorf("%s: %q, %q", name, notice.Summary, notice.Body)
		}
	}
	many := make([]Tab, 9)
	for i := range many {
		many[i] = Tab{Task: "t<", Agent: "Codex", State: settle.Done, Title: "secret"}
	}
	notice := words(many)
	if notice.Summary != "t< and 8 more" || strings.Count(notice.Body, "t&lt;: Codex has stopped\n") != 4 || !strings.HasSuffix(notice.Body, "and 5 more") || strings.Contains(notice.Body, "secret") {
		t.Errorf("%q", notice)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\x1b]0;b\a\u202e<")
	f.Fuzz(func(t *testing.T, text string) {
		got := plain(text)
		if len([]rune(got)) > maxText || strings.ContainsAny(got, "\x00\x07\x1b\n\r\u202e") {
			t.Errorf("%q", got)
		}
	})
}

var errFull = errors.New("full")

func TestAFailureIsForgottenWhenOneGoesOutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t)
		d.fail = errFull
		d.set("a", settle.Waiting)
		d.after(20 * time.Second)
		if !d.failed {
			t.Fatal("not seen to fail")
		}
		d.fail = nil
		d.set("a", settle.Done)
		if got := d.after(20 * time.Second); len(got) != 1 || d.failed {
			t.Errorf("%q, %v", got, d.failed)
		}
	})
}
