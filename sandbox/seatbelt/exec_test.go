package seatbelt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
)

func TestArgv(t *testing.T) {
	got, err := seatbelt.Argv("(version 1)", []string{"-x", "--", "a b"}, []string{"A=1"})
	want := []string{"/usr/bin/sandbox-exec", "-p", "(version 1)", "--", "-x", "--", "a b"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for name, tt := range map[string]struct {
		policy    string
		argv, env []string
	}{
		"no policy":              {"", []string{"sh"}, nil},
		"no program":             {"(version 1)", nil, nil},
		"an empty program":       {"(version 1)", []string{""}, nil},
		"NUL in the policy":      {"(version 1)\x00(allow default)", []string{"sh"}, nil},
		"NUL in an argument":     {"(version 1)", []string{"sh", "a\x00b"}, nil},
		"NUL in the environment": {"(version 1)", []string{"sh"}, []string{"A=\x00"}},
	} {
		if got, err := seatbelt.Argv(tt.policy, tt.argv, tt.env); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	var size *seatbelt.SizeError
	if _, err := seatbelt.Argv(strings.Repeat("x", 1<<20), []string{"sh"}, nil); !errors.As(err, &size) {
		t.Errorf("a policy of 1 MiB: %v", err)
	}
	if _, err := seatbelt.Argv("p", []string{"sh"}, slices.Repeat([]string{"A=1"}, 1<<17)); !errors.As(err, &size) {
		t.Errorf("an environment of a million bytes: %v", err)
	}
	if _, err := seatbelt.Argv(strings.Repeat("x", 1<<19), []string{"sh"}, nil); err != nil {
		t.Errorf("twin: %v", err)
	}
}

// A policy of a person with all the paths that they may list still starts a program.
func TestALargePolicyFits(t *testing.T) {
	p := compile(t, capability.Enforce, set(t, true, true))
	for i := range 1000 {
		name := home + "/Documents/" + strings.Repeat("d", i%100+1) + "/" + strings.Repeat("e", i%50+1)
		p.Rules = append(p.Rules, profile.Rule{Path: name, Source: name, Access: profile.ReadOnly})
	}
	if _, err := seatbelt.Argv(render(t, p), []string{"/bin/zsh"}, nil); err != nil {
		t.Error(err)
	}
}

func TestEnvironOfACage(t *testing.T) {
	p := compile(t, capability.Enforce, set(t, true, true))
	got := seatbelt.Environ(p, places(), []string{"HOME=/Users/u", "PATH=/usr/bin", "TMPDIR=/var/folders/x", "XDG_RUNTIME_DIR=/x", "TERMIC_MCP_TOKEN=full", "SSH_AUTH_SOCK=/s", "LANG=C"})
	for _, want := range []string{"HOME=" + places().Home, "TMPDIR=" + places().Temp, "PATH=" + places().Programs + ":/usr/bin", "HTTPS_PROXY=http://127.0.0.1:4712", "LANG=C"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, entry := range got {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"TERMIC_MCP_TOKEN", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"}, name) {
			t.Errorf("the cage has %s", entry)
		}
	}
	p = compile(t, capability.EnforceFS, set(t, true, true))
	if got := seatbelt.Environ(p, places(), nil); !slices.Contains(got, "PATH="+places().Programs) || slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "HTTP_PROXY") }) {
		t.Errorf("in enforce-fs: %q", got)
	}
}
