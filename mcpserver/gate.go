package mcpserver

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"termic/registry"
)

// hasOrigin tells whether a browser may be behind the request. Agents and editors send no Origin; a page
// cannot leave it out. Its value does not matter: no page is ever served.
func hasOrigin(r *http.Request) bool { return len(r.Header.Values("Origin")) > 0 }

// targetFault returns the status to refuse a request's target with, as far as that has a scheme; 0: nothing is wrong with it.
// A target of another scheme was meant for another server, https for one whose end of the connection is proved (RFC 9110
// section 7.4). One without a host, or with a user, is a mistake or a trick (sections 4.2.1 and 4.2.4).
func targetFault(target *url.URL) int {
	switch {
	case target.Scheme == "":
		return 0
	case target.Scheme != "http":
		return http.StatusMisdirectedRequest
	case target.Host == "" || target.User != nil:
		return http.StatusBadRequest
	}
	return 0
}

// endsConnection tells whether the connection has to end with the answer. It is used again only where its two ends cannot
// disagree on where the request ended, HTTP/1.1 with Content-Length: net/http takes chunks that come with a length, and drops
// that; then the connection must end (RFC 9112 section 6.1), and with no framing but a length in HTTP/1.0 too.
func endsConnection(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// isOwnAddress tells whether Host is exactly the address that the connection came to, which it is not when a
// page had its own name resolved to 127.0.0.1 (DNS rebinding). A name is never our address, localhost
// neither: where it stands for ::1 first, another user of the machine may listen there and collect tokens.
//
// A socket has no address that a name could lead to, and no page can connect to one: there Host is not looked at.
func (s *Server) isOwnAddress(r *http.Request) bool {
	at := r.Context().Value(http.LocalAddrContextKey)
	local, ok := at.(*net.TCPAddr)
	if !ok {
		_, isSocket := at.(*net.UnixAddr)
		return isSocket && s.Socket
	}
	address := local.AddrPort()
	var room [len("255.255.255.255:65535")]byte
	return r.Host == string(netip.AddrPortFrom(address.Addr().Unmap(), address.Port()).AppendTo(room[:0]))
}

// caller returns who holds the request's credential. Auth is asked exactly once whatever came, so that a
// malformed credential costs what an unknown one does.
func (s *Server) caller(r *http.Request) (registry.Caller, bool) {
	token, wellFormed := credential(r.Header)
	if s.Auth == nil || s.Calls == nil {
		return registry.Caller{}, false
	}
	caller, ok := s.Auth.Caller(token)
	if !ok || !wellFormed || caller.Way != registry.MCP || caller.Scope == registry.ScopeNone {
		return registry.Caller{}, false
	}
	return caller, true
}

// credential returns the token of a request. It comes in one header of two, once: two that differ would mean
// that somebody in between and we could take the request for different callers'.
func credential(header http.Header) (token string, ok bool) {
	bearer, own := header.Values("Authorization"), header.Values("X-Termic-Token")
	switch {
	case len(bearer)+len(own) != 1:
		return "", false
	case len(own) == 1:
		return own[0], own[0] != ""
	}
	// The scheme's case does not matter and spaces follow it (RFC 9110 section 11.4, RFC 6750 section 2.1).
	scheme, rest, found := strings.Cut(bearer[0], " ")
	token = strings.TrimLeft(rest, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	return token, true
}

// isJSON tells whether the body is said to be plain JSON. Parameters do no harm, save a charset: JSON is
// UTF-8 (RFC 8259 section 8.1). Nothing of ours unpacks a compressed body (RFC 9110 section 15.5.16).
func isJSON(r *http.Request) bool {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 || len(r.Header.Values("Content-Encoding")) > 0 {
		return false
	}
	if types[0] == "application/json" {
		return true // what clients send
	}
	kind, parameters, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}
