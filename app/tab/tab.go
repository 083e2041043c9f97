// Package tab runs terminals: one process on a pseudo-terminal each, its screen, its state, the texts that
// wait for it, and everyone who watches it.
package tab

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"termic/app/agent"
	"termic/app/hook"
	"termic/app/osc"
	"termic/app/pty"
	"termic/app/screen"
	"termic/app/settle"
	"termic/registry/ident"
)

// Spec is what a tab is started with.
type Spec struct {
	ID   ident.Tab
	Task ident.Task
	Name string
	// Agent is how the program is typed at and how its state is read.
	Agent agent.Definition
	// Argv is the program by its absolute path, and its arguments. Env is its whole environment.
	Argv []string
	Env  []string
	Dir  string
	Size pty.Size
	// Start puts the program on a terminal in the task's cage. Nil starts it outside any: whoever makes a Spec says
	// which, and a cage that fails is an error, never the other way.
	Start func(Spec) (*pty.Session, error)
	// Scrollback is how many lines above the screen are kept.
	Scrollback int
	// Version is what the terminal says of itself to programs that ask.
	Version string
	// Prompted tells that Argv already holds a prompt.
	Prompted bool
	// Before is what a tab showed whose place it takes; its own output comes below.
	Before Saved
	// Hooks tells that Argv makes the agent's hooks report to this terminal; they find the nonce in its environment.
	Hooks bool
	// Conversation is the agent's id of the session that Argv begins or goes on with, or empty; Resumed tells that it goes on.
	Conversation string
	Resumed      bool
	// Changed, when set, is called when the state or the queue changed. The tab is locked meanwhile: it must
	// neither block nor ask the tab.
	Changed func()
	// Printed, when set, is called when the program prints something for the first time, and for the first time after each Save. The tab
	// is locked meanwhile, as for Changed.
	Printed func()
	// Queue are texts that waited in an earlier run, with their senders' right to send.
	Queue []Queued
	// Keep, when set, keeps the queue on disk.
	Keep func([]Queued) error
	// Opener is the task whose token opened it; empty when the person or an outside client did.
	Opener ident.Task
	// Outside tells that its program is in no cage, although its task has one.
	Outside bool
}

// Info is a tab at one moment.
type Info struct {
	ID     ident.Tab
	Name   string
	Agent  string
	Shell  bool
	State  settle.State
	Signal settle.Signal
	Since  time.Time
	Queued int
	// Dropped counts the queued texts that were not delivered because their sender might no longer send.
	Dropped int
	Title   string
	// Dir is the directory below the checkout that the program says it is in, "." for the checkout itself; empty when it says none, or
	// one elsewhere. It is a claim, to be shown only.
	Dir string
	// Guess tells that the state is inferred from something that was not made to carry one.
	Guess bool
	// Exit is how the process ended; its zero value while it runs.
	Exit pty.ExitStatus
	// Opener and Outside are as in Spec.
	Opener  ident.Task
	Outside bool
}

// Tab is a running (or ended) terminal. It is safe for concurrent use.
type Tab struct {
	spec    Spec
	session *pty.Session // nil in a restored tab: nothing runs in it
	log     func(msg string, args ...any)

	// input orders everything that is typed: the person's keys, pastes, answers of the terminal. It is held
	// over the whole of a delivery, so that nothing comes between a text and its Enter. Taken before mu.
	input sync.Mutex
	// keep orders the changes of the queue, on disk and in memory. Taken before mu.
	keep sync.Mutex

	mu       sync.Mutex // guards everything below
	screen   *screen.Screen
	machine  *settle.Machine
	tick     *time.Timer
	changed  chan struct{} // closed and replaced when the state, the queue or the failure changes
	watchers map[*Watcher]struct{}
	pacer    *pacer
	queue    []Queued
	past     []Past             // what became of the last texts
	busy     bool               // a text is being delivered
	current  ident.Text         // which
	doubt    bool               // nothing told whether the last text was taken
	reports  uint64             // prompts that the agent had reported when the last text was typed
	keys     keys               // what the person typed
	resting  *screen.CursorLine // where a program without a known box is typed at
	rest     time.Time          // before which no queued text is typed
	printed  time.Time          // when output came last
	dropped  int                // texts that waited and were not delivered
	seq      uint64             // deliveries begun
	output   uint64             // bytes read so far
	prompts  bool               // the shell has shown that it switches bracketed paste on at its prompt
	failed   error              // why the last text did not arrive; cleared by the next
	exit     pty.ExitStatus
	replies  chan []byte
	nonce    string     // with which the agent's hooks report; empty: they do not
	claims   *osc.Taker // takes their reports out of the output; nil without a nonce
	hooks    hook.Tracker
	epoch    string        // of the marks of its log
	dir      string        // as in Info
	offer    string        // the last text for the clipboard that nobody has answered, as OSC 52 carries it
	told     int           // reports of the agent's hooks
	strays   int           // reports without the nonce, or that were none
	unseen   bool          // the screen has changed since it was read
	unsaved  bool          // it has printed something since Save
	seen     time.Time     // when it was read
	saved    Saved         // what a restored tab was made from; never changed
	ended    chan struct{} // closed when the process has ended and its output is read
}

// maxReplies is how many answers of the terminal (cursor position and the like) may wait for a program that
// does not read them. More are dropped: a program that asks without reading cannot make us keep its answers.
const maxReplies = 64

