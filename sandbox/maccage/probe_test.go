package maccage

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	"termic/sandbox/seatbelt/judge"
)

var caged = []capability.Mode{capability.EnforceFS, capability.Enforce}

// asked is a try as the kernel is asked for it.
func asked(do []string) []judge.Request {
	file := func(op, name string) judge.Request { return judge.Request{Op: op, Path: onAMac(name)} }
	switch do[0] {
	case seatbelt.TryStart:
		return []judge.Request{{Op: "process-exec"}, {Op: "process-fork"}}
	case seatbelt.TryRead, seatbelt.TryList:
		return []judge.Request{file("file-read-data", do[1])}
	case seatbelt.TryAppend:
		return []judge.Request{file("file-write-data", do[1])}
	case seatbelt.TryCreate:
		return []judge.Request{file("file-write-create", do[1]), file("file-write-unlink", do[1])}
	case seatbelt.TryMove:
		return []judge.Request{file("file-write-unlink", do[1]), file("file-write-create", do[2])}
	case seatbelt.TryFollow:
		return []judge.Request{file("file-write-create", do[2]), file("file-read-data", do[1])}
	case seatbelt.TryLink:
		return []judge.Request{file("file-link", do[1])}
	case seatbelt.TryConnect:
		return []judge.Request{{Op: "network-outbound", Net: "tcp", Host: "localhost", Port: do[1]}}
	case seatbelt.TrySend:
		return []judge.Request{{Op: "network-outbound", Net: "udp", Host: "localhost", Port: do[1]}}
	case seatbelt.TrySocket:
		return []judge.Request{{Op: "network-outbound", Net: "unix", Path: onAMac(do[1])}}
	case seatbelt.TrySignal:
		return []judge.Request{{Op: "signal"}}
	}
	return nil
}

// onAMac is the path as a Mac would have it, where /tmp and /var are links.
func onAMac(name string) string {
	if strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/var/") {
		return "/private" + name
	}
	return name
}

func allowed(policy *judge.Policy, do []string) bool {
	requests := asked(do)
	return len(requests) > 0 && !slices.ContainsFunc(requests, func(r judge.Request) bool { return !policy.Allows(r) })
}

// kernel is a Mac by evaluation: what a policy refuses is refused, and the rest is really done.
type kernel struct {
	t *testing.T
	// processes: the prober is started, and not only called.
	processes bool
	// fault changes an answer: of a Mac that is not as it should be.
	fault func(under bool, do []string, output string, err error) (string, error)
}

func (k kernel) Run(ctx context.Context, argv []string, dir string) (output string, err error) {
	under := argv[0] == seatbelt.Program
	do := argv
	refuses := false
	if under {
		if argv[1] != "-p" || argv[3] != "--" {
			k.t.Fatalf("arguments %q", argv)
		}
		policy, err := judge.Parse(argv[2])
		if err != nil {
			k.t.Fatal(err)
		}
		do = argv[4:]
		refuses = !allowed(policy, do[2:])
	}
	if refuses {
		output = refusedBy + "\n"
	} else if k.processes {
		output, err = System{}.Run(ctx, do, dir)
	} else {
		output = try(do[2:]) + "\n"
	}
	if k.fault != nil {
		return k.fault(under, do[2:], output, err)
	}
	return output, err
}

