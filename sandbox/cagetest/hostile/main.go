// Command hostile is the program that the tests run in a cage and outside, to try what is forbidden.
//
//	hostile run FILE        does every probe, each in a process of its own, and writes what came of them to FILE
//	hostile probe NAME      does one, and writes its result to its standard error
//	hostile reach PID       tries what one process can do to another of the same user, and writes what came of it
//	hostile works           does what programs need to be able to do, and names it
//	hostile job             says "up", and "continued" whenever it is
//	hostile nothing         ends
//	hostile without NUMBER ERRNO PROGRAM ARG...  becomes the program, to which the kernel answers that call with that error
//	hostile victim          waits to be attacked until its standard input ends
//
// The World to attack is in the variable TERMIC_WORLD.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"termic/sandbox/cagetest/probes"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "works":
		return works()
	case len(args) == 1 && args[0] == "job":
		again := make(chan os.Signal, 1)
		signal.Notify(again, syscall.SIGCONT)
		fmt.Println("up")
		for range again {
			fmt.Println("continued")
		}
		return nil
	case len(args) == 1 && args[0] == "nothing":
		return nil
	case len(args) == 1 && args[0] == "victim":
		beAVictim()
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case len(args) == 2 && args[0] == "probe":
		var world probes.World
		if err := json.Unmarshal([]byte(os.Getenv("TERMIC_WORLD")), &world); err != nil {
			return err
		}
		probe, err := probes.Find(args[1])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stderr).Encode(probe.Run(&world))
	case len(args) == 2 && args[0] == "reach":
		pid, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(probes.Reach(pid))
	case len(args) > 3 && args[0] == "without":
		return without(args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "run":
		return runAll(args[1])
	}
	return fmt.Errorf("unknown arguments %q", args)
}

// limit is how long a probe may take. One that takes longer has hung, which is no refusal.
const limit = 30 * time.Second

func runAll(file string) error {
	var results []probes.Result
	for _, probe := range probes.All() {
		results = append(results, one(probe.ID()))
	}
	data, err := json.Marshal(results)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// one does a probe in another process: it may change what it is for good, or die.
func one(id string) probes.Result {
	var said bytes.Buffer
	cmd := exec.Command("/proc/self/exe", "probe", id)
	cmd.Stdin, cmd.Stderr = os.Stdin, &said
	if err := cmd.Start(); err != nil {
		return probes.Result{ID: id, Text: err.Error()}
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	result := probes.Result{ID: id}
	if json.Unmarshal(said.Bytes(), &result) != nil {
		result.Text = fmt.Sprintf("%v: %s", err, said.Bytes())
	}
	return result
}
