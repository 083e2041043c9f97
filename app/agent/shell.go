package agent

import (
	"time"

	"termic/app/settle"
)

// shell is the person's login shell. It has no prompt of its own on the command line: lines are typed.
func shell() Definition {
	return Definition{
		ID: "shell", Title: "Shell", Shell: true,
		Command: []string{LoginShell, "-l"}, // -l: bash, zsh, fish, dash, ksh
		Settle:  shellRules(),
		Paste:   PasteRules{EnterDelay: settle.Duration(MinEnterDelay)},
	}
}

// shellRules read prompt marks where the shell sends them, else the foreground process. A command that is over
// before anyone looked leaves only quiet; 400 ms leaves room for a look after DefaultHold.
func shellRules() settle.Rules {
	return settle.Rules{
		Marks: true, Foreground: true, Quiet: settle.Duration(400 * time.Millisecond),
		Rank: []settle.Signal{settle.OSC, settle.Process},
	}
}
