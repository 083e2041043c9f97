package task

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"termic/sandbox/capability"
	"termic/sandbox/egress"
	"termic/sandbox/watch"
)

func unlisted(host string) egress.Decision {
	return egress.Decision{Host: host, Port: 443, Class: egress.Unlisted, Reason: host + " is not listed"}
}

func targets(d *denials) []string {
	list, _ := d.list(capability.Hosts{})
	var out []string
	for _, denial := range list {
		out = append(out, denial.Target)
	}
	return out
}

// An agent that tries many names hides neither what its programs keep trying nor what they tried by another way.
func TestNoiseHidesNoDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDenials(slog.New(slog.DiscardHandler), "t-1")
		d.connects(watch.Notice{Addr: netip.MustParseAddrPort("192.0.2.1:22")})
		d.decided(unlisted("registry.example"))
		d.decided(unlisted("registry.example"))
		for i := range 10 * maxDenials {
			time.Sleep(time.Second)
			d.decided(unlisted(fmt.Sprintf("noise%d.example", i)))
		}
		shown := targets(d)
		for _, want := range []string{"192.0.2.1:22", "registry.example:443", fmt.Sprintf("noise%d.example:443", 10*maxDenials-1)} {
			if !slices.Contains(shown, want) {
				t.Errorf("%s is not among %d", want, len(shown))
			}
		}
		if slices.Contains(shown, "noise0.example:443") {
			t.Error("what was tried once and longest ago is kept")
		}
		if _, more := d.list(capability.Hosts{}); len(shown) != maxDenials+1 || more != 9*maxDenials+1 {
			t.Errorf("%d are kept and %d are not", len(shown), more)
		}
	})
}

func TestWhatWouldAllowADenial(t *testing.T) {
	for name, row := range map[string]struct {
		decision egress.Decision
		allow    string
	}{
		"a name that is not listed":            {unlisted("registry.example"), "registry.example"},
		"this machine, which no entry reaches": {unlisted("localhost"), ""},
		"another name of it":                   {unlisted("app.localhost"), ""},
		"an address":                           {egress.Decision{Host: "10.0.0.1", Port: 443, Class: egress.Private}, ""},
		"plain HTTP, which is never let out":   {egress.Decision{Host: "registry.example", Port: 80, Class: egress.NotConnect}, ""},
	} {
		if allow, widens := wouldAllow(row.decision); allow != row.allow || (widens != "") != (row.allow != "") {
			t.Errorf("%s: %q (%q)", name, allow, widens)
		}
	}
}

func TestPlainHTTPIsListedByItsHost(t *testing.T) {
	d := newDenials(slog.New(slog.DiscardHandler), "t-1")
	d.decided(egress.Decision{Host: "registry.example", Port: 80, Class: egress.NotConnect, Reason: "use https"})
	d.decided(egress.Decision{Class: egress.NotConnect, Reason: "use https"})
	list, _ := d.list(capability.AllHosts())
	if len(list) != 2 || !slices.ContainsFunc(list, func(denial Denial) bool {
		return denial.Target == "registry.example:80" && denial.Reason == "use https" && denial.Allow == ""
	}) {
		t.Errorf("%+v", list)
	}
}
