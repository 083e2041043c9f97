// Package screen is a terminal without a window: the text, the cursor and the modes that a program's output leaves behind.
//
// A Screen is fed with bytes and asked for text. It never blocks, never fails and keeps a bounded amount of memory whatever
// is written. It is not safe for concurrent use: the caller holds a lock around every method, and the callbacks run inside
// it.
//
// Where terminals differ it does what xterm.js 6.0.0 does, since that is what the person sees, but for these (looked at on
// 2026-11-29; what a VT220 or xterm does is in brackets). testdata/differences.json has an input for each and what all three
// make of it; docs/terminals.md is for people:
//
//   - Grapheme clusters are one character, emoji sequences two cells wide. xterm.js has that in addon-unicode-graphemes alone,
//     whose 0.4.0 gives every character beyond the first plane one cell [xterm counts each rune].
//   - Tab stops are the terminal's [so are xterm's]; xterm.js has a set for each of the two screens.
//   - A mark with no letter before it is dropped; in xterm.js it takes the cell and is overwritten or stays.
//   - DECRC brings all charsets back [so does xterm]; xterm.js only the one in use.
//   - A saved cursor is a place on the screen [so does xterm]; in xterm.js it moves with the text when that scrolls.
//   - With the origin in the scroll region, relative and column movements count from the cursor [so does xterm]; xterm.js
//     adds the region's top again.
//   - The cursor report counts from the origin [so does xterm]; in xterm.js from the top of the screen.
//   - APC, PM and SOS strings may hold any character; in xterm.js one beyond ASCII ends them, and the rest is printed.
//   - A region that scrolls cuts the lines that had wrapped across its borders; xterm.js goes on calling them one line.
//   - Resizing lays out the cursor's own line, too, and keeps what is below the cursor; xterm.js cuts both.
//   - No OSC sets a colour of the palette, and OSC 4, 12 and 104 are ignored: colours are the window's.
//
// With xterm.js and not with xterm: a soft reset (DECSTR) ends bracketed paste and focus reports; NEL written as UTF-8 is a
// control; erasing to the right of a full row erases nothing [xterm: the last cell]; there are no left
// and right margins (DECLRMM); bytes that are not UTF-8 are dropped [xterm shows U+FFFD]; SU does not feed the scrollback.
package screen
