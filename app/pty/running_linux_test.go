package pty

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// A process that leaves its session, its parent and its terminal is found by what it inherited.
func TestMarkedFindsWhatEscapes(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Fatal(err) // util-linux, an essential package of Debian
	}
	mark := strconv.Itoa(os.Getpid())
	cmd := sh(setsid + ` sh -c 'echo "escaped=$$ "; exec sleep 60' & wait`)
	cmd.Env = append(cmd.Env, "TERMIC_TEST_MARK="+mark)
	c := start(t, cmd, size80)
	escaped := number(t, c.expect(t, "escaped="), "escaped=")
	t.Cleanup(func() {
		if p, err := os.FindProcess(escaped); err == nil {
			_ = p.Kill()
		}
	})
	find := func() map[int]Process {
		list, err := Marked("TERMIC_TEST_MARK")
		if err != nil {
			t.Fatal(err)
		}
		found := map[int]Process{}
		for _, p := range list {
			if p.Value == mark {
				found[p.PID] = p
			}
		}
		return found
	}
	if p := find()[c.Pid()]; p.Session != c.Pid() {
		t.Errorf("the shell is %+v", p)
	}
	if err := c.Hangup(0); err != nil {
		t.Fatal(err)
	}
	found := find()
	p, ok := found[escaped]
	if !ok || p.Session == c.Pid() || len(found) != 1 {
		t.Errorf("found %+v, want only %d in a session of its own", found, escaped)
	}
	eventually(t, "it has become sleep", func() bool { return find()[escaped].Name == "sleep" })
}

func TestValueOf(t *testing.T) {
	const environ = "A=1\x00TERMIC_X_LONG=2\x00B=TERMIC_X=3\x00TERMIC_X=4=5\x00"
	if value := valueOf([]byte(environ), "TERMIC_X"); value != "4=5" {
		t.Errorf("%q", value)
	}
	if valueOf([]byte(environ), "NONE") != "" {
		t.Error("found what is not there")
	}
}
