package mcpserver

import "time"

const (
	// maxBody is 4 MiB: the longest argument is a prompt of 1 MiB (task_new, task_send), and JSON writes text
	// that is not ASCII in at most three times its bytes when a client escapes all of it.
	maxBody = 4 << 20
	// usualBody is up to which length room is made for a body before it has come, 64 KiB: more than almost any has, and
	// little enough to be given on a stranger's word.
	usualBody = 64 << 10
	// maxHeader is what a request line and its headers may take, 16 KiB: the longest that clients send are
	// some hundred bytes. net/http answers 431 beyond it.
	maxHeader = 16 << 10
	// netHTTPSlop is what net/http adds to Server.MaxHeaderBytes before it refuses (net/http, initialReadLimitSize).
	netHTTPSlop = 4 << 10

	// headerTimeout is how long the headers may take to arrive. On loopback they come at once.
	headerTimeout = 5 * time.Second
	// bodyTimeout is how long a body may take to arrive.
	bodyTimeout = 30 * time.Second
	// writeTimeout is how long a client may take to read an answer.
	writeTimeout = 30 * time.Second
	// idleTimeout is how long a connection may stay open between requests, about one turn of an agent.
	idleTimeout = 2 * time.Minute
	// lingerTimeout is how long the rest of a refused request is read, so that its sender sees the answer and
	// not a reset connection.
	lingerTimeout = time.Second
	// callTimeout ends a call that nobody ends: twice the longest wait that a verb offers (task_wait, 5 min).
	callTimeout = 10 * time.Minute

	// progressAfter is how long a call runs before its client is told that it does, where it asked to be. Shorter
	// calls are answered with one JSON body, which costs both sides less.
	progressAfter = time.Second
	// progressEvery is how often a client is told that its call still runs: well below the 60 s after which the official
	// SDKs give up a request that they hear nothing of.
	progressEvery = 5 * time.Second
	// progressGap is the least time between two reports on one call: ten a second are more than a person reads.
	progressGap = 100 * time.Millisecond
	// keepAlive is how often a silent subscription shows that it lives: below the 30 s after which impatient clients
	// and proxies give up an idle stream.
	keepAlive = 25 * time.Second
	// listensPerToken is how many subscriptions one token may hold open: a client needs one, and a second while it
	// reconnects; the rest is room for the same token in several programs.
	listensPerToken = 4
	// listensInAll is how many all tokens may: each holds a connection, and three quarters of those must stay for calls.
	listensInAll = 128

	// logEvery is how often failed authentication is logged at most; the line counts what came in between.
	logEvery = 10 * time.Second
	// maxBuckets is how many tokens' rates are remembered before idle ones are forgotten.
	maxBuckets = 1024
)

// Limits are the bounds that depend on how many clients there are. A field that is zero means its default.
type Limits struct {
	// Connections is how many connections one listener holds open; default 512. A newcomer takes the place of
	// the least wanted one, so it has as long to prove itself as a flood needs to bring that many more: 50 ms
	// at ten thousand a second, where a good client needs one or two. Each costs about 16 KiB.
	Connections int
	// Requests is how many requests of all tokens are under way at once; default 64. With bodies of 4 MiB
	// this bounds the memory that clients can take to 256 MiB.
	Requests int
	// Calls is how many requests of one token are under way at once; default 32, so that one token alone
	// cannot take every place.
	Calls int
	// Rate is how many requests a second one token may keep up, after Burst at once; defaults 1000 and 2000.
	// An orchestrator that polls 20 tasks makes some dozens a second.
	Rate  float64
	Burst int
	// FailDelay is how long the answer to a wrong credential is held back; default 500 ms.
	FailDelay time.Duration
	// FailHeld is how many such answers are held back at once; further ones go out at once, so that failing
	// costs an attacker time but costs us no memory. Default 16.
	FailHeld int
}

func (l Limits) orDefault() Limits {
	def := func(have, otherwise int) int {
		if have > 0 {
			return have
		}
		return otherwise
	}
	l.Connections = def(l.Connections, 512)
	l.Requests = def(l.Requests, 64)
	l.Calls = def(l.Calls, 32)
	l.Burst = def(l.Burst, 2000)
	l.FailHeld = def(l.FailHeld, 16)
	if l.Rate <= 0 {
		l.Rate = 1000
	}
	if l.FailDelay <= 0 {
		l.FailDelay = 500 * time.Millisecond
	}
	return l
}
