package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"termic/build/rig"
)

// The servers that are measured against each other.
const (
	ours  = "termic"
	peer  = "Go SDK"
	plain = "net/http"
	// crowd is ours with 10,000 live grants.
	crowd = "termic, 10,000 grants"
)

// connections are the numbers of connections over which is asked at once.
var connections = []int{1, 8, 64}

const (
	slice  = time.Second // long enough for a scheduler's quantum, short enough that a pause of the machine meets all alike
	rounds = 8
)

// server is one of them, running.
type server struct {
	name string
	load *load
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// startServer starts one of the programs beside this one; the line that it prints is its address, and a token if it
// wants one.
func startServer(r *rig.Rig, name, program string, args ...string) (*server, error) {
	path, err := build(r, program)
	if err != nil {
		return nil, err
	}
	s := &server{name: name, cmd: exec.Command(path, args...)}
	in, inErr := s.cmd.StdinPipe()
	out, outErr := s.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, s.cmd.Start()); err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), s.stop())
	}
	address, token, _ := strings.Cut(strings.TrimSpace(line), " ")
	s.load = newLoad(address, token)
	return s, nil
}

// stop ends the server, which ends with its standard input.
func (s *server) stop() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }

// cost returns how many objects the server has allocated, and how many microseconds of processor time it has used,
// since it started.
func (s *server) cost() (objects, micros int, err error) {
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return 0, 0, err
	}
	line, err := s.out.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(line, &objects, &micros)
	}
	return objects, micros, err
}

// measureMCP asks all servers in turn, slice by slice.
func measureMCP(s *samples, r *rig.Rig) (err error) {
	servers, err := startServers(r)
	defer func() {
		for _, one := range servers {
			err = errors.Join(err, one.stop())
		}
	}()
	if err != nil {
		return err
	}
	for range rounds {
		for _, n := range connections {
			for _, one := range servers {
				if one.name == crowd && n != 8 {
					continue
				}
				if err := measure(s, one, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func startServers(r *rig.Rig) (servers []*server, err error) {
	start := func(name, program string, args ...string) *server {
		if err != nil {
			return nil
		}
		var one *server
		if one, err = startServer(r, name, program, args...); err == nil {
			servers = append(servers, one)
		}
		return one
	}
	first := start(ours, "endpoint", "-dir", r.Base+"/ours")
	start(peer, "sdkserver")
	start(crowd, "endpoint", "-dir", r.Base+"/crowd", "-grants", "10000")
	if err != nil {
		return servers, err
	}
	answer, err := first.load.once()
	if err == nil {
		start(plain, "plain", string(answer))
	}
	return servers, err
}

// measure asks one server for a slice of time.
func measure(s *samples, one *server, n int) error {
	objects, micros, err := one.cost()
	if err != nil {
		return err
	}
	begun := time.Now()
	took, err := one.load.run(n, slice)
	if err != nil {
		return fmt.Errorf("%s over %d connections: %w", one.name, n, err)
	}
	calls := s.of(one.name, n)
	calls.add(time.Since(begun).Seconds(), took)
	objectsNow, microsNow, err := one.cost()
	calls.Objects += objectsNow - objects
	calls.Processor += microsNow - micros
	return err
}
