package egress

import "time"

// Limits bounds what one task's connections may hold. A value that is zero or negative means the default
// given here: there is no way to ask for no limit.
type Limits struct {
	Conns   int           // at one time, tunnels and those on the way to one; 256 (npm opens 50)
	Head    time.Duration // for the request, and again for the ClientHello; 10 s
	Resolve time.Duration // 5 s
	Dial    time.Duration // over all answers; 10 s
	Idle    time.Duration // no byte either way; 15 min (a model may think for ten before it answers)
	Life    time.Duration // of a tunnel; 24 h
	Bytes   int64         // both ways of a tunnel together; 64 GiB (a large container image has 20)
	Grace   time.Duration // for open tunnels to end by themselves once the proxy is closing; 1 s
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Conns:   positive(l.Conns, 256),
		Head:    positive(l.Head, 10*time.Second),
		Resolve: positive(l.Resolve, 5*time.Second),
		Dial:    positive(l.Dial, 10*time.Second),
		Idle:    positive(l.Idle, 15*time.Minute),
		Life:    positive(l.Life, 24*time.Hour),
		Bytes:   positive(l.Bytes, 64<<30),
		Grace:   positive(l.Grace, time.Second),
	}
}

func positive[N int | int64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
