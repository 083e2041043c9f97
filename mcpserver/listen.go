package mcpserver

import (
	"net/http"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"termic/mcpserver/jsonrpc"
	"termic/registry"
)

// filter is what a subscription asks for, and what we agree to (schema.json, SubscriptionFilter): of its four kinds
// there is one that a server with tools only can serve.
type filter struct {
	ToolsListChanged bool `json:"toolsListChanged,omitzero"`
}

type subscriptionMeta struct {
	Subscription jsontext.Value `json:"io.modelcontextprotocol/subscriptionId"`
}

type acknowledgement struct {
	Meta          subscriptionMeta `json:"_meta"`
	Notifications filter           `json:"notifications"`
}

type listChanged struct {
	Meta subscriptionMeta `json:"_meta"`
}

type notification[P any] struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  P      `json:"params"`
}

type listenResult struct {
	ResultType string `json:"resultType"`
	Meta       struct {
		subscriptionMeta
		ServerInfo serverInfo `json:"io.modelcontextprotocol/serverInfo"`
	} `json:"_meta"`
}

// listeners are the open subscriptions. The zero value is ready.
type listeners struct {
	mu   sync.Mutex
	open map[*listener]struct{}
}

// listener is one open subscription.
type listener struct {
	key  bucketKey
	wake chan struct{} // holds one
}

// add returns a new subscription of caller, or nil when there are too many. remove must be called when it is over.
func (ls *listeners) add(caller registry.Caller) *listener {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	key, own := keyOf(caller), 0
	for l := range ls.open {
		if l.key == key {
			own++
		}
	}
	if own >= listensPerToken || len(ls.open) >= listensInAll {
		return nil
	}
	if ls.open == nil {
		ls.open = map[*listener]struct{}{}
	}
	l := &listener{key, make(chan struct{}, 1)}
	ls.open[l] = struct{}{}
	return l
}

func (ls *listeners) remove(l *listener) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.open, l)
}

// ToolsChanged makes every open subscription look whether its token is offered other tools than before. Call it when
// something changed on which that depends: a grant's scope or ceiling, a setting.
func (s *Server) ToolsChanged() {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	for l := range s.listeners.open {
		select {
		case l.wake <- struct{}{}:
		default: // it looks anyway
		}
	}
}

// listen serves a subscription until its client goes away, its token ends or the endpoint stops. In the latter two
// cases the client is told that it ended in order.
func (s *Server) listen(reply *reply, r *http.Request, caller registry.Caller, id jsonrpc.ID, params jsonrpc.Members) {
	asked, failure := filterOf(params)
	if failure != nil {
		reply.fail(id, failure)
		return
	}
	l := s.listeners.add(caller)
	if l == nil {
		reply.tooMany("too many subscriptions are open")
		return
	}
	defer s.listeners.remove(l)
	reply.release() // it waits from here on, and takes nobody's place
	sub := subscription{server: s, reply: reply, id: id, asked: asked, caller: caller, told: s.offered(caller)}
	sub.token, _ = credential(r.Header)
	reply.stream()
	sub.send("notifications/subscriptions/acknowledged", acknowledgement{sub.meta(), asked})
	sub.run(r.Context().Done(), l.wake)
	sub.end()
}

// filterOf reads what a subscription asks for.
func filterOf(params jsonrpc.Members) (filter, *jsonrpc.Error) {
	if !isObject(params.Get("notifications")) {
		return filter{}, jsonrpc.ErrInvalidParams.With("notifications is not an object")
	}
	wanted := jsonrpc.MembersOf(params.Get("notifications"))
	for _, kind := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		if value := string(wanted.Get(kind)); value != "" && value != "true" && value != "false" {
			return filter{}, jsonrpc.ErrInvalidParams.With(kind + " is neither true nor false")
		}
	}
	if uris := wanted.Get("resourceSubscriptions"); uris != nil && jsonv2.Unmarshal(uris, new([]string)) != nil {
		return filter{}, jsonrpc.ErrInvalidParams.With("resourceSubscriptions is not a list of texts")
	}
	return filter{ToolsListChanged: string(wanted.Get("toolsListChanged")) == "true"}, nil
}

// offered returns the tools that caller is offered, as it sees them.
func (s *Server) offered(caller registry.Caller) []toolFor {
	var tools []toolFor
	for _, verb := range s.Calls.Verbs(caller) {
		tools = append(tools, toolAs(verb, caller))
	}
	return tools
}

// subscription is the stream of one listener.
type subscription struct {
	server *Server
	reply  *reply
	id     jsonrpc.ID
	asked  filter
	caller registry.Caller
	token  string
	told   []toolFor // the tools that the client knows of
}

// run returns when the subscription is over.
func (sub *subscription) run(gone <-chan struct{}, wake <-chan struct{}) {
	ended := sub.ended()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		select {
		case <-gone:
			return
		case <-ended:
			ended = sub.ended() // it may have shrunk only
		case <-wake:
		case <-alive.C:
			sub.reply.comment()
		}
		if !sub.look() {
			return
		}
	}
}

// ended returns what is closed when the token ends or shrinks.
func (sub *subscription) ended() <-chan struct{} {
	if sub.server.Ended == nil {
		return nil
	}
	return sub.server.Ended(sub.caller)
}

// look tells the client when it is offered other tools than before, and returns whether its token still lives.
func (sub *subscription) look() bool {
	caller, live := sub.server.Auth.Caller(sub.token)
	if !live || keyOf(caller) != keyOf(sub.caller) {
		return false
	}
	if now := sub.server.offered(caller); sub.asked.ToolsListChanged && !slices.Equal(now, sub.told) {
		sub.told = now
		sub.send("notifications/tools/list_changed", listChanged{sub.meta()})
	}
	return true
}

func (sub *subscription) meta() subscriptionMeta { return subscriptionMeta{jsontext.Value(sub.id)} }

func (sub *subscription) send(method string, params any) {
	text, failure := sub.server.encode(notification[any]{"2.0", method, params})
	if failure == nil {
		sub.reply.event(text)
	}
}

// end tells the client that the subscription ended in order, which nobody reads when it was the client that went.
func (sub *subscription) end() {
	result := listenResult{ResultType: complete}
	result.Meta.subscriptionMeta = sub.meta()
	result.Meta.ServerInfo = sub.server.serverInfo()
	text, failure := sub.server.encode(result)
	if failure != nil {
		sub.reply.fail(sub.id, failure)
		return
	}
	sub.reply.result(sub.id, text)
}
