package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"

	"termic/app/registration"
	"termic/app/settings"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

// What follows gives each registered outside client a token of its own; it implements registration.Tokens.

// admitAll mints a token for every registered client. The port is bound (I3) and not advertised yet.
func (e *endpoint) admitAll() error {
	for name, ceiling := range e.clients.Admitted() {
		if err := e.mint(name, ceiling); err != nil {
			return err
		}
	}
	return nil
}

// mint gives a client a token in place of the one that it had.
func (e *endpoint) mint(name string, ceiling registry.Class) error {
	e.book.Revoke(isClient(name))
	token, _ := e.book.Issue(grant.Grant{
		Scope: registry.Full, Ceiling: ceiling, Limit: capability.Unbounded(), Channel: grant.HostPort, Name: name,
	})
	if err := e.store.WriteSecret(registration.TokenFile(name), token); err != nil {
		e.book.Revoke(isClient(name))
		return fmt.Errorf("give client %s a token: %w", name, err)
	}
	sum := sha256.Sum256([]byte(token))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.proofs == nil {
		e.proofs = map[string]string{}
	}
	e.proofs[name] = hex.EncodeToString(sum[:])
	return nil
}

// Proof implements registration.Tokens.
func (e *endpoint) Proof(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.proofs[name]
}

// isClient finds the grants of an outside client. Names of clients are never those of tasks' grants.
func isClient(name string) func(grant.Grant) bool {
	return func(g grant.Grant) bool { return g.Task == "" && g.Channel == grant.HostPort && g.Name == name }
}

// Admit implements registration.Tokens. A switch of the endpoint waits meanwhile, so that no token outlives it. A client that
// has a token keeps it: what it may call is looked up at each call, and its subscriptions hear of the change.
func (e *endpoint) Admit(name string, ceiling registry.Class) error {
	e.switching.Lock()
	defer e.switching.Unlock()
	if url, _ := e.State(); url == "" {
		return nil
	}
	if e.book.Cap(isClient(name), ceiling) > 0 {
		e.toolsChanged()
		return nil
	}
	return e.mint(name, ceiling)
}

// toolsChanged makes the subscriptions of outside clients look what they are offered; e.switching is held.
func (e *endpoint) toolsChanged() {
	e.server.Server.ToolsChanged()
	e.socket.toolsChanged()
}

// Expel implements registration.Tokens. It waits for nothing.
func (e *endpoint) Expel(name string) {
	e.book.Revoke(isClient(name))
	e.mu.Lock()
	delete(e.proofs, name)
	e.mu.Unlock()
	if err := e.store.RemoveSecret(registration.TokenFile(name)); err != nil {
		e.log.Error("token file not removed; its token has ended", "client", name, "cause", err)
	}
}

// URL implements registration.Tokens.
func (e *endpoint) URL() string {
	if url, _ := e.State(); url != "" {
		return url
	}
	return e.URLAt(e.settings.Int(settings.MCPPort))
}

// URLAt implements handlers.Endpoint.
func (e *endpoint) URLAt(port int) string {
	if port, _ = e.portFor(port); port == 0 {
		return ""
	}
	return mcpserver.URL(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)))
}

// readingTools are the names of the tools that change nothing, which a client may call unasked.
func readingTools() []string {
	var names []string
	for _, verb := range verbs.All() {
		if verb.Class == registry.Read && verb.Audience&registry.ForFull != 0 {
			names = append(names, verb.Name)
		}
	}
	return names
}
