package launch

import (
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"termic/sandbox/capability"
	"termic/sandbox/stage"
)

// TestDiagnose reads made-up machines. AppArmor's restriction, Debian's switch and old kernels were not to be had for
// a real run.
func TestDiagnose(t *testing.T) {
	machine := func(settings ...string) fstest.MapFS {
		root := fstest.MapFS{}
		for _, s := range settings {
			name, value, _ := strings.Cut(s, "=")
			root[name] = &fstest.MapFile{Data: []byte(value + "\n")}
		}
		return root
	}
	const (
		users    = "proc/sys/user/max_user_namespaces="
		debian   = "proc/sys/kernel/unprivileged_userns_clone="
		apparmor = "proc/sys/kernel/apparmor_restrict_unprivileged_userns="
	)
	tests := []struct {
		name   string
		step   string
		errno  syscall.Errno
		root   fstest.MapFS
		remedy string
		what   string
	}{
		{"no namespaces", stage.StepClone, syscall.ENOSPC, machine(users + "0"), remedyUserNS, "switched off"},
		{"all namespaces in use", stage.StepClone, syscall.ENOSPC, machine(users + "100"), remedyUserNS, "in use"},
		{"Debian's switch", stage.StepClone, syscall.EPERM, machine(users+"100", debian+"0"), remedyDebian, "forbidden to users"},
		{"Debian's switch, on", stage.StepClone, syscall.EPERM, machine(users+"100", debian+"1"), "start termic outside that sandbox", "security module"},
		{"AppArmor at the clone", stage.StepClone, syscall.EACCES, machine(users+"100", apparmor+"1"), remedyAppArmor, "AppArmor"},
		{"AppArmor at the first mount", stage.StepPrivate, syscall.EACCES, machine(users+"100", apparmor+"1"), remedyAppArmor, "AppArmor"},
		{"AppArmor, off", stage.StepPrivate, syscall.EACCES, machine(users+"100", apparmor+"0"), "start termic outside that sandbox", "security module"},
		{"AppArmor and another failure", stage.StepProc, syscall.EPERM, machine(apparmor + "1"), remedyOutside, "/proc is masked"},
		{"a container", stage.StepClone, syscall.EPERM, machine(users+"100", ".dockerenv="), remedyOutside, "container"},
		{"Podman", stage.StepPrivate, syscall.EPERM, machine("run/.containerenv="), remedyOutside, "container"},
		{"a masked /proc", stage.StepProc, syscall.EPERM, machine(".dockerenv="), remedyOutside, "/proc is masked"},
		{"an old kernel", stage.StepRoot, syscall.ENOSYS, machine(), remedyKernel, "5.12"},
		{"no scopes", stage.StepLandlock, syscall.EOPNOTSUPP, machine(), remedyScopes, "abstract sockets"},
		{"no filters", stage.StepSeccomp, syscall.EINVAL, machine(), "CONFIG_SECCOMP_FILTER", "filters"},
		{"what nobody knows", stage.StepClone, syscall.EIO, machine(users + "100"), "read the cause", "could not be made"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := diagnose(capability.Enforce, &stage.Failure{Step: tt.step, What: tt.errno.Error(), Errno: tt.errno}, tt.root)
			if !strings.Contains(err.Lack.Remedy, tt.remedy) || !strings.Contains(err.Lack.What, tt.what) {
				t.Errorf("got %+v", err.Lack)
			}
			if strings.Contains(err.Error(), "apparmor_restrict_unprivileged_userns=0") {
				t.Error("the remedy opens the machine to every program")
			}
			if !machineLacks(err.Cause.(*stage.Failure)) && tt.errno != syscall.EIO {
				t.Error("it is taken for a fault of one plan")
			}
		})
	}
	if machineLacks(&stage.Failure{Step: stage.StepRoot, Errno: syscall.ENOENT}) {
		t.Error("a missing directory is taken for a fault of the machine")
	}
}

func TestAppArmorProfileNamesTheStageOnly(t *testing.T) {
	text := string(AppArmorProfile)
	for _, want := range []string{"abi <abi/4.0>,", "profile termic-stage /usr{,/local}/lib/termic/stage flags=(unconfined)", "userns,"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Count(text, "profile ") != 1+strings.Count(text, "The profile ") {
		t.Errorf("more than one profile:\n%s", text)
	}
}