func TestATrialPassesWhereThePolicyHolds(t *testing.T) {
	for _, mode := range caged {
		if err := Probe(t.Context(), kernel{t: t, processes: true}, self(t), mode); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// Each way in which a Mac can be other than its policy says, or say nothing, is no cage.
func TestATrialFailsWhereAnythingElseHappens(t *testing.T) {
	for name, fault := range map[string]func(under bool, do []string, output string, err error) (string, error){
		"no sandbox-exec": func(under bool, _ []string, output string, err error) (string, error) {
			if under {
				return "", errors.New("no such file or directory")
			}
			return output, err
		},
		"the policy is not taken": func(under bool, _ []string, output string, err error) (string, error) {
			if under {
				return "sandbox-exec: unbound variable: file-frob\n", errors.New("exit status 65")
			}
			return output, err
		},
		"everything is refused": func(under bool, _ []string, output string, err error) (string, error) {
			if under {
				return refusedBy + "\n", nil
			}
			return output, err
		},
		"nothing is refused": func(_ bool, _ []string, _ string, _ error) (string, error) { return done + "\n", nil },
		"nothing is said":    func(bool, []string, string, error) (string, error) { return "", nil },
		"more is said":       func(_ bool, _ []string, output string, err error) (string, error) { return "warning\n" + output, err },
		"it is cut off": func(_ bool, _ []string, output string, err error) (string, error) {
			return strings.TrimSuffix(output, "\n"), err
		},
		"it crashes after its word": func(_ bool, _ []string, output string, _ error) (string, error) {
			return output, errors.New("signal: killed")
		},
		"it is refused with another error": func(_ bool, _ []string, output string, err error) (string, error) {
			return strings.ReplaceAll(output, refusedBy, "EACCES"), err
		},
		"it is refused without a policy too": func(_ bool, do []string, output string, err error) (string, error) {
			if do[0] == seatbelt.TrySignal {
				return refusedBy + "\n", nil
			}
			return output, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range caged {
				if err := Probe(t.Context(), kernel{t: t, fault: fault}, self(t), mode); err == nil {
					t.Errorf("%s: there is a cage", mode)
				}
			}
		})
	}
}

// One thing that a policy should refuse and the machine allows is found, whichever it is; and so is one that it should allow.
func TestEveryTryCounts(t *testing.T) {
	for _, mode := range caged {
		for _, try := range (seatbelt.Ground{Base: "/g"}).Tries(mode) {
			lied := false
			lie := func(under bool, do []string, output string, err error) (string, error) {
				// The base differs from run to run.
				if under && do[0] == try.Do[0] && (len(do) < 2 || strings.HasSuffix(do[1], strings.TrimPrefix(try.Do[1], "/g")) || try.Do[1] == "0") {
					lied = true
					return map[string]string{done + "\n": refusedBy + "\n", refusedBy + "\n": done + "\n"}[output], err
				}
				return output, err
			}
			var failed *TrialError
			if err := Probe(t.Context(), kernel{t: t, fault: lie}, self(t), mode); !errors.As(err, &failed) || !lied {
				t.Errorf("%s: %s: %v", mode, try.What, err)
			}
		}
	}
}

// Whatever the place of a trial is called, its policy means what the tries say.
func TestTrialPoliciesMeanTheirTries(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	names := []string{"plain", "a b", `q"uote`, `back\slash`, "(allow default)", `")(allow default)(deny file-read* (subpath "`, "semi;colon", `#"raw"`, "ünï", "termic-trial-1"}
	for range 20 {
		base := filepath.Join(t.TempDir(), names[r.IntN(len(names))], names[r.IntN(len(names))])
		if err := os.MkdirAll(base, 0o700); err != nil {
			t.Fatal(err)
		}
		mode := caged[r.IntN(2)]
		g, policy := trialIn(t, base, mode)
		judged, err := judge.Parse(policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, try := range g.Tries(mode) {
			if got := allowed(judged, try.Do); got != try.Allowed {
				t.Errorf("in %q, %s: %s: allowed %v by\n%s", base, mode, try.What, got, policy)
			}
		}
	}
}

func trialIn(t *testing.T, base string, mode capability.Mode) (seatbelt.Ground, string) {
	t.Helper()
	g := seatbelt.Ground{Base: base, Prober: self(t), Shared: "/private/tmp", Named: 4711, Proxy: 4712, Other: 4713, Stranger: 99, UID: os.Getuid()}
	for _, name := range g.Files() {
		dir, isDir := strings.CutSuffix(name, "/")
		if !isDir {
			dir = filepath.Dir(name)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if !isDir {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	policy, err := groundPolicy(g, mode)
	if err != nil {
		t.Fatal(err)
	}
	return g, policy
}

// Rules that a person asked for beside those of the trial do not change what it refuses.
func TestNoRuleOpensTheTrial(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	base := t.TempDir()
	g, _ := trialIn(t, base, capability.Enforce)
	declared, err := g.Declared(capability.Enforce)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := profile.Compile(declared, g.Dirs(), profile.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		p := plain
		p.Rules = slices.Clone(plain.Rules)
		for range 1 + r.IntN(4) {
			at := []string{base, base + "/home", base + "/data", base + "/data/tasks", base + "/checkout", base + "/neighbour", base + "/home/.ssh"}[r.IntN(7)]
			p.Rules = slices.Insert(p.Rules, r.IntN(len(p.Rules)+1), profile.Rule{Path: at, Source: at, Access: []profile.Access{profile.ReadOnly, profile.Writable}[r.IntN(2)]})
		}
		policy, err := seatbelt.Render(p, g.Places())
		if err != nil {
			continue
		}
		judged, err := judge.Parse(policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, try := range g.Tries(capability.Enforce) {
			secret := slices.ContainsFunc([]string{"/.ssh/", "/data/cli-token", "/tasks/8/", "/neighbour/", "/checkout/.git"}, func(s string) bool {
				return len(try.Do) > 1 && strings.Contains(try.Do[1], s)
			})
			network := slices.Contains([]string{seatbelt.TryConnect, seatbelt.TrySend, seatbelt.TrySocket, seatbelt.TrySignal}, try.Do[0])
			if (secret || network) && !try.Allowed && allowed(judged, try.Do) {
				t.Fatalf("%s is allowed by\n%s", try.What, policy)
			}
		}
	}
}

func TestTryTells(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"start": done, "read " + file: done, "append " + file: done, "list " + dir: done, "create " + dir + "/g": done, "move " + file + " " + dir + "/h": done,
		"read " + dir + "/x": "ENOENT", "create " + file: "EEXIST", "list " + file: "ENOTDIR", "socket " + dir + "/x": "ENOENT", "connect 1": "ECONNREFUSED", "signal 999999999": "ESRCH",
		"read": "read of 0 operands", "start x": "start of 1 operands", "move " + file: "move of 1 operands", "frob x": `"frob" is nothing to try`, "signal 1": `process "1"`, "signal x": `process "x"`,
	} {
		if got := try(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
