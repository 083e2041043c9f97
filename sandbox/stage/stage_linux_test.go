package stage

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
)

func TestStandardFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	dir, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	tests := []struct {
		name  string
		which [3]bool
		files []int
		want  string
	}{
		{"none", [3]bool{}, nil, ""},
		{"two pipes", [3]bool{false, true, true}, []int{int(w.Fd()), int(w.Fd())}, ""},
		{"a directory of the host", [3]bool{true}, []int{int(dir.Fd())}, "no pipe"},
		{"a directory behind a pipe", [3]bool{true, true}, []int{int(r.Fd()), int(dir.Fd())}, "file 1 is no pipe"},
		{"fewer than announced", [3]bool{true, true}, []int{int(r.Fd())}, "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, io, err := newCage().stdio(&Spawn{Files: tt.which}, tt.files)
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			for i, given := range tt.which {
				if err == nil && given == slices.Contains(io.opened, int(io.fds[i])) {
					t.Errorf("file %d is %d", i, io.fds[i])
				}
			}
			closeAll(io.opened)
		})
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/tool": 0o755, "bin/text": 0o644, "local/tool": 0o755} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin/folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, program, path, want string }{
		{"the first in the list", "tool", dir + "/local:" + dir + "/bin", dir + "/local/tool"},
		{"beside what is missing", "tool", "/nonexistent:" + dir + "/bin", dir + "/bin/tool"},
		{"relative to the directory", "tool", "bin", dir + "/bin/tool"},
		{"no program", "text", dir + "/bin", ""},
		{"a directory", "folder", dir + "/bin", ""},
		{"a path is taken as it is", "./bin/text", dir + "/local", "./bin/text"},
		{"no list", "tool", "", ""},
	}
	for _, tt := range tests {
		got, err := lookPath(tt.program, []string{"X=1", "PATH=" + tt.path}, dir)
		if got != tt.want || (err == nil) != (tt.want != "") || err != nil && !errors.Is(err, unix.ENOENT) && tt.program != "text" {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

func TestNeeds(t *testing.T) {
	always := []string{ProofRoot, ProofAbsent, ProofProcesses, ProofPrivileges, ProofSeccomp}
	tests := []struct {
		name   string
		attest linuxcage.Attest
		want   []string
	}{
		{"enforce", linuxcage.Attest{Network: true}, append(slices.Clone(always), ProofNetwork)},
		{"enforce-fs", linuxcage.Attest{Scoped: true}, append(slices.Clone(always), ProofScopes)},
	}
	for _, tt := range tests {
		if got := Needs(linuxcage.Plan{Attest: tt.attest}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestCloned: what the entry says, and nothing else, is read as its message.
func TestCloned(t *testing.T) {
	tests := []struct {
		name  string
		said  int32
		pid   int
		errno syscall.Errno
	}{
		{"a process", 4711, 4711, 0},
		{"no namespaces left", -int32(unix.ENOSPC), 0, unix.ENOSPC},
		{"not allowed", -int32(unix.EPERM), 0, unix.EPERM},
	}
	for _, tt := range tests {
		event, ok := Cloned(binary.NativeEndian.AppendUint32(nil, uint32(tt.said)))
		if !ok || event.PID != tt.pid || (event.Failure != nil) != (tt.errno != 0) {
			t.Errorf("%s: %+v, %v", tt.name, event, ok)
		}
		if event.Failure != nil && (event.Failure.Errno != tt.errno || event.Failure.Step != StepClone) {
			t.Errorf("%s: %+v", tt.name, event.Failure)
		}
	}
	for _, message := range []string{"", "{}", `{"sealed":{}}`, "12345"} {
		if event, ok := Cloned([]byte(message)); ok {
			t.Errorf("%q is read as %+v", message, event)
		}
	}
}

// TestRights: each ABI of Landlock handles what it knows, and nothing that it does not: the kernel would refuse it.
func TestRights(t *testing.T) {
	tests := []struct {
		abi  int
		want uint64
	}{
		{1, 1<<13 - 1}, {2, 1<<14 - 1}, {3, 1<<15 - 1}, {4, 1<<15 - 1}, {5, 1<<16 - 1}, {6, 1<<16 - 1}, {9, 1<<16 - 1},
	}
	for _, tt := range tests {
		if got := accessAll(tt.abi); got != tt.want {
			t.Errorf("ABI %d: %#x, want %#x", tt.abi, got, tt.want)
		}
	}
}

// TestProgramIsSmall: the stage links nothing of the app, no cgo and no network code.
func TestProgramIsSmall(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}", "termic/sandbox/stagecmd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, standard, _ := strings.Cut(strings.TrimSpace(line), " ")
		ours := strings.HasPrefix(name, "termic/sandbox/") || strings.HasPrefix(name, "golang.org/x/sys/")
		if standard == "false" && !ours || name == "net" || name == "runtime/cgo" || name == "os/exec" {
			t.Errorf("the stage links %s", name)
		}
	}
}
