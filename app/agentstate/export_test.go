package agentstate

import (
	"syscall"
	"testing"
)

// Look does at once what the watchers of logins do each second.
func (k *Keeper) Look() {
	k.mu.Lock()
	var all []*vault
	for _, v := range k.logins {
		all = append(all, v)
	}
	k.mu.Unlock()
	for _, v := range all {
		v.look()
	}
}

// Renewed waits for the renewals that have begun.
func (k *Keeper) Renewed() { k.renewals.Wait() }

func fifo(t *testing.T, file string) {
	t.Helper()
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
}
