package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// HeldCall is a call that waits for the person.
type HeldCall struct {
	ID        string `json:"id" jsonschema:"stable id of the waiting call" cli:"col"`
	Since     string `json:"since" jsonschema:"since when it waits (RFC 3339)" cli:"col"`
	Until     string `json:"until" jsonschema:"when it is refused unless somebody answers (RFC 3339)"`
	Holder    string `json:"holder" jsonschema:"who asks: id of a task, or name of an outside client" cli:"col"`
	Verb      string `json:"verb" jsonschema:"what is asked" cli:"col"`
	Class     string `json:"class" enum:"read,write,destructive" jsonschema:"how much it may change" cli:"col"`
	Project   string `json:"project,omitempty" jsonschema:"name of the target's project" cli:"col"`
	Task      string `json:"task,omitempty" jsonschema:"name of the target" cli:"col"`
	Arguments string `json:"arguments" jsonschema:"what it was called with, as JSON"`
	Digest    string `json:"digest" jsonschema:"digest of the call, which an answer has to name"`
	Always    bool   `json:"always" jsonschema:"whether the answer always is possible: not for destructive verbs"`
}

// HoldRule is what the person wants of some calls of one caller.
type HoldRule struct {
	ID      string `json:"id" jsonschema:"stable id of the rule" cli:"col"`
	Holder  string `json:"holder" jsonschema:"id of a task, or name of an outside client" cli:"col"`
	Verb    string `json:"verb" jsonschema:"name of the verb" cli:"col"`
	Task    string `json:"task,omitempty" jsonschema:"only on the task of this id" cli:"col"`
	Project string `json:"project,omitempty" jsonschema:"only in the project of this id" cli:"col"`
	Policy  string `json:"policy" jsonschema:"allow, ask or deny" cli:"col"`
	Refused bool   `json:"refused,omitempty" jsonschema:"it names a verb, a project or a policy that there is not: what it covered is denied" cli:"col"`
}

// HoldListIn are the arguments of hold_list.
type HoldListIn struct {
	Follow bool `json:"follow,omitempty" jsonschema:"when nothing waits, wait up to half a minute for something that does" cli:"-"`
}

// HoldListOut is the result of hold_list.
type HoldListOut struct {
	Calls []HeldCall `json:"calls" jsonschema:"the calls that wait, the oldest first"`
	Rules []HoldRule `json:"rules" jsonschema:"the person's rules"`
}

var HoldList = registry.Define[HoldListIn, HoldListOut](registry.Verb{
	Name:       "hold_list",
	Summary:    "list calls that wait for you, and what you have decided for all time",
	Doc:        "Lists the calls of agents and outside clients that wait for the person, and the person's rules. Only the person answers, in the window or at the terminal that started a foreground serve.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "holds", Example: "holds"},
})

// HoldAnswerIn are the arguments of hold_answer.
type HoldAnswerIn struct {
	ID     string `json:"id" min:"1" max:"64" jsonschema:"id of the waiting call"`
	Digest string `json:"digest" min:"1" max:"128" jsonschema:"digest of the call that was shown"`
	Answer string `json:"answer" enum:"once,always,deny" jsonschema:"once: this call; always: this verb of this caller on this task and project from now on; deny"`
}

var HoldAnswer = registry.Define[HoldAnswerIn, None](registry.Verb{
	Name:     "hold_answer",
	Summary:  "allow or deny a call that waits",
	Doc:      "Answers a call that waits for the person. The answer is for the call that was shown and no other.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Conflict, refusal.BadInput},
})

// HoldPolicyIn are the arguments of hold_policy.
type HoldPolicyIn struct {
	Holder  string `json:"holder" min:"1" max:"64" jsonschema:"id of a task, or name of an outside client"`
	Verb    string `json:"verb" min:"1" max:"64" jsonschema:"name of the verb"`
	Policy  string `json:"policy" enum:"allow,ask,deny" jsonschema:"what is to become of such calls"`
	Project string `json:"project,omitempty" jsonschema:"only in this project"`
}

// Target implements registry.Targeted.
func (in HoldPolicyIn) Target() registry.Target { return registry.Target{Project: in.Project} }

var HoldPolicy = registry.Define[HoldPolicyIn, None](registry.Verb{
	Name:       "hold_policy",
	Summary:    "say which calls of a caller are allowed, asked about or denied",
	Doc:        "Sets a rule for one caller and one verb. Without a rule, destructive verbs of outside clients are asked about, and everything else is allowed as far as the caller's grant goes.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.BadInput},
})

// HoldForgetIn are the arguments of hold_forget.
type HoldForgetIn struct {
	ID string `json:"id" min:"1" max:"64" jsonschema:"id of the rule" cli:"arg"`
}

var HoldForget = registry.Define[HoldForgetIn, None](registry.Verb{
	Name:     "hold_forget",
	Summary:  "take back what you allowed for all time",
	Doc:      "Removes one of the person's rules. From the command line only a rule that allows: taking a restriction away is for the window.",
	Class:    registry.Write,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Always:   true,
	Refusals: []refusal.Code{refusal.NotFound, refusal.NotPermitted},
	CLI:      registry.Command{Path: "holds forget", Example: "holds forget l-abcdefghijklmnop"},
})
