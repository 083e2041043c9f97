// Command peers runs the terminals of others that app/screen is measured against. It is a module of its own, so that the app's has
// nothing of them.
//
//	peers speed NAME FILE PASSES    the nanoseconds for one pass of the file, after one that is not measured
//	peers memory NAME FILE          the bytes that a terminal keeps which was given the file
//
// The terminals have 120 columns and 40 rows, as those of app/screen and xterm.js have in the same run.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/hinshun/vt10x"
)

const cols, rows = 120, 40

// chunk is as much as the app reads at once.
const chunk = 64 << 10

// scrollback is as many rows as the app keeps.
const scrollback = 10_000

// terminals are the peers. vt10x keeps no rows that scrolled away.
var terminals = map[string]func() io.Writer{
	"x/vt": func() io.Writer {
		t := vt.NewEmulator(cols, rows)
		t.SetScrollbackSize(scrollback)
		go func() { _, _ = io.Copy(io.Discard, t) }() // its answers: without a reader it waits for one
		return t
	},
	"vt10x": func() io.Writer { return vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(io.Discard)) },
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: peers speed NAME FILE PASSES, or peers memory NAME FILE")
	}
	start, ok := terminals[args[1]]
	if !ok {
		return fmt.Errorf("there is no terminal %q", args[1])
	}
	text, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	if args[0] == "memory" {
		return memory(start, text)
	}
	if args[0] != "speed" || len(args) < 4 {
		return fmt.Errorf("it cannot be asked for %q", args[0])
	}
	passes, err := strconv.Atoi(args[3])
	if err != nil || passes < 1 {
		return fmt.Errorf("%q is no number of passes", args[3])
	}
	return speed(start(), text, passes)
}

func speed(t io.Writer, text []byte, passes int) error {
	if err := write(t, text); err != nil {
		return err
	}
	begin := time.Now()
	for range passes {
		if err := write(t, text); err != nil {
			return err
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(passes))
	return nil
}

func memory(start func() io.Writer, text []byte) error {
	before := heap()
	t := start()
	if err := write(t, text); err != nil {
		return err
	}
	fmt.Println(heap() - before)
	runtime.KeepAlive(t)
	runtime.KeepAlive(text)
	return nil
}

func write(t io.Writer, text []byte) error {
	for len(text) > 0 {
		n := min(chunk, len(text))
		if _, err := t.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// heap is what is alive; the second collection takes what the first one's finalizers let go.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
