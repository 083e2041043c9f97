package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"termic/sandbox/watch"
	"termic/sandbox/watched"
)

// opens is how many files the measured shell opens; watchRounds how often each way is run.
const (
	opens       = 20_000
	watchRounds = 5
)

// watching measures a shell that opens files: by itself, watched as in mode monitor, and under strace.
func (m *measured) watching() error {
	address := "termic-bench-" + rand.Text()
	told := 0
	stop, err := watched.Accept(address, func(string) func(watch.Notice) { return func(watch.Notice) { told++ } })
	if err != nil {
		return err
	}
	defer stop()
	shell := []string{"/bin/sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do : </dev/null; i=$((i+1)); done", opens)}
	ways := []struct {
		what  string
		argv  []string
		needs string
	}{
		{plainOpens, nil, "/bin/sh"},
		{watchedOpens, []string{filepath.Join(m.dir, "termic"), "__watched", address, "bench"}, "/bin/sh"},
		{filteredOpens, []string{"strace", "-f", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=open,openat,connect,execve"}, "strace"},
		{stracedOpens, []string{"strace", "-f", "-o", "/dev/null", "-e", "trace=open,openat,connect,execve"}, "strace"},
	}
	for range watchRounds {
		for _, way := range ways {
			if _, err := exec.LookPath(way.needs); err != nil {
				continue
			}
			argv := append(way.argv[:len(way.argv):len(way.argv)], shell...)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Stderr = []string{"PATH=" + os.Getenv("PATH")}, os.Stderr
			if err := m.time(way.what+", "+m.user, cmd.Run); err != nil {
				return fmt.Errorf("%s: %w", way.what, err)
			}
		}
	}
	if told < opens*watchRounds {
		return fmt.Errorf("of %d opened files %d were told of", opens*watchRounds, told)
	}
	return nil
}
