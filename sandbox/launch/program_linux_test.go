package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func TestProgram(t *testing.T) {
	file := &fstest.MapFile{Mode: 0o755}
	tests := []struct {
		name string
		root fstest.MapFS
		want string
	}{
		{"no AppArmor", fstest.MapFS{"usr/local/lib/termic/stage": file}, "/beside/stage"},
		{"AppArmor without the restriction", fstest.MapFS{restriction: {Data: []byte("0\n")}, "usr/local/lib/termic/stage": file}, "/beside/stage"},
		{"the restriction and nothing installed", fstest.MapFS{restriction: {Data: []byte("1\n")}}, "/beside/stage"},
		{"the restriction and a script's stage", fstest.MapFS{restriction: {Data: []byte("1\n")}, "usr/local/lib/termic/stage": file}, "/usr/local/lib/termic/stage"},
		{"the restriction and a package's stage", fstest.MapFS{restriction: {Data: []byte("1\n")}, "usr/lib/termic/stage": file, "usr/local/lib/termic/stage": file}, "/usr/lib/termic/stage"},
		{"a directory in its place", fstest.MapFS{restriction: {Data: []byte("1\n")}, "usr/lib/termic/stage/x": file}, "/beside/stage"},
	}
	for _, tt := range tests {
		if got := Program("/beside/stage", tt.root); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestInstallStage installs into a made-up tree: AppArmor itself was not to be had. The profile that it installs is the
// one that the app knows, and names the stage that it installs.
func TestInstallStage(t *testing.T) {
	if os.Getenv("TERMIC_TEST_MARKER") != "" {
		return // the inner run of cagetest.Again, which has no tree around it; a user's install would be the same
	}
	root, stage := t.TempDir(), filepath.Join(t.TempDir(), "stage")
	if err := os.WriteFile(stage, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("bash", "../../build/install-stage.sh", stage)
	install.Env = []string{"DESTDIR=" + root, "PATH=" + os.Getenv("PATH")}
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var files []string
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			info, _ := entry.Info()
			files = append(files, strings.TrimPrefix(name, root)+" "+info.Mode().String())
		}
		return err
	})
	if want := "/etc/apparmor.d/termic-stage -rw-r--r-- /usr/local/lib/termic/stage -rwxr-xr-x"; err != nil || strings.Join(files, " ") != want {
		t.Errorf("installed %v (%v), want %s", files, err, want)
	}
	profile, err := os.ReadFile(root + "/etc/apparmor.d/termic-stage")
	if err != nil || string(profile) != string(AppArmorProfile) {
		t.Errorf("the profile differs (%v)", err)
	}
	// "/usr{,/local}/lib": alternatives, apparmor.d(5)
	named := regexp.MustCompile(`(?m)^profile termic-stage /usr\{,/local\}(\S+) `).FindSubmatch(profile)
	if named == nil || "/usr"+string(named[1]) != installed[0] || "/usr/local"+string(named[1]) != installed[1] {
		t.Errorf("the profile names %q, and the stage is looked for at %v", named, installed)
	}
	install = exec.Command("bash", "../../build/install-stage.sh", stage+"-missing")
	install.Env = []string{"DESTDIR=" + root, "PATH=" + os.Getenv("PATH")}
	if out, err := install.CombinedOutput(); err == nil || !strings.Contains(string(out), "make build") {
		t.Errorf("without a stage: %v, %s", err, out)
	}
}
