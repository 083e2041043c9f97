package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq       int    `json:"seq" jsonschema:"number of the entry; they count from 1 without gaps" cli:"col"`
	Time      string `json:"time" jsonschema:"when (RFC 3339)" cli:"col"`
	Phase     string `json:"phase" enum:"decided,held,finished,note" jsonschema:"decided: before anything happened; held: it waits for a person; finished: the outcome; note: the log about itself" cli:"col"`
	Verb      string `json:"verb,omitempty" jsonschema:"what was asked" cli:"col"`
	Caller    string `json:"caller,omitempty" jsonschema:"who asked: window, cli, task, or the name of an outside client" cli:"col"`
	Door      string `json:"door,omitempty" jsonschema:"the way in: window, cli or mcp"`
	Says      string `json:"client_says,omitempty" jsonschema:"what the caller's program calls itself; nothing was decided by it"`
	Grant     string `json:"grant,omitempty" jsonschema:"id of the caller's grant"`
	From      string `json:"caller_task,omitempty" jsonschema:"id of the caller's task" cli:"col"`
	Project   string `json:"project,omitempty" jsonschema:"id of the target's project"`
	Task      string `json:"task,omitempty" jsonschema:"id of the target" cli:"col"`
	Tab       string `json:"tab,omitempty" jsonschema:"id of the target's tab"`
	Decision  string `json:"decision,omitempty" enum:"allowed,refused" jsonschema:"how it was decided" cli:"col"`
	Rule      string `json:"rule,omitempty" jsonschema:"the check that decided" cli:"col"`
	Code      string `json:"code,omitempty" jsonschema:"code of the refusal" cli:"col"`
	Why       string `json:"why,omitempty" jsonschema:"the true reason, which the caller may not have been told"`
	Millis    int    `json:"ms,omitempty" jsonschema:"how long it ran"`
	Request   string `json:"request,omitempty" jsonschema:"id of the call, as in the refusal that the caller saw" cli:"col"`
	Arguments string `json:"arguments,omitempty" jsonschema:"digest of the arguments"`
	Note      string `json:"note,omitempty" jsonschema:"what the log tells about itself" cli:"col"`
}

// AuditTailIn are the arguments of audit_tail.
type AuditTailIn struct {
	Lines  int  `json:"lines,omitempty" min:"0" max:"10000" jsonschema:"how many of the last entries; default 50" cli:"short=n"`
	After  int  `json:"after,omitempty" min:"0" jsonschema:"only entries after this number"`
	Follow bool `json:"follow,omitempty" jsonschema:"when there is nothing to show yet, wait up to half a minute for it; on the command line: go on until ctrl-c" cli:"short=f"`
}

// AuditTailOut is the result of audit_tail.
type AuditTailOut struct {
	Entries []AuditEntry `json:"entries" jsonschema:"the entries, oldest first"`
	Next    int          `json:"next" jsonschema:"number of the newest entry that there is: ask for what is after it" cli:"hide"`
}

var AuditTail = registry.Define[AuditTailIn, AuditTailOut](registry.Verb{
	Name:       "audit_tail",
	Summary:    "show who asked for what, and how it was decided",
	Doc:        "Shows the newest entries of the audit log: every decision and every outcome. It never holds arguments, results, tokens or paths.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "audit", Example: "audit -n 20"},
})

// AuditVerifyOut is the result of audit_verify.
type AuditVerifyOut struct {
	Outcome  string   `json:"outcome" enum:"whole,broken" jsonschema:"whether every entry is as it was written, and none is missing"`
	Entries  int      `json:"entries" jsonschema:"how many there are"`
	First    int      `json:"first" jsonschema:"number of the oldest entry that is kept"`
	Last     int      `json:"last" jsonschema:"number of the newest entry"`
	Torn     bool     `json:"torn" jsonschema:"the last line is half written: termic is writing it, or was when it crashed"`
	Problems []string `json:"problems" jsonschema:"where the chain is broken"`
	Notes    []string `json:"notes" jsonschema:"what the log itself says it could not keep"`
}

var AuditVerify = registry.Define[None, AuditVerifyOut](registry.Verb{
	Name:       "audit_verify",
	Summary:    "check that the audit log was not changed",
	Doc:        "Reads the whole audit log and checks the chain of hashes from the first entry to the last one that was on disk. Who can write the data directory and recomputes the whole chain is not found.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.StorageFailed},
	CLI:        registry.Command{Path: "audit verify", Example: "audit verify", Exits: map[string]int{"broken": 1}},
})
