package main

import (
	"fmt"
	"strings"
)

// exceptions are checks that cannot pass, and why: "scenario" for all that do not pass of one, or "scenario/check".
type exceptions map[string]string

// The optional capabilities that termic does not have, in the words of the specification.
const (
	noPrompts     = "no capability prompts: there are tools only"
	noResources   = "no capability resources: there are tools only"
	noCompletions = "no capability completions: there are tools only"
	noInput       = "no tool asks its client for input (elicitation, sampling, roots)"
	noTasks       = "no extension io.modelcontextprotocol/tasks; the suite does not score it for this revision"
	noContent     = "no tool answers with anything but text and structuredContent"
	noHeaders     = "no tool mirrors an argument into a header (x-mcp-header)"
	noSuchTool    = "calls a tool of this name, which is tried with our endpoint and such a tool"
	noOrigin      = "we serve no page, so no Origin is ours: any is refused, which is stricter than the specification asks"
)

var ofBuilt = exceptions{
	"completion-complete": noCompletions,

	"prompts-list":                                noPrompts,
	"prompts-get-simple":                          noPrompts,
	"prompts-get-with-args":                       noPrompts,
	"prompts-get-embedded-resource":               noPrompts,
	"prompts-get-with-image":                      noPrompts,
	"caching/sep-2549-prompts-list-caching-hints": noPrompts,

	"resources-list":                                          noResources,
	"resources-read-text":                                     noResources,
	"resources-read-binary":                                   noResources,
	"resources-templates-read":                                noResources,
	"sep-2164-resource-not-found":                             noResources,
	"caching/sep-2549-resources-list-caching-hints":           noResources,
	"caching/sep-2549-resources-templates-list-caching-hints": noResources,
	"caching/sep-2549-resources-read-caching-hints":           noResources,

	"input-required-result-*": noInput,
	"tasks-*":                 noTasks,

	"tools-call-image":                                       noContent,
	"tools-call-audio":                                       noContent,
	"tools-call-embedded-resource":                           noContent,
	"tools-call-mixed-content":                               noContent,
	"http-custom-header-server-validation":                   noHeaders,
	"json-schema-2020-12":                                    "wants a tool of its own with keywords that no schema of ours uses",
	"dns-rebinding-protection/localhost-host-valid-accepted": noOrigin,

	"tools-call-simple-text":   noSuchTool,
	"tools-call-error":         noSuchTool,
	"tools-call-with-progress": noSuchTool,
	"server-stateless/sep-2575-server-rejects-undeclared-capability":              noInput,
	"server-stateless/sep-2575-missing-capability-http-400":                       noInput,
	"server-stateless/sep-2575-http-server-no-independent-requests-on-stream":     noSuchTool,
	"server-stateless/sep-2575-server-no-log-without-loglevel":                    noSuchTool,
	"server-stateless/sep-2575-server-sends-tools-list-changed-on-subscription":   noSuchTool,
	"server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription": noPrompts,
}

var ofFixture = exceptions{
	"server-stateless/sep-2575-server-rejects-undeclared-capability":              noInput,
	"server-stateless/sep-2575-missing-capability-http-400":                       noInput,
	"server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription": noPrompts,
}

// judge returns how many checks passed, and everything that is not as it should be.
func (e exceptions) judge(checks []check) (passed int, wrong []error) {
	used := map[string]bool{}
	for _, c := range checks {
		switch name, known := e.of(c); {
		case c.Status == "SUCCESS" || c.Status == "INFO":
			passed++
		case known:
			used[name] = true
		default:
			wrong = append(wrong, fmt.Errorf("%s of %s/%s: %s %v", c.Status, c.scenario, c.ID, c.Message, c.Details))
		}
	}
	for name := range e {
		if !used[name] {
			wrong = append(wrong, fmt.Errorf("%s passes, or is not tried, and is listed as one that cannot apply", name))
		}
	}
	if len(checks) == 0 {
		wrong = append(wrong, fmt.Errorf("nothing was checked"))
	}
	return passed, wrong
}

// of returns the exception that a check falls under.
func (e exceptions) of(c check) (name string, known bool) {
	for _, name := range []string{c.scenario + "/" + c.ID, c.scenario} {
		if _, known := e[name]; known {
			return name, true
		}
	}
	for name := range e {
		if prefix, all := strings.CutSuffix(name, "*"); all && strings.HasPrefix(c.scenario, prefix) {
			return name, true
		}
	}
	return "", false
}
