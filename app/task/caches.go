package task

import (
	"context"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// Cleared is what came of clearing a task's caches.
type Cleared struct {
	Freed int64 // bytes that they took
	// Restarted are the tabs that were ended and started again, Failed those that were ended only, and why.
	Restarted []string
	Failed    map[string]error
}

// ClearCaches deletes the task's layers of caches. A cage has them mounted: it ends, with everything in it, and its tabs start
// again over empty layers. While there are tabs in a cage it is refused unless confirmed, and says what it would end.
func (s *Tasks) ClearCaches(ctx context.Context, id ident.Task, confirmed bool) (Cleared, error) {
	t, err := s.find(id)
	if err != nil {
		return Cleared{}, err
	}
	defer t.life.Unlock()
	out := Cleared{Failed: map[string]error{}}
	left := maxCounted
	caches := DiskUse{}
	if _, err := caches.count(ctx, s.State.CachesDir(id), "", &left); err != nil {
		return Cleared{}, err
	}
	out.Freed = caches.Bytes
	if s.cageOf(t) == nil {
		return out, s.State.ClearCaches(id)
	}
	if ends := s.ends(id, nil); ends != "" && !confirmed {
		return Cleared{}, refusal.New(refusal.Conflict, ends, "repeat it with confirm")
	}
	tabs := s.reopenings(t)
	s.end(t)
	s.Credentials.Allow(id)
	err = s.State.ClearCaches(id)
	out.Restarted = s.reopenAll(ctx, t, tabs, out.Failed) // whatever became of the caches
	return out, err
}