// Open starts the program of spec on a terminal of its own.
func Open(spec Spec, log func(msg string, args ...any)) (*Tab, error) {
	if spec.Start == nil {
		spec.Start = startOutside
	}
	t := &Tab{
		spec: spec, log: log,
		machine:  settle.New(spec.Agent.Settle),
		changed:  make(chan struct{}),
		watchers: map[*Watcher]struct{}{},
		pacer:    newPacer(),
		replies:  make(chan []byte, maxReplies),
		ended:    make(chan struct{}),
		queue:    spec.Queue,
		epoch:    newEpoch(),
	}
	t.machine.Observe(settle.Observation{Kind: settle.KindTick, At: time.Now()}) // it is starting since now
	t.screen = t.newScreen()
	spec.Before.draw(t.screen)
	t.tick = time.AfterFunc(time.Hour, t.onTick)
	t.tick.Stop()
	if spec.Hooks {
		spec.Env = append(slices.Clip(spec.Env), hook.EnvNonce+"="+t.hear())
	}
	session, err := spec.Start(spec)
	if err != nil {
		return nil, fmt.Errorf("open tab: %w", err)
	}
	t.session = session
	t.mu.Lock()
	if spec.Prompted {
		t.seq = 1
		t.observe(settle.Observation{Kind: settle.KindDelivered, Seq: t.seq})
	}
	t.arm()
	t.mu.Unlock()
	go t.answer()
	go t.run()
	go t.pump()
	return t, nil
}

// newScreen returns the screen of the tab's terminal, which tells it what programs say of themselves.
func (t *Tab) newScreen() *screen.Screen {
	return screen.New(screen.Options{
		Cols: int(t.spec.Size.Cols), Rows: int(t.spec.Size.Rows), Scrollback: t.spec.Scrollback,
		Version: t.spec.Version, Reply: t.reply, Events: t.events(),
	})
}

// startOutside runs the program as the person's own shell would.
func startOutside(spec Spec) (*pty.Session, error) {
	terminal, err := pty.Open(spec.Size)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	env := spec.Env
	if spec.Hooks {
		env = append(slices.Clip(env), hook.EnvTTY+"="+terminal.Name())
	}
	return terminal.Start(&exec.Cmd{Path: spec.Argv[0], Args: spec.Argv, Env: env, Dir: spec.Dir})
}

// Pid returns the process id of the tab's program, which is also the id of its session; 0 when it is not known.
func (t *Tab) Pid() int {
	if t.session == nil {
		return 0
	}
	return t.session.Pid()
}

// ID returns the tab's id.
func (t *Tab) ID() ident.Tab { return t.spec.ID }

// Info returns what there is to say of the tab now.
func (t *Tab) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, signal, since := t.machine.State()
	queued := len(t.queue)
	if t.busy && !slices.ContainsFunc(t.queue, func(q Queued) bool { return q.ID == t.current }) {
		queued++
	}
	return Info{
		ID: t.spec.ID, Name: t.spec.Name, Agent: t.spec.Agent.ID, Shell: t.spec.Agent.Shell,
		State: state, Signal: signal, Since: since, Guess: signal.Guess() || t.blind(signal), Queued: queued, Title: t.screen.Title(), Dir: t.dir, Exit: t.exit,
		Dropped: t.dropped, Opener: t.spec.Opener, Outside: t.spec.Outside,
	}
}

// Log returns the last lines of the terminal as text, scrollback included, and whether there are earlier ones.
func (t *Tab) Log(lines int) (text string, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tail(lines)
}

// Type hands over the person's keys as they are. It waits for a delivery under way, and gives up when the
// program does not read.
func (t *Tab) Type(ctx context.Context, keys []byte) error {
	t.input.Lock()
	defer t.input.Unlock()
	t.mu.Lock()
	if state, _, _ := t.machine.State(); state == settle.Waiting {
		t.keys.at = time.Now() // an answer, and no draft
	} else {
		t.keys.feed(keys, time.Now())
	}
	t.mu.Unlock()
	return t.write(ctx, keys)
}

// writeTimeout is how long a program may leave its input unread before typing gives up. The kernel's queue
// takes 4 KiB first; every agent tried read within a second.
const writeTimeout = 10 * time.Second

// write types p; t.input is held.
func (t *Tab) write(ctx context.Context, p []byte) error {
	if t.session == nil {
		return fmt.Errorf("type into tab: %w", ErrExited)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if _, err := t.session.WriteContext(ctx, p); err != nil {
		return fmt.Errorf("type into tab: %w", err)
	}
	return nil
}

// Resize sets the terminal's size.
func (t *Tab) Resize(size pty.Size) error {
	if t.session == nil {
		return fmt.Errorf("resize tab: %w", ErrExited)
	}
	if err := t.session.Resize(size); err != nil {
		return fmt.Errorf("resize tab: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.Resize(int(size.Cols), int(size.Rows))
	return nil
}

// HangupGrace is how long what runs in a tab may take to end by itself. Agents save their state on hang-up;
// the slowest tried needed 0.4 s.
const HangupGrace = 2 * time.Second

// Close ends everything that runs in the tab and returns when it is gone.
func (t *Tab) Close() error {
	if t.session == nil {
		return nil
	}
	err := t.session.Hangup(HangupGrace)
	t.session.Close()
	<-t.ended
	return err
}

// Ended is closed when the process has ended and all of its output was read.
func (t *Tab) Ended() <-chan struct{} { return t.ended }
