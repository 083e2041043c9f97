//go:build page && !desktop

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// This program serves the window's page to a browser on a loopback port, for tests of the page. It is never
// shipped: whoever reaches the port is the person.
//
// It speaks HTTP/2, which browsers do over TLS alone: with HTTP/1.1 a browser opens six connections to a host, each
// terminal holds one for as long as it is shown, and every request beyond those waits for ever.

func init() { window = servePage }

// servePage runs the app and serves the page until a signal. It prints the address.
func servePage(args []string) (status int, opened bool) {
	dataDir, ok, err := windowArguments(args)
	if !ok {
		return 0, false
	}
	if err == nil {
		err = serveOn(dataDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "termic:", err)
		return 1, true
	}
	return 0, true
}

func serveOn(dataDir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	running, err := start(ctx, dataDir, os.Environ(), false, browser{stop})
	if err != nil || running == nil {
		return err
	}
	if _, err := running.wait(); err != nil { // tests use the app as soon as they have the address
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, running.stop())
	}
	own := listener.Addr().String()
	certificate, err := selfSigned()
	if err != nil {
		return errors.Join(err, running.stop())
	}
	fmt.Printf("page at https://%s/\n", own)
	server := &http.Server{TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); r.Host != own || origin != "" && origin != "https://"+own {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		running.door.ServeHTTP(w, r)
	})}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, running.stop())
	}
	return running.stop()
}

// selfSigned returns a certificate for an hour, which nobody has reason to trust: the test's browser is told to.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// browser is the host of a page that no window holds.
type browser struct{ quit func() }

// PickDirectory returns what TERMIC_PAGE_DIRECTORY says, as if the person had chosen it.
func (browser) PickDirectory(string) (string, error) { return os.Getenv("TERMIC_PAGE_DIRECTORY"), nil }

func (browser) OpenURL(url string) error {
	slog.Info("would open", "url", url)
	return nil
}

func (browser) Front() {}

func (browser) Renderer() string { return "webgl" }

func (b browser) Quit() { b.quit() }
