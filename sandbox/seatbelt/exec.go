package seatbelt

import (
	"errors"
	"fmt"
	"strings"

	"termic/sandbox/profile"
)

// Program runs another under a policy; sandbox-exec(1). It is the system's own, at the one path that only the system writes.
const Program = "/usr/bin/sandbox-exec"

// argMax bounds the arguments and the environment of a program together (ARG_MAX of XNU's bsd/sys/syslimits.h), each with
// its end and its pointer. reserved is left for what the kernel puts beside them.
const (
	argMax   = 1 << 20
	reserved = 8 << 10
)

// SizeError is a policy, arguments and an environment that are more than the system starts a program with.
type SizeError struct{ Size, Max int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("start in cage: policy, arguments and environment have %d bytes, of which the system takes %d: name fewer paths", e.Size, e.Max)
}

// Argv returns the arguments of Program that run argv under a policy. The policy is an argument and never a file, which
// something could write between now and then. env is what the program will be started with; it counts for the size.
func Argv(policy string, argv, env []string) ([]string, error) {
	if policy == "" || len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("start in cage: no policy, or no program")
	}
	all := append([]string{Program, "-p", policy, "--"}, argv...)
	size := 0
	for i, word := range append(all[:len(all):len(all)], env...) {
		if strings.IndexByte(word, 0) >= 0 {
			return nil, fmt.Errorf("start in cage: word %d has a NUL byte, which would end it", i)
		}
		size += len(word) + 1 + 8
	}
	if size > argMax-reserved {
		return nil, &SizeError{size, argMax - reserved}
	}
	return all, nil
}

// Environ returns the environment of a process of the cage; see profile.Profile.EnvironAt.
func Environ(p profile.Profile, at Places, person []string) []string {
	return p.EnvironAt(profile.Inside{Home: at.Home, Temp: at.Temp, Programs: at.Programs, Proxy: at.Proxy}, person)
}
