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

// vault keeps the copies of one login, in as many cages as use it, like the person's. There is one of each login, so
// that two programs never renew it at once: the second would spend what the first was just given.
type vault struct {
	keeper *Keeper
	layout *layout

	mu       sync.Mutex                  // held while copies are written
	dirs     map[string]agent.Definition // login directories of running cages, by whose agent
	fault    string                      // what went wrong last, to say it once
	stop     context.CancelFunc          // ends watch; nil when it does not run
	stopped  chan struct{}
	renewing chan struct{} // closed at the end of the renewal that runs; nil: none does
	tried    time.Time     // when the last one began
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

const (
	// lookEvery is how often a login file is looked at: an agent that was answered 401 reads its copy again at once,
	// or at its next request.
	lookEvery = time.Second
	// renewAgain is how long after the begin of a renewal the next one may begin, when the first changed nothing.
	renewAgain = time.Minute
	// renewWait is how long a start waits for a renewal. After it the cage has the old copy, and gets the new one.
	renewWait = 20 * time.Second
)

// join puts copies into the login directory of a cage, renewed if need be, and keeps them like the person's until leave.
func (v *vault) join(ctx context.Context, dir string, definition agent.Definition) (copied, error) {
	if err := v.await(ctx, definition); err != nil {
		return copied{}, err
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

// await renews the login if need be, and waits for that.
func (v *vault) await(ctx context.Context, definition agent.Definition) error {
	v.mu.Lock()
	renewing := v.renew(definition)
	v.mu.Unlock()
	if renewing == nil {
		return nil
	}
	late := time.NewTimer(renewWait)
	defer late.Stop()
	select {
	case <-renewing:
	case <-late.C:
	case <-ctx.Done():
	}
	return ctx.Err()
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
			v.look()
		}
	}
}

// look begins to renew a login that is near its end, and writes the copies again when the person's has changed. A login
// that is gone takes the copies with it.
func (v *vault) look() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if dirs := slices.Sorted(maps.Keys(v.dirs)); len(dirs) > 0 {
		v.renew(v.dirs[dirs[0]])
	}
	c, err := v.layout.login.of(v.keeper.person)
	if err == nil {
		for dir := range v.dirs {
			err = errors.Join(err, put(dir, c.files))
		}
	}
	v.say(err)
}

// say logs an error unless it was the last one too. v.mu is held.
func (v *vault) say(err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != v.fault && fault != "" {
		v.keeper.log.Warn("login in cages not kept up", "agent", v.layout.program, "cause", err)
	}
	v.fault = fault
}

// renew makes the person's own program begin to renew the login when it is near its end, and returns what is closed
// when that has ended; nil when nothing runs. v.mu is held.
func (v *vault) renew(definition agent.Definition) <-chan struct{} {
	l := v.layout.login
	if v.renewing != nil || len(l.renew.args) == 0 || time.Since(v.tried) < renewAgain {
		return v.renewing
	}
	c, err := l.of(v.keeper.person)
	if err != nil || len(c.files) == 0 || c.expires.IsZero() || time.Until(c.expires) > l.early {
		return nil // a file that cannot be read is said by who reads it next
	}
	v.tried, v.renewing = time.Now(), make(chan struct{})
	done := v.renewing
	v.keeper.renewals.Go(func() {
		err := v.keeper.renew(v.layout, definition)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.say(err)
		v.renewing = nil
		close(done)
	})
	return done
}
