package cli

import (
	"regexp"
	"strconv"
)

// detachKey is ctrl-], which hardly any program uses; telnet(1) has it for the same purpose.
const detachKey = 0x1d

// A program in the tab may have switched the terminal to another encoding of keys:
//
//	CSI 93 ; modifiers u         kitty keyboard protocol (93 is ']'), with alternates and event type after colons
//	CSI 27 ; modifiers ; 93 ~    xterm, modifyOtherKeys
var detachSequence = regexp.MustCompile(`\x1b\[(?:93(?::[0-9:]*)?;([0-9]+)(?::([0-9]+))?(?:;[0-9:]*)?u|27;([0-9]+);93~)`)

const (
	modifierCtrl  = 4
	modifierLocks = 64 | 128 // caps lock, num lock
	eventRelease  = "3"
)

// detachAt returns where in typed bytes the person detaches, or -1.
func detachAt(typed []byte) int {
	for i, c := range typed {
		if c == detachKey {
			return i
		}
		if c != 0x1b {
			continue
		}
		match := detachSequence.FindSubmatchIndex(typed[i:])
		if match == nil || match[0] != 0 {
			continue
		}
		group := func(n int) string {
			if match[2*n] < 0 {
				return ""
			}
			return string(typed[i+match[2*n] : i+match[2*n+1]])
		}
		if ctrlAlone(group(1)+group(3)) && group(2) != eventRelease {
			return i
		}
	}
	return -1
}

// ctrlAlone reads modifiers, which are sent as one more than their bits.
func ctrlAlone(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && (n-1)&^modifierLocks == modifierCtrl
}
