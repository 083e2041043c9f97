package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"termic/app/agent"
	"termic/app/pty"
	"termic/app/settings"
	"termic/app/settle"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// Verdict is how one step of a trial went.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "ok"
	Doubt   Verdict = "warning" // it works, and something will not be as good as it could be
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // the definition has nothing there, or an earlier step failed
)

// Step is one thing that a trial looked at.
type Step struct {
	Name    string
	Verdict Verdict
	Saw     string
	Took    time.Duration
}

// Trial is what was seen of an agent that was started for a look.
type Trial struct {
	Steps  []Step
	Screen string // the last lines that it showed, without secrets
}

// Passed tells whether nothing failed.
func (t Trial) Passed() bool {
	return !slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Verdict == Failed })
}

// TryOptions say how an agent is tried.
type TryOptions struct {
	Prompt string            // is sent to it; empty sends nothing, and no model is asked
	Limit  time.Duration     // of the whole trial but its end
	Said   func(step string) // when set, is called as each step begins
}

// maxTrialLines is how much of the screen a trial shows.
const maxTrialLines = 24

// trying keeps trials one after the other: each is a program of some hundred megabytes.
type trying struct {
	one sync.Mutex
	app context.Context // ends with the app
	end context.CancelFunc
}

func newTrying() *trying {
	t := &trying{}
	t.app, t.end = context.WithCancel(context.Background())
	return t
}

// Try starts an agent outside of any task, in an empty directory of ours and without a token, and returns what was seen of it, step by
// step. It is ended, with all that it started, and its directory removed, before Try returns, also when ctx ends. What an agent
// keeps of a session in the person's own directories stays, as it does of any other.
func (s *Tasks) Try(ctx context.Context, definition agent.Definition, o TryOptions) (Trial, error) {
	if !s.trying.one.TryLock() {
		return Trial{}, refusal.New(refusal.Busy, "another agent is being tried", "try again when it is over")
	}
	defer s.trying.one.Unlock()
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	defer context.AfterFunc(s.trying.app, cancel)()
	r := &trial{tasks: s, definition: definition, o: o, id: ident.NewTask(), ctx: limited}
	err := r.run()
	if err := errors.Join(ctx.Err(), s.trying.app.Err()); err != nil {
		return Trial{}, err
	}
	return Trial{r.steps, r.screen}, err
}

// trial is one under way.
type trial struct {
	tasks      *Tasks
	definition agent.Definition
	o          TryOptions
	id         ident.Task // marks its processes; no task has it
	ctx        context.Context
	steps      []Step
	began      time.Time // of the step under way
	tab        *tab.Tab
	hooked     bool
	screen     string
}

func (r *trial) run() error {
	path := r.find()
	if path == "" {
		return nil
	}
	r.version()
	parent, err := r.tasks.Store.Subdir("trials")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, r.definition.ID+"-")
	if err != nil {
		return fmt.Errorf("try agent %s: %w", r.definition.ID, err)
	}
	defer os.RemoveAll(dir) // at the worst it is swept at the next start
	if err := r.open(path, dir); err != nil {
		r.note(Failed, "it could not be started: %v", err)
		return nil
	}
	defer r.end()
	if r.start() {
		r.box()
		r.prompt()
	}
	r.hooks()
	return nil
}

// begin names the step that note closes.
func (r *trial) begin(name string) {
	r.steps, r.began = append(r.steps, Step{Name: name}), time.Now()
	if r.o.Said != nil {
		r.o.Said(name)
	}
}

func (r *trial) note(verdict Verdict, format string, args ...any) {
	step := &r.steps[len(r.steps)-1]
	step.Verdict, step.Saw, step.Took = verdict, fmt.Sprintf(format, args...), time.Since(r.began)
}

func (r *trial) where() agent.Where { return agent.WhereIn(r.tasks.Environ()) }

func (r *trial) find() string {
	r.begin("program")
	path, err := agent.Find(r.definition, r.where())
	if err != nil {
		r.note(Failed, "%q was not found in PATH, or may not be executed", r.definition.Command[0])
		return ""
	}
	r.note(Passed, "%s", path)
	return path
}

func (r *trial) version() {
	r.begin("version")
	if len(r.definition.Version) == 0 {
		r.note(Skipped, "the definition does not say how to ask for it (version)")
		return
	}
	probed, err := agent.Probe(r.ctx, r.definition, r.where())
	why := r.definition.Unsupported(probed.Version)
	switch {
	case err != nil || probed.Version == "":
		r.note(Doubt, "it did not tell: %s %s", r.definition.Command[0], strings.Join(r.definition.Version, " "))
	case why != "":
		r.note(Doubt, "%s: %s", probed.Version, why)
	default:
		r.note(Passed, "%s", probed.Version)
	}
}

