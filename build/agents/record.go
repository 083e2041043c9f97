package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"termic/app/agent"
	"termic/app/hook"
	"termic/app/osc"
	"termic/app/screen"
	"termic/build/fakemodel"
)

// quitTime is how long an agent that was told to end may take.
const quitTime = 20 * time.Second

// nonce is that of every recording: it is in the tree, and vouches for nothing.
const nonce = "00000000000000000000000000000000"

const cols, rows = 110, 36

// recorder is one session under way.
type recorder struct {
	tty   *os.File
	cmd   *exec.Cmd
	begin time.Time
	model *fakemodel.Model
	asked int64 // how often the model had been asked when the last prompt began
	// hide is what the recording must not show of this machine, and what stands for it.
	hide *strings.Replacer

	mu      sync.Mutex
	lines   []byte
	err     error
	printed time.Time // when the agent last printed something
	display *screen.Screen
}

// record runs the session and writes it.
func (s *session) record(program, version, digest, to string) (err error) {
	base, err := os.MkdirTemp("/var/tmp", "agents-") // codex refuses helpers below a temporary directory
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	model, err := fakemodel.New()
	if err != nil {
		return err
	}
	defer model.Close()
	home, work := filepath.Join(base, "home"), filepath.Join(base, "shop")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(work, 0o700), s.prepare(home, work, model.URL), put(filepath.Join(base, "plugins/plugins/termic.js"), agent.OpenCodePlugin)); err != nil {
		return err
	}
	termic, err := filepath.Abs("build/bin/termic")
	if err != nil {
		return err
	}
	d, err := definition(s.agent)
	if err != nil {
		return err
	}
	argv, env, _, err := d.Launch(agent.LaunchOptions{Program: program, Hook: termic, Dir: work, Plugins: filepath.Join(base, "plugins")})
	if err != nil {
		return err
	}
	argv = append(argv, s.args...)
	r := &recorder{begin: time.Now(), model: model, hide: strings.NewReplacer(base, "/home/dev", termic, "/opt/termic", strings.TrimPrefix(model.URL, "http://"), "127.0.0.1:1")}
	r.add(map[string]any{
		"version": 2, "width": cols, "height": rows, "title": s.name, "agent": s.agent, "agent_version": version, "agent_sha256": digest, "nonce": nonce,
	})
	master, slave, err := pty.Open()
	if err != nil {
		return err
	}
	r.tty = master
	if err := pty.Setsize(master, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		return err
	}
	r.cmd = &exec.Cmd{Path: argv[0], Args: argv, Dir: work, Stdin: slave, Stdout: slave, Stderr: slave, SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
	r.cmd.Env = append(append([]string{
		"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "SHELL=/bin/sh",
		hook.EnvNonce + "=" + nonce, hook.EnvTTY + "=" + slave.Name(),
	}, s.env(model.URL)...), env...)
	if err := r.cmd.Start(); err != nil {
		return err
	}
	slave.Close()
	r.display = screen.New(screen.Options{
		Cols: cols, Rows: rows, Scrollback: -1, Version: "record",
		Reply:  func(p []byte) { _, _ = r.tty.Write(p) },
		Events: screen.Events{Status: func(string) {}},
	})
	read := make(chan struct{})
	go func() { defer close(read); r.read() }()
	for i, step := range s.steps {
		if err := step(r); err != nil {
			_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
			_ = r.cmd.Wait()
			return errors.Join(fmt.Errorf("step %d: %w; what was recorded until then is in %s.part", i+1, err, to), r.write(to+".part"))
		}
	}
	late := time.AfterFunc(quitTime, func() { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
	_ = r.cmd.Wait() // its status says nothing about the recording
	if !late.Stop() {
		return fmt.Errorf("it did not end within %v", quitTime)
	}
	r.event("m", "exit")
	r.event("m", "is exited")
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	select {
	case <-read:
	case <-time.After(time.Second):
	}
	r.tty.Close()
	<-read
	return r.write(to)
}

func (r *recorder) add(v any) {
	line, err := json.Marshal(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(append(r.lines, line...), '\n')
	r.err = errors.Join(r.err, err)
}

func (r *recorder) event(kind, text string) {
	r.add([]any{time.Since(r.begin).Round(time.Millisecond).Seconds(), kind, r.hide.Replace(text)})
}

// read records what the agent prints and answers what it asks, as the tab does.
func (r *recorder) read() {
	taker := osc.NewTaker(hook.Number, hook.MaxCommand, func([]byte) {})
	buf := make([]byte, 64<<10)
	held := 0
	for {
		n, err := r.tty.Read(buf[held:])
		if n > 0 {
			r.mu.Lock()
			r.printed = time.Now()
			_, _ = r.display.Write(taker.Filter(append([]byte(nil), buf[held:held+n]...)))
			r.mu.Unlock()
		}
		whole := held + n
		for back := 1; back < utf8.UTFMax && back <= whole; back++ { // a character that a read has cut goes with the next
			if utf8.RuneStart(buf[whole-back]) {
				if !utf8.FullRune(buf[whole-back : held+n]) {
					whole -= back
				}
				break
			}
		}
		if whole > 0 {
			r.event("o", string(buf[:whole]))
		}
		held = copy(buf, buf[whole:held+n])
		if err != nil {
			return
		}
	}
}

func (r *recorder) write(name string) error {
	if r.err != nil {
		return r.err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(r.lines)
		err = errors.Join(err, zip.Close())
	}
	return errors.Join(err, file.Close())
}

// step is one thing that is done in a session.
type step func(*recorder) error

// wait lets time pass, as a person would.
func wait(d time.Duration) step {
	return func(*recorder) error { time.Sleep(d); return nil }
}

// patience bounds how long an agent may take for a step on a busy machine.
const patience = 2 * time.Minute

// silent lets time pass, and then until the agent has printed nothing for as long: it has drawn what it wanted to draw, however busy the
// machine is. Only for states in which it has no spinner.
func silent(d time.Duration) step {
	return func(r *recorder) error {
		for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			r.mu.Lock()
			since := time.Since(r.printed)
			r.mu.Unlock()
			if time.Since(begin) >= d && since >= d {
				return nil
			}
			if time.Since(begin) > patience {
				return fmt.Errorf("it still prints after %v", patience)
			}
		}
	}
}

// shows tells whether a text is on the screen of the agent.
func (r *recorder) shows(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.display.Lines(rows) {
		if strings.Contains(line.Plain, text) {
			return true
		}
	}
	return false
}

// shown waits until a text is on the screen.
func shown(text string) step {
	return func(r *recorder) error {
		for begin := time.Now(); !r.shows(text); time.Sleep(20 * time.Millisecond) {
			if time.Since(begin) > patience {
				return fmt.Errorf("no %q on its screen in %v", text, patience)
			}
		}
		return nil
	}
}

// drawn waits until a text is on the screen, and then until all is drawn.
func drawn(text string, d time.Duration) step {
	return func(r *recorder) error {
		if err := shown(text)(r); err != nil {
			return err
		}
		return silent(d)(r)
	}
}

// lost is after how long Enter is taken for lost: an agent that is still busy with its start drops it, and keeps the text.
const lost = 8 * time.Second

// taken waits until the model was asked for the last prompt, presses Enter again as long as it was not, as a delivery does, and waits a
// little longer for what the agent says of it.
func taken(d time.Duration) step {
	return func(r *recorder) error {
		begin := time.Now()
		for pressed := begin; r.model.Asked() == r.asked; time.Sleep(5 * time.Millisecond) {
			if time.Since(begin) > patience {
				return fmt.Errorf("the model was not asked within %v", patience)
			}
			if time.Since(pressed) > lost {
				pressed = time.Now()
				r.event("m", "deliver again")
				if err := r.types("\r"); err != nil {
					return err
				}
			}
		}
		time.Sleep(d)
		return nil
	}
}

// is marks what is true now: the recorder knows, since it tells the model what to do.
func is(state string) step {
	return func(r *recorder) error { r.event("m", "is "+state); return nil }
}

// echoed is how long an agent may take to show a pasted text; one that is stopped never does.
const echoed = 3 * time.Second

// prompt pastes a text, and presses Enter once it is shown, as a delivery does.
func prompt(text string) step {
	return func(r *recorder) error {
		r.asked = r.model.Asked()
		r.event("m", "deliver")
		if err := r.types("\x1b[200~" + text + "\x1b[201~"); err != nil {
			return err
		}
		seen, _, _ := strings.Cut(text, " @@") // a long one is wrapped
		for begin := time.Now(); !r.shows(seen) && time.Since(begin) < echoed; time.Sleep(5 * time.Millisecond) {
		}
		time.Sleep(150 * time.Millisecond)
		r.event("m", "deliver again")
		return r.types("\r")
	}
}

func key(k string) step { return func(r *recorder) error { return r.types(k) } }

// signal stops or continues the agent, so that it does not answer.
func signal(sig syscall.Signal) step {
	return func(r *recorder) error { return syscall.Kill(-r.cmd.Process.Pid, sig) }
}

func (r *recorder) types(keys string) error {
	r.event("i", keys)
	if _, err := r.tty.WriteString(keys); err != nil {
		return fmt.Errorf("type %q: %w", keys, err)
	}
	return nil
}
