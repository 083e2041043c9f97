//go:build !linux

package pty

import "errors"

// findLeader asks the guest: here a cage's processes have the ids that everybody sees.
func (s *Session) findLeader() error {
	leads, ok := s.guest.(interface{ Leader() int })
	if !ok {
		return errors.New("the guest does not say which session it leads")
	}
	s.pid = leads.Leader()
	return nil
}
