package handlers

import (
	"strings"
	"testing"
)

// What was only ever judged by evaluation is not said to be proved.
func TestDoctorSaysWhatCagesStandOn(t *testing.T) {
	if mac, linux := cageEvidence("darwin"), cageEvidence("linux"); !strings.Contains(mac, "verified by evaluation, not on a Mac") || strings.Contains(linux, "Mac") || !strings.Contains(linux, "proved") {
		t.Errorf("%q, %q", mac, linux)
	}
}
