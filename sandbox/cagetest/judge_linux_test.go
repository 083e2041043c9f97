package cagetest_test

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/cagetest/probes"
	"termic/sandbox/capability"
)

// floor is how many probes of each category were refused as predicted, and how many had a twin that succeeded, when
// probes were last added. Fewer fail the test, so that none gets lost; what a machine does not have counts as had.
var floor = map[string]map[probes.Category][2]int{
	"root enforce":    {probes.Network: {31, 31}, probes.Files: {73, 73}, probes.Checkout: {47, 47}, probes.Process: {19, 19}, probes.Kernel: {30, 30}, probes.Terminal: {3, 3}},
	"user enforce":    {probes.Network: {31, 27}, probes.Files: {73, 55}, probes.Checkout: {47, 45}, probes.Process: {19, 19}, probes.Kernel: {30, 17}, probes.Terminal: {3, 3}},
	"root enforce-fs": {probes.Network: {18, 18}, probes.Files: {73, 73}, probes.Checkout: {47, 47}, probes.Process: {19, 19}, probes.Kernel: {30, 30}, probes.Terminal: {3, 3}},
	"user enforce-fs": {probes.Network: {18, 14}, probes.Files: {73, 55}, probes.Checkout: {47, 45}, probes.Process: {19, 19}, probes.Kernel: {30, 17}, probes.Terminal: {3, 3}},
}

type count struct{ tried, refused, twin, missing, lacking int }

// judge compares what came of the probes with what must.
func judge(t *testing.T, m *cagetest.Machine, w *probes.World, mode capability.Mode, outside, inside map[string]probes.Result) {
	counts := map[probes.Category]*count{}
	for _, p := range probes.All() {
		with, without := inside[p.ID()], outside[p.ID()]
		c := counts[p.Category]
		if c == nil {
			c = &count{}
			counts[p.Category] = c
		}
		if what := p.Missing(w); what != "" {
			t.Logf("not on this machine: %s: %s", p.ID(), what)
			c.missing++
			continue
		}
		if without.Absent && with.Absent {
			t.Logf("%s: %s", p.ID(), without.Text)
			c.missing++
			continue
		}
		c.tried++
		fs := mode == capability.EnforceFS
		want, open := p.Wanted(os.Getuid() == 0, fs), fs && p.Open
		switch {
		case open && with.Done: // an open network is what the mode says it is
			continue
		case with.Done:
			t.Errorf("ESCAPED: %s", p.ID())
		case with.Errno != want:
			t.Errorf("%s: %q (%d) in the cage, want %q", p.ID(), with.Text, with.Errno, want.Error())
		default:
			c.refused++
		}
		switch lack := notOffered(p, without); {
		case without.Done:
			c.twin++
		case p.Root && os.Getuid() != 0:
		case lack != "":
			t.Logf("no twin: %s: %s", p.ID(), lack)
			c.lacking++
		default:
			t.Errorf("%s: %q (%d) outside, where it must succeed", p.ID(), without.Text, without.Errno)
		}
	}
	for _, category := range probes.Categories {
		c, least := counts[category], floor[user()+" "+mode.String()][category]
		wall := "" // the second wall
		if m.Support.Landlock == 0 {
			wall = " without Landlock"
		}
		cagetest.Tally(t, "cage of %s, %-10s %-11s tried %3d, refused with the predicted error %3d, twin succeeds %3d, not on this machine %d",
			user()+wall, mode, category, c.tried, c.refused, c.twin, c.missing+c.lacking)
		if c.refused+c.missing < least[0] || c.twin+c.lacking+c.missing < least[1] {
			t.Errorf("%s: fewer than the %d refusals and %d twins of before", category, least[0], least[1])
		}
	}
}

func user() string {
	if os.Getuid() == 0 {
		return "root"
	}
	return "user"
}

// notOffered returns why a probe does not succeed outside although nothing forbids it: this kernel does not offer it.
func notOffered(p probes.Probe, r probes.Result) string {
	for _, absent := range []syscall.Errno{unix.ENOSYS, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EOPNOTSUPP} {
		if r.Errno == absent {
			return "this kernel does not offer it: " + r.Text
		}
	}
	if off, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); r.Errno == unix.EPERM && err == nil &&
		p.Name == "io_uring" && string(off) != "0\n" {
		return "io_uring is switched off"
	}
	if p.Category == probes.Terminal && r.Errno == unix.EIO {
		return "this kernel lets nobody type into a terminal (dev.tty.legacy_tiocsti)"
	}
	return ""
}

// requireScopes ends the test where the kernel lacks what enforce-fs needs, if the app says so.
func requireScopes(t *testing.T, m *cagetest.Machine) {
	t.Helper()
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err := m.Support.Check(capability.EnforceFS); e != 0 || abi < 6 {
		if err == nil {
			t.Fatalf("enforce-fs is offered with Landlock ABI %d (%v)", abi, e)
		}
		cagetest.Tally(t, "cage of %s, %-10s nothing tried, refused as it must be: %v", user(), capability.EnforceFS, err)
		t.Skipf("enforce-fs needs Landlock ABI >= 6, got %d; refused as it must be: %v", abi, err)
	}
}
