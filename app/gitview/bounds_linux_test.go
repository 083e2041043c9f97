package gitview

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// A thin pack of a few hundred bytes names a large object of the project, which git then writes out once more: the
// kernel's bound on files holds where the bound on what comes in does not.
func TestSmallPackThatUnfolds(t *testing.T) {
	big := make([]byte, 4<<20)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(big); i++ {
		big[i] = byte(r.Uint32())
	}
	r := newRig(t, func(r *rig) { r.write(filepath.Join(r.project, "big"), string(big)) })
	tip := r.commit("big", string(big)+"x")
	claim := Claim{Tip: tip}
	pack := r.packed(claim)
	if len(pack) > 10_000 {
		t.Fatalf("a pack of %d bytes: the test tries nothing", len(pack))
	}
	_, err := r.task.Import(t.Context(), bytes.NewReader(pack), claim, Limits{Pack: 1 << 20})
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Rule != RulePack {
		t.Errorf("with 1 MiB: %v", err)
	}
	// Too little memory in all, and too little for one object.
	for name, lim := range map[string]Limits{"memory": {Memory: 1 << 20}, "object": {Object: 1 << 20}} {
		if _, err := r.task.Import(t.Context(), bytes.NewReader(pack), claim, lim); !errors.As(err, &refused) || refused.Rule != RulePack {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := r.task.Import(t.Context(), bytes.NewReader(pack), claim, Limits{Pack: 8 << 20}); err != nil || got.Outcome != Moved {
		t.Errorf("with 8 MiB: %+v, %v", got, err)
	}
}
