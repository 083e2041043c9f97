package launch

import (
	"os"
	"slices"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
	"termic/sandbox/stage"
)

// TestReportsThatLackSomething: a report is compared item by item, whatever the stage says of itself.
func TestReportsThatLackSomething(t *testing.T) {
	plan := linuxcage.Plan{Mode: capability.Enforce, Ports: []uint16{1}, Attest: linuxcage.Attest{Absent: []string{"/a", "/b"}, Network: true}}
	full := func() (*starter, *stage.Report) {
		return &starter{plan: plan, files: []*os.File{nil}}, &stage.Report{Proved: stage.Needs(plan), Absent: 2}
	}
	if s, report := full(); s.complete(report) != nil {
		t.Errorf("a full report: %v", s.complete(report))
	}
	for _, item := range stage.Needs(plan) {
		s, report := full()
		report.Proved = slices.DeleteFunc(report.Proved, func(p string) bool { return p == item })
		if s.complete(report) == nil {
			t.Errorf("without %q it is complete", item)
		}
	}
	for name, change := range map[string]func(*starter, *stage.Report){
		"a path that was not tried": func(_ *starter, r *stage.Report) { r.Absent-- },
		"no listening socket":       func(s *starter, _ *stage.Report) { s.files = nil },
		"one too many":              func(s *starter, _ *stage.Report) { s.files = append(s.files, nil) },
		"nothing proved":            func(_ *starter, r *stage.Report) { r.Proved = nil },
		"proofs of another mode": func(s *starter, _ *stage.Report) {
			s.plan.Attest = linuxcage.Attest{Absent: plan.Attest.Absent, Scoped: true}
		},
	} {
		s, report := full()
		change(s, report)
		if s.complete(report) == nil {
			t.Errorf("%s: it is complete", name)
		}
	}
}
