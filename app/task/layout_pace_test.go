package task

import (
	"testing"
	"time"
)

func TestSavesThatTakeLongAreRare(t *testing.T) {
	for _, c := range []struct{ took, want time.Duration }{
		{0, 3 * time.Second},
		{10 * time.Millisecond, 3 * time.Second},
		{100 * time.Millisecond, 5 * time.Second},
		{time.Second, 50 * time.Second},
		{time.Hour, time.Minute},
	} {
		if got := saveAfter(c.took); got != c.want {
			t.Errorf("after a save of %v: %v, want %v", c.took, got, c.want)
		}
	}
}
