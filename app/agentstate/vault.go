package agentstate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"termic/app/agent"
)

// vault keeps the copies of one login, in as many cages as use it, like the person's.
type vault struct {
	keeper *Keeper
	layout *layout

	renewal sync.Mutex // held while the login is renewed: two programs at once would spend one token twice
	tried   time.Time  // when it was last tried; guarded by renewal

	mu      sync.Mutex
	dirs    map[string]agent.Definition // login directories of running cages, by whose agent
	fault   string                      // what went wrong last, to say it once
	stop    context.CancelFunc          // ends watch; nil when it does not run
	stopped chan struct{}
}

// vault returns the one of a layout.
func (k *Keeper) vault(state string) *vault {
	k.mu.Lock()
	defer k.mu.Unlock()
	v := k.logins[state]
	if v == nil {
		v = &vault{keeper: k, layout: layouts[state], dirs: map[string]agent.Definition{}}
		k.logins[state] = v
	}
	return v
}

// How often a login file is looked at: an agent that was answered 401 reads its copy again at its next request. And
// how long after a renewal the next one is tried.
const (
	lookEvery  = time.Second
	renewAgain = time.Minute
)

// join puts copies into the login directory of a cage, renewed if need be, and keeps them like the person's until leave.
func (v *vault) join(ctx context.Context, dir string, definition agent.Definition) (copied, error) {
	if err := v.renew(ctx, definition); err != nil {
		v.keeper.log.Warn("login not renewed", "agent", v.layout.program, "cause", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c, err := v.layout.login.of(v.keeper.person)
	if err != nil {
		return copied{}, err
	}
	if err := put(dir, c.files); err != nil {
		return copied{}, err
	}
	v.dirs[dir] = definition
	if v.stop == nil {
		var watching context.Context
		watching, v.stop = context.WithCancel(context.Background())
		v.stopped = make(chan struct{})
		go v.watch(watching, v.stopped)
	}
	return c, nil
}

// leave ends what join began. After it nothing is written to the directory.
func (v *vault) leave(dir string) {
	v.mu.Lock()
	delete(v.dirs, dir)
	stop, stopped := v.stop, v.stopped
	last := len(v.dirs) == 0 && stop != nil
	if last {
		v.stop = nil
	}
	v.mu.Unlock()
	if last {
		stop()
		<-stopped
	}
}

func (v *vault) watch(ctx context.Context, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			v.look(ctx)
		}
	}
}

// look renews the login when it is near its end, and writes the copies again when the person's has changed. A login
// that is gone takes the copies with it.
func (v *vault) look(ctx context.Context) {
	err := v.renew(ctx, v.someone())
	v.mu.Lock()
	defer v.mu.Unlock()
	c, readErr := v.layout.login.of(v.keeper.person)
	err = errors.Join(err, readErr)
	if readErr == nil {
		for dir := range v.dirs {
			err = errors.Join(err, put(dir, c.files))
		}
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != v.fault && fault != "" {
		v.keeper.log.Warn("login in cages not kept up", "agent", v.layout.program, "cause", err)
	}
	v.fault = fault
}

// someone returns a definition of an agent that uses the login.
func (v *vault) someone() agent.Definition {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(v.dirs)) {
		return v.dirs[dir]
	}
	return agent.Definition{}
}

// renew makes the person's own program renew the login, when it is near its end and the program can.
func (v *vault) renew(ctx context.Context, definition agent.Definition) error {
	v.renewal.Lock()
	defer v.renewal.Unlock()
	l := v.layout.login
	c, err := l.of(v.keeper.person)
	if err != nil || l.refresh == nil || len(c.files) == 0 || c.expires.IsZero() {
		return nil // an unreadable file is said by who reads it next
	}
	if time.Until(c.expires) > l.early || time.Since(v.tried) < renewAgain {
		return nil
	}
	v.tried = time.Now()
	return v.keeper.renew(ctx, v.layout, definition)
}
