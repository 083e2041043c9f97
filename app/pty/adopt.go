package pty

import (
	"errors"
	"fmt"
	"os"
)

// Adopt makes a session of a guest on the terminal whose master this is. It takes the master in any case. The size
// is the one that the terminal has.
func Adopt(master *os.File, guest Guest) (*Session, error) {
	polled, err := pollable(master)
	if err != nil {
		return nil, fmt.Errorf("adopt terminal: %w", err)
	}
	s := &Session{
		guest: guest, master: polled, name: master.Name(),
		writer: make(chan struct{}, 1), done: make(chan struct{}), released: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := errors.Join(markUTF8(polled), s.findLeader()); err != nil {
		return nil, errors.Join(fmt.Errorf("adopt terminal: %w", err), polled.Close())
	}
	s.writer <- struct{}{}
	go s.awaitGuest()
	return s, nil
}
