package git

import (
	"context"
	"sync"
)

// repoLocks serialises what changes one repository's records in this process,
// whichever Repo or Git value it goes through; the key is the common directory.
var repoLocks keyedMutex

// keyedMutex is a mutex per key whose waiting ends with a context.
type keyedMutex struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	slot  chan struct{} // holds one value while locked
	users int           // holders and waiters; the entry goes with the last
}

// lock waits for key and returns its release, or ctx's error.
func (k *keyedMutex) lock(ctx context.Context, key string) (release func(), err error) {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[string]*keyLock{}
	}
	l := k.held[key]
	if l == nil {
		l = &keyLock{slot: make(chan struct{}, 1)}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()

	select {
	case l.slot <- struct{}{}:
		var once sync.Once
		return func() {
			once.Do(func() {
				<-l.slot
				k.leave(key, l)
			})
		}, nil
	case <-ctx.Done():
		k.leave(key, l)
		return nil, ctx.Err()
	}
}

func (k *keyedMutex) leave(key string, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.held, key)
	}
}
