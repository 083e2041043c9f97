package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"time"
)

// works does what programs need to be able to do, in a cage too.
func works() error {
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"a TCP server", func() error { return talk("tcp4", "127.0.0.1:0") }},
		{"a TCP server on IPv6", func() error {
			l, err := net.Listen("tcp6", "[::1]:0")
			if err != nil { // this machine does not speak it
				return nil
			}
			_ = l.Close()
			return talk("tcp6", "[::1]:0")
		}},
		{"a Unix socket", func() error { return talk("unix", filepath.Join(os.TempDir(), "works.sock")) }},
		{"an abstract socket", func() error { return talk("unix", fmt.Sprintf("@works-%d", os.Getpid())) }},
		{"the name localhost", func() error { _, err := net.LookupHost("localhost"); return err }},
		{"certificates", certificates},
		{"a time zone", func() error { _, err := time.LoadLocation("Europe/Berlin"); return err }},
		{"the home directory", func() error { return scribble(os.Getenv("HOME")) }},
		{"temporary files", func() error { return scribble(os.TempDir()) }},
		{"shared memory", func() error { return scribble("/dev/shm") }},
		{"the checkout", func() error { return scribble(".") }},
		{"random numbers", func() error { _, err := os.ReadFile("/proc/sys/kernel/random/uuid"); return err }},
		{"another process", func() error { return exec.Command("/proc/self/exe", "nothing").Run() }},
		{"a user", aUser},
	} {
		if err := part.do(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Println(part.name)
	}
	return nil
}

func talk(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	conn, err := net.Dial(network, l.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

func certificates() error {
	pool, err := x509.SystemCertPool()
	if err == nil && pool.Equal(x509.NewCertPool()) {
		err = errors.New("none")
	}
	return err
}

func scribble(dir string) error {
	f, err := os.CreateTemp(dir, "works")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString("x"); err != nil {
		return err
	}
	return f.Close()
}

func aUser() error {
	_, err := user.LookupId("0")
	return err
}
