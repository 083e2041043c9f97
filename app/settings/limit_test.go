package settings

import (
	"testing"

	"termic/sandbox/linuxcage"
)

func TestTheFewestProcessesAreThoseThatACageTakes(t *testing.T) {
	if minProcesses != linuxcage.MinProcesses {
		t.Errorf("settings take %d, a cage %d", minProcesses, linuxcage.MinProcesses)
	}
}
