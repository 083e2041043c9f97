package verbs

import "termic/registry"

// ControlStopOut is the result of control_stop.
type ControlStopOut struct {
	Ended int  `json:"ended" jsonschema:"how many grants ended"`
	Saved bool `json:"saved" jsonschema:"the endpoint stays off after a restart too; false when the setting could not be written"`
}

var ControlStop = registry.Define[None, ControlStopOut](registry.Verb{
	Name:       "control_stop",
	Summary:    "stop all calls of agents and clients at once",
	Doc:        "Ends every token, every listener and every call of agents and outside clients, in cages and outside, and switches the endpoint off. Tabs and what runs in them go on. It needs neither the audit log nor a free disk.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Always:     true,
	CLI:        registry.Command{Path: "stop-control", Example: "stop-control"},
})
