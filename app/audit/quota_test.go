package audit

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry/refusal"
)

func TestAGrantThatHasUsedItsShareIsRefusedUntilTheHourIsOver(t *testing.T) {
	dir := logDir(t)
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, dir, Options{Quota: 2000})
		taken := 0
		var err error
		for ; err == nil && taken < 100; taken++ {
			err = l.Record(t.Context(), of("g-a", read(taken)))
		}
		var quota *QuotaError
		if !errors.Is(err, ErrQuota) || !errors.As(err, &quota) || quota.Grant != "g-a" || time.Until(quota.Until) != time.Hour {
			t.Fatalf("Record: %v, want ErrQuota for an hour", err)
		}
		if no, ok := refusal.From(err); !ok || no.Code != refusal.Busy {
			t.Errorf("the caller would be told %v", no)
		}
		if taken < 4 || taken > 10 {
			t.Errorf("%d events of about 400 bytes in 2000 bytes", taken)
		}
		// Outcomes, other grants and the person are not held up by it.
		record(t, l, of("g-a", finished(50)), of("g-b", decided(51)), decided(52))
		for n := range 3 {
			if err := l.Record(t.Context(), of("g-a", decided(n))); !errors.Is(err, ErrQuota) {
				t.Errorf("Record: %v, want ErrQuota", err)
			}
		}
		time.Sleep(time.Hour - time.Nanosecond)
		if err := l.Record(t.Context(), of("g-a", decided(60))); !errors.Is(err, ErrQuota) {
			t.Errorf("just before the hour is over: %v, want ErrQuota", err)
		}
		time.Sleep(time.Nanosecond)
		record(t, l, of("g-a", decided(61)))
		shut(t, l)
	})
	r := whole(t, dir)
	if kinds(r.Noted) != "quota quota" || r.Noted[0].Count != 0 || r.Noted[1].Count != 5 || r.Noted[1].Grant != "g-a" {
		t.Errorf("notes %+v; want one when it was reached and one that counts 5", r.Noted)
	}
}

func TestRefusedCallsOfAGrantCannotFillTheLog(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{Quota: 5000})
	for n := range 500 {
		e := of("g-a", decided(n))
		e.Allow, e.Code = false, refusal.NotFound
		_ = l.Record(t.Context(), e)
	}
	size := 0
	for _, line := range lines(t, files(t, dir)[0]) {
		size += len(line)
	}
	if size > 6000 {
		t.Errorf("%d bytes for a quota of 5000", size)
	}
	whole(t, dir)
}
