package mcpserver

import (
	"sync"

	"golang.org/x/time/rate"

	"termic/registry"
	"termic/registry/ident"
)

// rates bounds what one token asks, at once and a second, and what all ask at once. The zero value is ready.
type rates struct {
	mu       sync.Mutex
	buckets  map[bucketKey]*bucket
	underWay int
}

// bucketKey tells tokens apart: by grant, and by name for callers that hold none.
type bucketKey struct {
	grant ident.Grant
	name  string
}

func keyOf(caller registry.Caller) bucketKey { return bucketKey{caller.Grant, caller.Name} }

type bucket struct {
	limiter  *rate.Limiter
	underWay int
}

// take admits one request of caller; release must be called when it is over, and may be called again.
func (rs *rates) take(caller registry.Caller, limits Limits) (release func(), ok bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	key := keyOf(caller)
	b := rs.buckets[key]
	if b == nil {
		rs.forgetIdle()
		b = &bucket{limiter: rate.NewLimiter(rate.Limit(limits.Rate), limits.Burst)}
		rs.buckets[key] = b
	}
	if rs.underWay >= limits.Requests || b.underWay >= limits.Calls || !b.limiter.Allow() {
		return nil, false
	}
	rs.underWay++
	b.underWay++
	released := false
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if !released {
			released = true
			rs.underWay--
			b.underWay--
		}
	}, true
}

// forgetIdle makes room: a bucket that is full and not in use is as good as none.
func (rs *rates) forgetIdle() {
	if rs.buckets == nil {
		rs.buckets = map[bucketKey]*bucket{}
	}
	if len(rs.buckets) < maxBuckets {
		return
	}
	for key, b := range rs.buckets {
		if b.underWay == 0 && b.limiter.Tokens() >= float64(b.limiter.Burst()) {
			delete(rs.buckets, key)
		}
	}
}