// open starts it as a tab of a task without a cage is started, but for the token, and for the trust: the directory is empty and ours.
func (r *trial) open(path, dir string) error {
	r.begin("start")
	s := r.tasks
	session := ""
	if len(r.definition.Fresh) > 0 {
		session = newUUID()
	}
	launch := agent.LaunchOptions{Program: path, Session: session, Dir: dir, Trusted: true, Hook: s.hook(), Plugins: s.plugins}
	argv, extra, _, err := r.definition.Launch(launch)
	if err != nil {
		return err
	}
	env := slices.DeleteFunc(s.Environ(), func(entry string) bool {
		name, _, ok := strings.Cut(entry, "=")
		return !ok || isDropped(name)
	})
	env = append(env, terminalEnvironment(Record{ID: r.id, Name: "agent-test"})...)
	r.hooked = r.definition.Reports(launch)
	r.tab, err = tab.Open(tab.Spec{
		ID: ident.NewTab(), Task: r.id, Name: r.definition.ID, Agent: r.definition, Argv: argv, Env: append(env, extra...), Dir: dir,
		Size: firstSize, Scrollback: s.Settings.Int(settings.Scrollback), Hooks: r.hooked, Conversation: session,
	}, s.Log.Warn)
	return err
}

// left is how long the trial may go on.
func (r *trial) left() time.Duration {
	deadline, _ := r.ctx.Deadline()
	return max(time.Until(deadline), 0)
}

// start waits until the agent rests, and tells whether it does.
func (r *trial) start() bool {
	outcome, _ := r.tab.Wait(r.ctx, r.left(), "")
	info := r.tab.Info()
	switch outcome {
	case tab.Idle, tab.Done:
		how := "known by " + info.Signal.String()
		switch {
		case info.Signal == settle.Quiet:
			r.note(Doubt, "it rests: known by silence alone, which also looks like a question or a long thought (titles, screen, app)")
		case info.Guess:
			r.note(Passed, "it rests: %s, which is a guess", how)
		default:
			r.note(Passed, "it rests: %s", how)
		}
		return true
	case tab.NeedsInput:
		wait := r.tab.Look().Wait
		r.note(Failed, "it asks something (%s), known by %s: answer it once in a task of yours, or see what is on its screen", orWord(wait.Kind, "it does not say what kind"), info.Signal)
	case tab.Exited:
		r.note(Failed, "it ended at once, %s", exitWords(info.Exit))
	default:
		r.note(Failed, "after %v it was still %s: nothing says that it is ready (titles, screen, app, quiet)", r.o.Limit.Round(time.Second), info.State)
	}
	return false
}

