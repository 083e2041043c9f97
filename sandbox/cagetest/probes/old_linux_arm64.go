package probes

// oldMachine are ways that only this machine has: none.
var oldMachine []Probe
