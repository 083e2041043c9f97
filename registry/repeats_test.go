package registry

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry/refusal"
)

func say(r *rig, caller Caller, raw string) (string, error) {
	result, err := r.Dispatch(context.Background(), caller, "test_write", json.RawMessage(raw))
	return string(result), err
}

func TestAKeyRepeatsTheFirstOutcome(t *testing.T) {
	r := newRig(t, allow, nil)
	first, err := say(r, person, `{"text":"hi","key":"k"}`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := say(r, person, `{"key":"k","text":"hi"}`)
	if err != nil || again != first || r.calls != 1 {
		t.Errorf("%s, %v after %d calls of the handler", again, err, r.calls)
	}
	if _, err := say(r, person, `{"text":"hi"}`); err != nil || r.calls != 2 {
		t.Errorf("without the key: %v after %d calls of the handler", err, r.calls)
	}
}

func TestAKeyWithOtherArgumentsIsAConflict(t *testing.T) {
	r := newRig(t, allow, nil)
	if _, err := say(r, person, `{"text":"hi","key":"k"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := say(r, person, `{"text":"ho","key":"k"}`); codeOf(err) != refusal.Conflict || r.calls != 1 {
		t.Errorf("%v after %d calls of the handler", err, r.calls)
	}
}

func TestKeysOfTwoCallersDoNotMeet(t *testing.T) {
	r := newRig(t, allow, nil)
	one, other := Caller{Way: MCP, Scope: Full, Ceiling: Destructive, Grant: "g-one"}, Caller{Way: MCP, Scope: Full, Ceiling: Destructive, Grant: "g-other"}
	for _, caller := range []Caller{person, one, other} {
		if _, err := say(r, caller, `{"text":"hi","key":"k"}`); err != nil {
			t.Fatal(err)
		}
	}
	if r.calls != 3 {
		t.Errorf("%d calls of the handler", r.calls)
	}
}

func TestAKeyIsForgottenAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, allow, nil)
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {repeatFor - time.Second, 1}, {2 * time.Second, 2}} {
			time.Sleep(step.wait)
			if _, err := say(r, person, `{"text":"hi","key":"k"}`); err != nil || r.calls != step.want {
				t.Errorf("%v later: %v after %d calls of the handler, want %d", step.wait, err, r.calls, step.want)
			}
		}
	})
}

func TestARefusalBeforeTheEffectMayBeTriedAgain(t *testing.T) {
	r := newRig(t, allow, nil)
	r.sink.fail = context.DeadlineExceeded
	if _, err := say(r, person, `{"text":"hi","key":"k"}`); codeOf(err) != refusal.StorageFailed {
		t.Fatalf("%v", err)
	}
	r.sink.fail = nil
	if _, err := say(r, person, `{"text":"hi","key":"k"}`); err != nil {
		t.Errorf("%v", err)
	}
}

// TestWhatWasUndoneWithItsCallerMayBeTriedAgain: by the caller itself, and by one that waited for its outcome. What its caller got to
// the end is not done twice.
func TestWhatWasUndoneWithItsCallerMayBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := true
		r := newRig(t, allow, func(ctx context.Context, _ Call, in echoIn) (echoOut, error) {
			if gone {
				<-ctx.Done()
				return echoOut{}, ctx.Err()
			}
			return echoOut{Said: in.Text}, nil
		})
		raw := json.RawMessage(`{"text":"hi","key":"k"}`)
		caller, leave := context.WithCancel(t.Context())
		var first, second error
		go func() { _, first = r.Dispatch(caller, person, "test_undone", raw) }()
		synctest.Wait()
		go func() { _, second = r.Dispatch(t.Context(), person, "test_undone", raw) }()
		synctest.Wait()
		gone = false
		leave()
		synctest.Wait()
		if codeOf(first) != refusal.Cancelled || second != nil || r.calls != 2 {
			t.Errorf("first %v, second %v after %d calls of the handler", first, second, r.calls)
		}
		if _, err := r.Dispatch(t.Context(), person, "test_undone", raw); err != nil || r.calls != 2 {
			t.Errorf("again: %v after %d calls of the handler", err, r.calls)
		}
	})
}

func TestCallsWithOneKeyAtOnceRunOnce(t *testing.T) {
	var running atomic.Int32
	release := make(chan struct{})
	r := newRig(t, allow, func(context.Context, Call, echoIn) (echoOut, error) {
		running.Add(1)
		<-release
		return echoOut{Said: "once"}, nil
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := say(r, person, `{"text":"hi","key":"k"}`); err != nil || got != `{"said":"once","parts":[]}` {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	for running.Load() == 0 {
		time.Sleep(time.Millisecond) // only to see that the first has begun
	}
	close(release)
	all.Wait()
	if n := running.Load(); n != 1 {
		t.Errorf("%d calls of the handler", n)
	}
}
