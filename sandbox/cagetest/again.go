package cagetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ordinary is the uid of the user as whom root's tests run too. It needs no entry in /etc/passwd.
const ordinary = 1500

// Users returns the uids that tests can run as: this one, and for root an ordinary one too, unless this is a user
// namespace that has none.
func Users() []int {
	ids, err := os.ReadFile("/proc/self/uid_map") // inside outside count, user_namespaces(7); no such file: no namespaces
	var first, outside, n int
	if _, scan := fmt.Sscan(string(ids), &first, &outside, &n); err == nil && scan == nil && ordinary >= first+n {
		return []int{os.Getuid()}
	}
	if os.Getuid() == 0 {
		return []int{0, ordinary}
	}
	return []int{os.Getuid()}
}

// Inner reports whether Again started this test binary.
func Inner() bool { return os.Getenv(MarkerVar) != "" }

// AgainAsUsers runs the test that calls it again as each of Users, in another process, to which this is the app: there
// Inner is true. A wrapper is a command that is put before.
func AgainAsUsers(t *testing.T, wrapper ...string) {
	t.Helper()
	test := "^" + t.Name() + "$"
	if os.Getuid() != 0 {
		Tally(t, "%s: as uid %d only; as root it also runs as root", t.Name(), os.Getuid())
	}
	for _, uid := range Users() {
		t.Run("uid "+strconv.Itoa(uid), func(t *testing.T) { Again(t, uid, test, wrapper...) })
	}
}

// Again runs tests of this binary as a user, in another process, to which it is the app.
func Again(t *testing.T, uid int, tests string, wrapper ...string) {
	t.Helper()
	again(t, uid, tests, func(*exec.Cmd) {}, wrapper...)
}

// again is Again, with more to say of the other process.
func again(t *testing.T, uid int, tests string, more func(*exec.Cmd), wrapper ...string) {
	t.Helper()
	bin := Bin(t)
	dir, err := os.MkdirTemp("/tmp", "termic-cagetest-run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, uid, -1); err != nil {
		t.Fatal(err)
	}
	argv := append(wrapper, copySelf(t, bin), "-test.run="+tests, "-test.v", "-test.timeout=5m")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{MarkerVar + "=yes", BinVar + "=" + bin, "TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	asUser(cmd, uid)
	more(cmd)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	switch ran, skipped := count(out, "--- PASS: "), count(out, "--- SKIP: "); {
	case err != nil:
		t.Error(err)
	case ran == 0 && skipped == 0:
		t.Errorf("no test has the name %s", tests)
	case ran == 0:
		t.Skip("it was skipped, see above")
	case skipped > 0:
		Tally(t, "%d tests skipped as uid %d", skipped, uid)
	}
}

// count returns how many tests of a verbose run ended so, subtests left out.
func count(out []byte, how string) int {
	n := 0
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, how) {
			n++
		}
	}
	return n
}

// copySelf puts this binary where any user can run it.
func copySelf(t *testing.T, bin string) string {
	t.Helper()
	self := filepath.Join(bin, filepath.Base(os.Args[0]))
	if _, err := os.Stat(self); err == nil {
		return self
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return self
}
