//go:build unix && !linux

package gitview

import "context"

// Watch waits for the end of ctx: where there is no cage, nothing changes a private directory.
func (t Task) Watch(ctx context.Context, changed func()) error {
	<-ctx.Done()
	return nil
}
