package main

import (
	"fmt"
	"strings"
	"time"
)

// session is one program and what is done in it.
type session struct {
	name       string
	argv       []string
	cols, rows int
	files      map[string]string
	steps      []step
	after      []string // what ends it
}

// step waits, then types keys, or resizes when cols is set.
type step struct {
	wait       time.Duration
	keys       string
	cols, rows int
}

// typed are steps a fifth of a second apart: longer than any of these programs takes to draw.
func typed(keys ...string) []step {
	var steps []step
	for _, k := range keys {
		steps = append(steps, step{wait: 200 * time.Millisecond, keys: k})
	}
	return steps
}

func resized(cols, rows int) step { return step{wait: 200 * time.Millisecond, cols: cols, rows: rows} }

func all(parts ...[]step) []step {
	var steps []step
	for _, p := range parts {
		steps = append(steps, p...)
	}
	return steps
}

var sessions = []session{
	{
		name: "vim", argv: []string{"vim", "-n", "-i", "NONE", "-u", "DEFAULTS", "--cmd", "set noswapfile", "main.c"}, cols: 80, rows: 24,
		files: map[string]string{"main.c": program(120)},
		steps: all(
			typed(":syntax on\r", ":set number list hlsearch wildmenu\r", "\x06", "\x06", "\x02", "G", "gg", "/table\r", "n", "n", "N", "zz", "zt", "zb"),
			typed("ihello 漢字かな wörld ✳ done\x1b", "o\ttab\tstops — and a line that is much longer than the window is wide, so that it has to wrap around at its end\x1b", "5dd", "u", "yy10p", "\x16jjjd", "u", "J"),
			typed(":split\r", ":vsplit\r", "\x17j", "\x17=", ":help\r", "\x06", ":q\r", ":e \t", "\x1b", ":%s/int/long/g\r"),
			[]step{resized(100, 30)}, typed("\x06", "G"), []step{resized(60, 15)}, typed("gg", "\x05", "\x19", ":set nowrap\r", "$", "0", ":qa!\r"),
		),
	},
	{
		name: "less", argv: []string{"less", "-R", "log.txt"}, cols: 80, rows: 24,
		files: map[string]string{"log.txt": log(400)},
		steps: all(
			typed(" ", " ", "b", "j", "j", "k", "d", "u", "G", "g", "/warning\r", "n", "n", "N", "&漢\r", "&\r", "-S\r", "\x1b)", "\x1b(", "-S\r", "=", "h", "q"),
			[]step{resized(50, 12)}, typed(" ", "G", "g"), []step{resized(120, 40)}, typed(" ", "G", "?done\r", "q"),
		),
	},
	{
		name: "htop", argv: []string{"unshare", "--pid", "--fork", "--mount-proc", "htop", "--delay=3"}, cols: 100, rows: 30,
		steps: all(
			typed("", "", "\x1b[B", "\x1b[B", "\x1b[A", "t", "t", "H", "K", "P", "M", "T", "\x1bOQ", "\x1b[B", "\x1b[C", "\x1b[B", "\x1b", "/htop\r", "\\ht\r", "\\\x1b"),
			[]step{resized(70, 20)}, typed("", "", ""), []step{resized(120, 36)}, typed("", "?", "q", "u", "\x1b", "q"),
		),
	},
	{
		name: "tmux", argv: []string{"tmux", "-f", "tmux.conf", "new-session", "/bin/sh"}, cols: 100, rows: 30,
		after: []string{"tmux", "kill-server"},
		files: map[string]string{
			"tmux.conf": "set -g status-right ''\nset -g default-terminal screen-256color\nset -g default-shell /bin/sh\nsetw -g automatic-rename off\n",
			"log.txt":   log(200), "main.c": program(60),
		},
		steps: all(
			typed("cat log.txt\r", "\x02%", "cat main.c\r", "\x02\"", "ls\r", "\x02o", "\x02[", "\x1b[5~", "\x1b[5~", "q", "less log.txt\r", " ", " ", "q"),
			typed("\x02z", "\x02z", "vim -n -u NONE main.c\r", "\x06", "iin tmux 漢字\x1b", ":q!\r", "\x02 ", "\x02 ", "\x02c", "cat log.txt\r", "\x02p", "\x02w", "q"),
			[]step{resized(70, 20)}, typed("", "\x02n", "\x02p"), []step{resized(120, 36)}, typed("", "\x02&y", ""),
		),
	},
}

// program is C text of some lines.
func program(functions int) string {
	var b strings.Builder
	b.WriteString("#include <stdio.h>\n\n/* table: 漢字 and ümlauts */\n")
	for i := range functions {
		fmt.Fprintf(&b, "static int table_%d(const char *name, int value)\n{\n\treturn value > %d ? printf(\"%%s: %%d\\n\", name, value) : %d;\n}\n\n", i, i*7, i)
	}
	return b.String()
}

// log is coloured text of some lines.
func log(lines int) string {
	var b strings.Builder
	for i := range lines {
		level := []string{"\x1b[32minfo\x1b[m", "\x1b[1;33mwarning\x1b[m", "\x1b[31merror\x1b[m"}[i*i%3]
		fmt.Fprintf(&b, "%04d %s request %d served in %d ms %s\n", i, level, i*31, i*17%900, strings.Repeat("· 漢字 done ", i%9))
	}
	return b.String()
}
