package git

import (
	"strings"
	"testing"
	"time"
)

// Kernel limits end a git that goes on, and only that git.
func TestKernelBounds(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	q, err := r.Quarantine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Remove()
	text := strings.Repeat("0123456789abcdef", 1<<16)
	for what, b := range map[string]Bounds{
		"none": {}, "file": {File: 1000}, "memory": {Memory: 100_000}, "plenty": {File: 8 << 20, Memory: 1 << 30, CPU: time.Minute},
	} {
		noise := what + strings.Repeat("\x00\x01\x02", 1000) + text[:1<<19] + h.dir + text // a new object each time
		_, err := q.Run(t.Context(), Sealed{Args: []string{"-c", "core.compression=0", "hash-object", "-w", "--stdin"}, Stdin: strings.NewReader(noise), Bounds: b})
		if fails := what == "file" || what == "memory"; fails != (err != nil) {
			t.Errorf("bounded by %s: %v", what, err)
		}
	}
	if _, err := q.Run(t.Context(), Sealed{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: strings.NewReader(text)}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
