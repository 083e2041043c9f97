package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Checks and meaning of what concerns notifications.

// clock is how an hour of the day is written.
const clock = "15:04"

// hours returns a span of the day in minutes from midnight; to may be before from, which is over midnight.
func hours(value string) (from, to int, err error) {
	a, b, _ := strings.Cut(value, "-")
	first, errA := time.Parse(clock, strings.TrimSpace(a))
	last, errB := time.Parse(clock, strings.TrimSpace(b))
	if errA != nil || errB != nil {
		return 0, 0, fmt.Errorf("is empty or two times of the day, such as 22:00-07:00")
	}
	return first.Hour()*60 + first.Minute(), last.Hour()*60 + last.Minute(), nil
}

func isHours(value string) error {
	if value == "" {
		return nil
	}
	from, to, err := hours(value)
	if err == nil && from == to {
		err = fmt.Errorf("begins and ends at the same time; to switch notifications off: notify.agents false")
	}
	return err
}

// maxNames bounds a list of names: some hundred of them.
const maxNames = 8 << 10

func isNames(value string) error {
	if len(value) > maxNames || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("is names separated by commas, %d bytes at most", maxNames)
	}
	return nil
}

// Notifies tells whether the desktop is to be told of agents at that time, by the clock of its zone.
func (s *Settings) Notifies(now time.Time) bool {
	if !s.Bool(Notify) {
		return false
	}
	value := s.Get(NotifyQuiet)
	if value == "" {
		return true
	}
	from, to, err := hours(value)
	if err != nil { // Get returns only values that passed check
		return true
	}
	minute := now.Hour()*60 + now.Minute()
	if from < to {
		return minute < from || minute >= to
	}
	return minute < from && minute >= to
}

// NotifiesOf tells whether the desktop is to be told of agents of a project.
func (s *Settings) NotifiesOf(project string) bool {
	return !slices.ContainsFunc(strings.Split(s.Get(NotifyNever), ","), func(name string) bool { return strings.TrimSpace(name) == project })
}
