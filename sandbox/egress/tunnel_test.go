package egress

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// authority is a certificate authority and a certificate of it for names.
func authority(t *testing.T, names ...string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestHTTPSThroughTheProxy is what programs in a cage do: the standard client and server, over both versions of HTTP.
func TestHTTPSThroughTheProxy(t *testing.T) {
	pool, cert := authority(t, "example.com", "example.org")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(req.Body, 1<<20))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshakes that the proxy ends
	server.StartTLS()
	defer server.Close()
	r := newRig(t, server.Listener.Addr().String(), nil)

	fetch := func(http2 bool, serverName string) (*http.Response, []byte, error) {
		transport := &http.Transport{
			Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr}),
			TLSClientConfig:   &tls.Config{RootCAs: pool, ServerName: serverName},
			ForceAttemptHTTP2: http2,
		}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: patience}
		response, err := client.Post("https://example.com/secret", "text/plain", strings.NewReader(strings.Repeat("x", 1<<20)))
		if err != nil {
			return nil, nil, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return response, body, err
	}
	for _, http2 := range []bool{false, true} {
		response, body, err := fetch(http2, "")
		if err != nil || response.ProtoMajor == 2 != http2 || len(body) != 1<<20 {
			t.Fatalf("HTTP/2 %v: %v, %d bytes, %v", http2, response, len(body), err)
		}
		want := Decision{Host: "example.com", Port: 443, Allow: true, Class: Allowed, Reason: "example.com:443 is listed and all its addresses are public", Addr: exampleAddr}
		if d := r.decision(); d != want {
			t.Errorf("decided %+v", d)
		}
	}
	_, _, err := fetch(false, "example.org") // of the same certificate
	if err == nil || !strings.Contains(err.Error(), "access denied") {
		t.Errorf("another server name: %v", err)
	}
	if d := r.decision(); d.Class != OtherName {
		t.Errorf("another server name: %+v", d)
	}
	r.mu.Lock()
	r.answers["example.com"] = addrs("10.0.0.1")
	r.mu.Unlock()
	_, _, err = fetch(false, "")
	if err == nil || !strings.Contains(err.Error(), "example.com has an address that is not public (private)") {
		t.Errorf("a private address: %v: clients do not show the reason", err)
	}
	if d := r.decision(); d.Class != Private {
		t.Errorf("a private address: %+v", d)
	}
}

func TestHalfClose(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, more than the buffers on the way hold
	t.Run("the client ends first and gets the rest", func(t *testing.T) {
		c := newRig(t, newEchoes(t).addr, nil).tunnel()
		go func() { _, _ = c.Write(big); _ = c.CloseWrite() }()
		if back, err := io.ReadAll(c); err != nil || !bytes.Equal(back, big) {
			t.Errorf("%d of %d bytes, %v", len(back), len(big), err)
		}
	})
	t.Run("the host ends first and gets the rest", func(t *testing.T) {
		ln := listen(t)
		got := make(chan int, 1)
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.CopyN(conn, conn, int64(len(hello("example.com"))))
			_ = conn.(*net.TCPConn).CloseWrite()
			n, _ := io.Copy(io.Discard, conn)
			got <- int(n)
		}()
		c := newRig(t, ln.Addr().String(), nil).tunnel()
		if rest, err := io.ReadAll(c); err != nil || len(rest) != 0 {
			t.Errorf("%d bytes, %v", len(rest), err)
		}
		_, err := c.Write(big)
		_ = c.CloseWrite()
		select {
		case n := <-got:
			if err != nil || n != len(big) {
				t.Errorf("%d of %d bytes, %v", n, len(big), err)
			}
		case <-time.After(patience):
			t.Error("the host was not told of the end")
		}
	})
	t.Run("a reset of one end ends the other", func(t *testing.T) {
		ln := listen(t)
		ended := make(chan error, 1)
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.CopyN(conn, conn, int64(len(hello("example.com"))))
			_, err = io.Copy(io.Discard, conn)
			ended <- err
		}()
		c := newRig(t, ln.Addr().String(), nil).tunnel()
		_ = c.SetLinger(0)
		c.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the host was not told of the end")
		}
	})
}

