package task

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"termic/registry/refusal"
	"termic/sandbox/launch"
)

// What keeps a server from being opened is said, with what to do; what is not known is not made up.
func TestWhyAServerIsNotOpenedIsSaid(t *testing.T) {
	unknown := errors.New("something else")
	for name, c := range map[string]struct {
		err  error
		code refusal.Code // empty: as it is
	}{
		"a port of the app":           {launch.ErrOwnPort, refusal.BadInput},
		"nothing listens":             {fmt.Errorf("connect into cage: %w", syscall.ECONNREFUSED), refusal.Unavailable},
		"its queue is full":           {fmt.Errorf("connect into cage: %w", syscall.ETIMEDOUT), refusal.Unavailable},
		"the app gave up waiting":     {fmt.Errorf("connect into cage: %w", context.DeadlineExceeded), refusal.Unavailable},
		"too many wait":               {fmt.Errorf("connect into cage: %w", syscall.EBUSY), refusal.Unavailable},
		"the cage ended meanwhile":    {launch.ErrEnded, refusal.Conflict},
		"something that is not known": {unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := &servers{reach: func(context.Context, uint16) (net.Conn, error) { return nil, c.err }}
			_, err := v.add(t.Context(), 8080)
			var no *refusal.Refusal
			if errors.As(err, &no) != (c.code != "") || no != nil && (no.Code != c.code || no.Remedy == "") || !errors.Is(err, c.err) {
				t.Errorf("%v, want %s", err, c.code)
			}
			if len(v.list()) != 0 {
				t.Error("it is listed as open")
			}
		})
	}
	inside, outside := net.Pipe()
	defer inside.Close()
	v := &servers{reach: func(context.Context, uint16) (net.Conn, error) { return outside, nil }}
	defer v.close()
	if opened, err := v.add(t.Context(), 8080); err != nil || opened.Port != 8080 || len(v.list()) != 1 {
		t.Errorf("twin: %+v, %v", opened, err)
	}
}
