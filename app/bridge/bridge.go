// Package bridge is what outside clients start to reach the endpoint: a helper that prints the headers of a
// connection, and a bridge that speaks MCP on standard input and output. Both read the client's token from its
// file when they need it, and only after the running app has confirmed over its socket where it goes.
package bridge

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"termic/app/ctl"
	"termic/app/store"
	"termic/registry/refusal"
)

// Client is an outside client's way to the app on a data directory.
type Client struct {
	// Name is that under which it is registered, DataDir the app's data directory, absolute.
	Name, DataDir string
}

// askTimeout bounds the app's confirmation: it takes some milliseconds, and a client waits for it.
const askTimeout = 5 * time.Second

// connection is where a token goes, and the token.
type connection struct{ url, token string }

// connect asks the app whether it holds address for this client, any address where that is empty, and reads the
// client's token. Every error is a *refusal.Refusal and holds nothing of a token.
//
// The app also tells the digest of the token, and what was read must have it. Else a directory that looks like an
// app's for as long as it is asked, and leads to the real one when the token is read, could have a token of ours
// sent to an address of its own.
func (c Client) connect(ctx context.Context, address string) (connection, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	arguments, err := json.Marshal(map[string]string{"client": c.Name, "url": address})
	if err != nil {
		return connection{}, refusal.Of(err)
	}
	raw, err := ctl.NewClient(c.DataDir).Call(ctx, "client_connect", arguments)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return connection{}, refusal.New(refusal.Unavailable, "the app does not answer", "see whether it is stopped or hangs; if so, end it and start it again: termic serve").Because(err)
	}
	if err != nil {
		return connection{}, err
	}
	var held struct {
		URL         string `json:"url"`
		TokenSHA256 string `json:"token_sha256"`
	}
	if err := json.Unmarshal(raw, &held); err != nil {
		return connection{}, refusal.Of(fmt.Errorf("read the app's answer: %w", err))
	}
	if address != "" && held.URL != address || !isOurs(held.URL) {
		return connection{}, refusal.New(refusal.NotPermitted, "the app does not hold that address", "")
	}
	token, err := c.read()
	if err != nil {
		return connection{}, err
	}
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(held.TokenSHA256)) != 1 {
		return connection{}, refusal.New(refusal.NotPermitted, "the token in the data directory is not the one that the app holds", "try again")
	}
	return connection{held.URL, token}, nil
}

// isOurs tells whether an address can be the endpoint's: plain HTTP to a port of 127.0.0.1 and the one path.
func isOurs(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host, err := netip.ParseAddrPort(u.Host)
	return err == nil && host.Addr() == netip.AddrFrom4([4]byte{127, 0, 0, 1}) && address == "http://"+host.String()+"/mcp"
}

// read returns the client's token.
func (c Client) read() (string, error) {
	layout, err := store.At(c.DataDir)
	if err != nil {
		return "", unreadable(err)
	}
	token, err := layout.ReadSecret(filepath.Join("clients", c.Name+".token"))
	if err != nil {
		return "", unreadable(err)
	}
	return token, nil
}

func unreadable(err error) error {
	reason, remedy := "the client's token cannot be read", "see: termic doctor"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason, remedy = "the client has no token: the endpoint does not serve, or the client is not registered", "see: termic client list"
	case errors.Is(err, store.ErrUnsafe):
		reason = "the client's token is not private"
	}
	return refusal.New(refusal.NotPermitted, reason, remedy).Because(err)
}

// Headers returns the headers of a connection to address, one JSON object on one line. asked is the address that
// the client itself says it connects to, where it says so: a helper that is named by one configuration and run for
// another gets nothing.
func (c Client) Headers(ctx context.Context, address, asked string) ([]byte, error) {
	switch {
	case !isOurs(address):
		return nil, refusal.New(refusal.NotPermitted, "that address is no endpoint on this machine", "")
	case asked != "" && asked != address:
		return nil, refusal.New(refusal.NotPermitted, "the client connects to another address than the one that the helper was told", "")
	}
	to, err := c.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(map[string]string{"Authorization": "Bearer " + to.token})
	if err != nil {
		return nil, refusal.Of(err)
	}
	return append(line, '\n'), nil
}