func orWord(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func exitWords(status pty.ExitStatus) string {
	if status.Signal != "" {
		return "by " + status.Signal
	}
	return fmt.Sprintf("with status %d", status.Code)
}

// boxPatience is how long an agent may take to draw its box once it says that it rests.
const boxPatience = 5 * time.Second

// box looks whether a text could be typed.
func (r *trial) box() {
	r.begin("box")
	look := r.tab.Look()
	// A title may say that it rests before its box is drawn; a delivery waits for that too.
	for begin := time.Now(); r.definition.Box.Known() && look.Hold != tab.HoldNone && time.Since(begin) < boxPatience && r.ctx.Err() == nil; look = r.tab.Look() {
		time.Sleep(50 * time.Millisecond)
	}
	seen := fmt.Sprintf("the cursor's row begins %q, above it %q", look.Before, look.Above)
	how := "a text is typed line by line: it does not ask for bracketed pastes"
	if look.Framed {
		how = "a text is pasted in one frame"
	}
	switch {
	case r.definition.Shell:
		r.note(Passed, "a shell's prompt; %s", how)
	case !r.definition.Box.Known():
		r.note(Doubt, "the definition does not say how its box looks while it is empty (box), so what you typed decides; %s; %s", seen, how)
	case look.Hold == tab.HoldNone:
		r.note(Passed, "it is there and empty; %s", how)
	case look.Hold == tab.HoldDraft:
		r.note(Failed, "it is there, and something stands in it, so texts would wait; %s", seen)
	default:
		r.note(Failed, "it is not where the cursor is, so texts would wait; %s", seen)
	}
}

// prompt sends the text that was given and waits for its end.
func (r *trial) prompt() {
	r.begin("prompt")
	if r.o.Prompt == "" {
		r.note(Skipped, "none was given")
		return
	}
	receipt, err := r.tab.Send(r.ctx, tab.Message{Text: r.o.Prompt, Still: func() error { return nil }})
	switch {
	case err != nil:
		r.note(Failed, "%v", err)
		return
	case receipt.Fate == tab.Unconfirmed:
		r.note(Doubt, "it was pasted, and Enter pressed: nothing told whether it was taken")
		return
	case receipt.Fate != tab.Submitted:
		r.note(Failed, "it waits (%s)", receipt.Hold)
		return
	}
	r.note(Passed, "taken, known by %s", receipt.By)
	r.begin("answer")
	outcome, err := r.tab.Wait(r.ctx, r.left(), receipt.ID)
	info := r.tab.Info()
	switch {
	case outcome == tab.Done:
		r.note(Passed, "done, known by %s", info.Signal)
	case outcome == tab.NeedsInput:
		r.note(Doubt, "it asks something (%s), known by %s", orWord(r.tab.Look().Wait.Kind, "it does not say what kind"), info.Signal)
	case outcome == tab.Exited:
		r.note(Failed, "it ended, %s", exitWords(info.Exit))
	case err != nil && r.ctx.Err() == nil:
		r.note(Failed, "%v", err)
	default:
		r.note(Failed, "it was still %s when the time was over", info.State)
	}
}

func (r *trial) hooks() {
	r.begin("hooks")
	reports, strays := r.tab.Look().Reports, r.tab.Claims().Strays
	switch {
	case !r.hooked:
		r.note(Skipped, "it has none outside of a cage")
	case strays > 0:
		r.note(Doubt, "%d reports came, and %d that were none of its hooks'", reports, strays)
	case reports > 0:
		r.note(Passed, "%d reports came", reports)
	case r.o.Prompt == "":
		r.note(Skipped, "no report came; some agents begin with the first prompt")
	default:
		r.note(Doubt, "no report came: its state is known by other signals only")
	}
}

// end ends it with all that it started, also what made a session of its own: nobody asked to keep that.
func (r *trial) end() {
	r.begin("end")
	ended := r.tab.Info().State == settle.Exited
	began := time.Now()
	err := r.tab.Close()
	r.screen = r.lastLines()
	escaped := r.killEscaped(lingering)
	switch {
	case err != nil:
		r.note(Failed, "%v", err)
	case ended:
		r.note(Passed, "it had ended by itself")
	case len(escaped) > 0:
		r.note(Doubt, "%d of its processes had left its session and were ended: %q", len(escaped), programNames(escaped))
	case time.Since(began) >= tab.HangupGrace:
		r.note(Doubt, "it did not end within %v of its terminal, and was ended", tab.HangupGrace)
	default:
		r.note(Passed, "it ended with its terminal, %s; nothing is left", exitWords(r.tab.Info().Exit))
	}
}

// lastLines returns the end of what it showed.
func (r *trial) lastLines() string {
	text, _ := r.tab.Log(maxTrialLines)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = r.tasks.Blank(strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// lingering is how long what left an ended agent's session may take to end by itself: claude runs its hooks in sessions of their own,
// the last one when it ends, and each may take 3 s.
const lingering = 4 * time.Second

// marked returns the living processes of the trial. Where they are not to be had it returns none: what a session's end does not reach
// stays there, as with any tab.
func (r *trial) marked() []pty.Process {
	found, err := pty.Marked(EnvTaskID)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(found, func(p pty.Process) bool { return p.Value != string(r.id) })
}

// killEscaped ends what carries the trial's mark, is in no session of it any more, and has not ended by itself after grace. It returns
// what that was.
func (r *trial) killEscaped(grace time.Duration) []pty.Process {
	for begin := time.Now(); len(r.marked()) > 0 && time.Since(begin) < grace; time.Sleep(50 * time.Millisecond) {
	}
	var killed []pty.Process
	for range 3 { // one may have been starting another
		again := false
		for _, p := range r.marked() {
			if unix.Kill(p.PID, unix.SIGKILL) == nil {
				killed, again = append(killed, p), true
			}
		}
		if !again {
			break
		}
	}
	return killed
}

// programNames returns the names of programs, each once.
func programNames(processes []pty.Process) []string {
	var list []string
	for _, p := range processes {
		list = append(list, p.Name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sweepTrials removes what a trial left that the app did not live to end.
func (s *Tasks) sweepTrials() {
	dir, err := s.Store.Path("trials")
	if err == nil {
		err = os.RemoveAll(filepath.Clean(dir))
	}
	if err != nil {
		s.Log.Warn("left of a trial", "cause", err)
	}
}
