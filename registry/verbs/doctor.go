package verbs

import "termic/registry"

// Check is one line of doctor's findings.
type Check struct {
	Name     string `json:"name" jsonschema:"what was looked at" cli:"col"`
	State    string `json:"state" enum:"ok,warning,failed,off" jsonschema:"how it is" cli:"col"`
	Evidence string `json:"evidence" jsonschema:"what was seen" cli:"col"`
	Remedy   string `json:"remedy,omitempty" jsonschema:"what to do about it" cli:"col"`
}

// DoctorOut is the result of doctor.
type DoctorOut struct {
	Checks []Check `json:"checks" jsonschema:"what was looked at, one by one"`
}

var Doctor = registry.Define[None, DoctorOut](registry.Verb{
	Name:       "doctor",
	Summary:    "check this machine and this app",
	Doc:        "Looks at everything that termic needs and says what it saw: platform, git, data directory, endpoint, agents.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "doctor", Example: "doctor"},
})
