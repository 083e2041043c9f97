package handlers

import (
	"testing"

	"termic/registry/refusal"
)

// An entry that would let nothing through is refused with what does; names that only look like this machine's are hosts.
func TestNamesOfThisMachineAreNoHostsOfACage(t *testing.T) {
	for _, host := range []string{"localhost", "localhost:8080", "LOCALHOST", "app.localhost:3000"} {
		_, err := limits([]string{host}, nil, nil, nil)
		if no, ok := refusal.From(err); !ok || no.Code != refusal.BadInput || no.Remedy == "" {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"localhost.example", "notlocalhost", "a.example:8080"} {
		if _, err := limits([]string{host}, nil, nil, nil); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
