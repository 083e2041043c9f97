// Package watched starts programs under watch, without a cage: Become puts the own process under it and turns into another
// program, Accept takes what such processes hand over. What is seen is package watch's; nothing is blocked.
//
// A watched program has no_new_privs, so programs that gain rights (sudo) do not work in it.
package watched