func TestServeNeedsARecord(t *testing.T) {
	ln := listen(t)
	if err := (&Proxy{}).Serve(t.Context(), ln); err == nil {
		t.Error("served without a record of decisions")
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
}

func TestServeEnds(t *testing.T) {
	upstream := newEchoes(t)
	r := newRig(t, upstream.addr, func(r *rig) { r.Limits.Grace = time.Hour })
	open := r.tunnel()
	r.decision()
	waiting, greeted := r.connect(), r.connect()
	if response, err := greeted.ask(connectTo("example.com:443")); err != nil || response.StatusCode != 200 {
		t.Fatal(response, err)
	}
	_, _ = io.WriteString(waiting, "CONNECT ")

	r.end()
	for range 2 { // both connections on the way to a tunnel
		if d := r.decision(); d.Class != Closing || d.Allow {
			t.Errorf("on the way to a tunnel: %+v", d)
		}
	}
	if _, err := io.ReadAll(waiting); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	for deadline := time.Now().Add(patience); ; { // one that comes while the listener is being closed ends, too
		conn, err := net.Dial("tcp", r.addr)
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		if err == nil {
			_ = conn.SetDeadline(deadline)
			if n, err := conn.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("a new connection: %d bytes, %v", n, err)
			}
			conn.Close()
		}
		if time.Now().After(deadline) {
			t.Fatal("the listener is open")
		}
	}
	open.echo(t, "still passing")
	select {
	case err := <-r.served:
		t.Errorf("ended before its tunnel: %v", err)
	default:
	}
	_ = open.CloseWrite()
	if _, err := io.ReadAll(open); err != nil {
		t.Error(err)
	}
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	r.served <- nil
	for len(r.decisions) > 0 {
		if d := r.decision(); d.Class != Closing {
			t.Errorf("while ending: %+v", d)
		}
	}
}

func TestServeCutsTunnelsAfterTheGrace(t *testing.T) {
	r := newRig(t, newEchoes(t).addr, func(r *rig) { r.Limits.Grace = time.Millisecond })
	open := r.tunnel()
	r.end()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	r.served <- nil
	if _, err := io.ReadAll(open); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

// failing is a listener whose second Accept fails.
type failing struct {
	net.Listener
	calls atomic.Int64
	err   error
}

func (f *failing) Accept() (net.Conn, error) {
	if f.calls.Add(1) == 2 {
		return nil, f.err
	}
	return f.Listener.Accept()
}

func TestServeAfterAnErrorOfTheListener(t *testing.T) {
	// A client that says nothing waits in the proxy when the error comes.
	serve := func(err error) (addr string, served chan error) {
		ln := &failing{Listener: listen(t), err: err}
		served = make(chan error, 1)
		ctx, end := context.WithCancel(context.Background())
		t.Cleanup(end)
		p := &Proxy{Decided: func(Decision) {}, Limits: Limits{Head: time.Hour}}
		go func() { served <- p.Serve(ctx, ln) }()
		(&rig{t: t, addr: ln.Addr().String()}).connect()
		return ln.Addr().String(), served
	}
	t.Run("that passes", func(t *testing.T) {
		addr, _ := serve(&net.OpError{Op: "accept", Err: syscall.EMFILE})
		r := &rig{t: t, addr: addr}
		if response, err := r.connect().ask(connectTo("example.com:443")); err != nil || response.StatusCode != 403 {
			t.Errorf("%v, %v", response, err)
		}
	})
	t.Run("that does not", func(t *testing.T) {
		broken := &net.OpError{Op: "accept", Err: syscall.EINVAL}
		addr, served := serve(broken)
		select {
		case err := <-served:
			if !errors.Is(err, broken) {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("still serving")
		}
		if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the listener is open: %v", err)
		}
	})
}

// TestAFaultEndsOneConnection: a panic in what reads a cage's bytes must not end the app, nor let anything pass.
func TestAFaultEndsOneConnection(t *testing.T) {
	upstream := newEchoes(t)
	r := newRig(t, upstream.addr, func(r *rig) {
		own, once := r.testOnlyOwn, make(chan struct{}, 1)
		once <- struct{}{}
		r.testOnlyOwn = func() (list []netip.Addr, err error) {
			select {
			case <-once:
				panic("a fault")
			default:
				return own()
			}
		}
	})
	c := r.connect()
	if _, err := c.ask(connectTo("example.com:443")); err == nil {
		t.Error("there was an answer")
	}
	if d := r.decision(); d.Class != Internal || d.Allow {
		t.Errorf("%+v", d)
	}
	r.tunnel()
}

// TestARecordThatFailsLetsNothingPass: what cannot be recorded does not happen.
func TestARecordThatFailsLetsNothingPass(t *testing.T) {
	upstream := newEchoes(t)
	var calls atomic.Int64
	r := newRig(t, upstream.addr, func(r *rig) {
		decided := r.Decided
		r.Decided = func(d Decision) {
			if calls.Add(1) == 1 {
				panic("a fault")
			}
			decided(d)
		}
	})
	c := r.connect()
	if response, err := c.ask(connectTo("example.com:443")); err != nil || response.StatusCode != 200 {
		t.Fatal(response, err)
	}
	_, _ = io.WriteString(c, hello("example.com"))
	if back, _ := io.ReadAll(c); len(back) != 0 || upstream.bytes.Load() != 0 || calls.Load() != 1 {
		t.Errorf("%d bytes passed, %d came back, recorded %d times", upstream.bytes.Load(), len(back), calls.Load())
	}
	r.tunnel()
}
