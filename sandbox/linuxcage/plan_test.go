package linuxcage_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

var update = flag.Bool("update", false, "write the golden files")

// full is a profile with a rule of each kind. The goldens pin: parents first; what is writable; which ports; that
// enforce proves its network and enforce-fs its scopes.
func full(mode capability.Mode) profile.Profile {
	return profile.Profile{
		Mode: mode, Home: "/home/u", Checkout: "/data/7/checkout", MCP: mode == capability.Enforce, Proxy: mode == capability.Enforce,
		Rules: []profile.Rule{
			{Path: "/bin", Access: profile.Link, Target: "usr/bin"},
			{Path: "/etc", Access: profile.ReadOnly, Source: "/etc"},
			{Path: "/run", Access: profile.Private},
			{Path: "/tmp", Access: profile.Private},
			{Path: "/usr", Access: profile.ReadOnly, Source: "/usr"},
			{Path: "/etc/shadow", Access: profile.Hidden, File: true},
			{Path: "/home/u", Access: profile.Private},
			{Path: "/run/user/1000", Access: profile.Private},
			{Path: "/data/7/checkout", Access: profile.Writable, Source: "/data/7/checkout"},
			{Path: "/data/7/checkout/.git", Access: profile.ReadOnly, Source: "/data/7/gitfile", File: true},
		},
		Caches: []profile.Cache{{Path: "/home/u/go/pkg", Lower: "/home/u/go/pkg", Upper: "/data/7/c/u", Work: "/data/7/c/w", Fallback: profile.FallbackReadOnly}},
		Absent: []string{"/data", "/home/u/.ssh"}, Replaced: []string{"/home/u/.claude"},
	}
}

func TestGolden(t *testing.T) {
	for _, mode := range []capability.Mode{capability.Enforce, capability.EnforceFS} {
		t.Run(mode.String(), func(t *testing.T) {
			plan, err := linuxcage.Build(full(mode))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(plan, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", mode.String()+".golden.json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the plan differs from %s; read it, then -update:\n%s", file, got)
			}
			var back linuxcage.Plan
			if err := json.Unmarshal(got, &back); err != nil || back.Check() != nil {
				t.Errorf("read back: %v, %v", err, back.Check())
			}
		})
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	tests := []struct {
		name   string
		change func(*linuxcage.Plan)
		want   string
	}{
		{"nothing changed", func(*linuxcage.Plan) {}, ""},
		{"a cage in which nothing could run", func(p *linuxcage.Plan) { p.Processes = linuxcage.MinProcesses - 1 }, "too few"},
		{"less than no process", func(p *linuxcage.Plan) { p.Processes = -1 }, "too few"},
		{"another version", func(p *linuxcage.Plan) { p.Version++ }, "version"},
		{"no mode", func(p *linuxcage.Plan) { p.Mode = 0 }, "no cage"},
		{"monitor", func(p *linuxcage.Plan) { p.Mode = capability.Monitor }, "no cage"},
		{"a weaker mode with the proofs of the stricter", func(p *linuxcage.Plan) { p.Mode = capability.EnforceFS }, "does not prove"},
		{"no proof of the network", func(p *linuxcage.Plan) { p.Attest.Network = false }, "does not prove"},
		{"no proof of the root", func(p *linuxcage.Plan) { p.Attest.Unwritable = nil }, "root is read-only"},
		{"a child before its parent", func(p *linuxcage.Plan) { p.Mounts[0], p.Mounts[5] = p.Mounts[5], p.Mounts[1] }, "would cover"},
		{"the same path twice", func(p *linuxcage.Plan) { p.Mounts = append(p.Mounts, p.Mounts[0]) }, "would cover"},
		{"a relative path", func(p *linuxcage.Plan) { p.Mounts[1].Source = "etc" }, "absolute and clean"},
		{"a path that climbs", func(p *linuxcage.Plan) { p.Mounts[1].Source = "/etc/../root" }, "absolute and clean"},
		{"the root", func(p *linuxcage.Plan) { p.Mounts[1].Path = "/" }, "not complete"},
		{"processes", func(p *linuxcage.Plan) { p.Mounts[1].Path = "/proc" }, "cage's own"},
		{"below devices", func(p *linuxcage.Plan) { p.Mounts[1].Path = "/dev/sda" }, "cage's own"},
		{"a bind of nothing", func(p *linuxcage.Plan) { p.Mounts[1].Source = "" }, "not complete"},
		{"an unknown kind", func(p *linuxcage.Plan) { p.Mounts[1].Kind = "move" }, "not complete"},
		{"an overlay without a fallback", func(p *linuxcage.Plan) {
			for i := range p.Mounts {
				p.Mounts[i].Fallback = ""
			}
		}, "not complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := linuxcage.Build(full(capability.Enforce))
			if err != nil {
				t.Fatal(err)
			}
			tt.change(&plan)
			if err := plan.Check(); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestProfilesWithoutAPlan(t *testing.T) {
	ports := full(capability.EnforceFS)
	ports.Proxy = true
	access := full(capability.Enforce)
	access.Rules[0].Access = 99
	for name, p := range map[string]profile.Profile{"no mode": {}, "monitor": full(capability.Monitor), "ports on the host's network": ports, "an unknown access": access} {
		if _, err := linuxcage.Build(p); err == nil {
			t.Errorf("%s: a plan was made", name)
		}
	}
}
