package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"termic/app/notify"
	"termic/app/settings"
	"termic/app/shellenv"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/verbs"
	"termic/sandbox/capability"
	"termic/sandbox/cgroup"
	"termic/sandbox/launch"
)

func (s Services) bindDoctor(r *registry.Router) { bind(r, verbs.Doctor, s.doctor) }

func (s Services) doctor(ctx context.Context, _ registry.Call, _ verbs.None) (verbs.DoctorOut, error) {
	checks := []verbs.Check{
		{Name: "termic", State: "ok", Evidence: s.Version},
		platform(),
		{Name: "git", State: "ok", Evidence: s.Git.Version().String() + " at " + s.Git.Path()},
	}
	checks = append(checks, s.dataChecks()...)
	checks = append(checks, s.archiveCheck())
	checks = append(checks, s.environmentCheck())
	checks = append(checks, s.desktopCheck(ctx))
	checks = append(checks, s.strayChecks()...)
	checks = append(checks, s.auditCheck())
	checks = append(checks, s.endpointCheck())
	checks = append(checks, s.olderChecks()...)
	checks = append(checks, s.cageChecks(ctx)...)
	checks = append(checks, s.agentChecks(ctx)...)
	return verbs.DoctorOut{Checks: checks}, nil
}

func platform() verbs.Check {
	check := verbs.Check{Name: "platform", State: "ok", Evidence: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		check.State, check.Remedy = "warning", "this version was run on Linux only; report what does not work"
	}
	return check
}

// dataChecks looks at the data directory and at what could not be read in it.
func (s Services) dataChecks() []verbs.Check {
	checks := []verbs.Check{{Name: "data", State: "ok", Evidence: s.Store.Dir()}}
	for _, problem := range s.Store.Problems() {
		check := verbs.Check{Name: "data file", State: "failed", Evidence: problem.File + " could not be used", Remedy: "look at " + problem.Kept}
		if problem.Kept == "" {
			check.Remedy = "it is still in its place; repair or remove it"
		}
		checks = append(checks, check)
	}
	for _, record := range s.Tasks.List() {
		if note := s.Tasks.GitNote(record.ID); note != "" {
			checks = append(checks, verbs.Check{Name: "task " + record.Name, State: "warning", Evidence: note, Remedy: "look at " + record.Dir})
		}
		if what, remedy := s.Tasks.CheckoutTrouble(record); what != "" {
			checks = append(checks, verbs.Check{Name: "task " + record.Name, State: "failed", Evidence: what, Remedy: remedy})
		}
		if record.Trouble != "" {
			checks = append(checks, verbs.Check{Name: "task " + record.Name, State: "warning", Evidence: record.Trouble, Remedy: "look at " + record.Dir})
		}
	}
	for _, dir := range s.Tasks.Halves() {
		checks = append(checks, verbs.Check{Name: "interrupted restore", State: "warning", Evidence: dir + " holds what a restore had written when it was interrupted",
			Remedy: "its archive has all of it: restore the task again, and remove that directory"})
	}
	return checks
}

func (s Services) environmentCheck() verbs.Check {
	shell, problem := s.Environment.State()
	switch {
	case problem != nil:
		return verbs.Check{
			Name: "environment", State: "warning", Evidence: "your login shell could not be asked, so new tabs may lack a part of your PATH: " + shellProblem(problem),
			Remedy: "look at its rc files (TERMIC_CAPTURE is set while they are read), then: termic settings set terminal.environment login",
		}
	case shell != "":
		return verbs.Check{Name: "environment", State: "ok", Evidence: "as " + shell + " makes it"}
	}
	return verbs.Check{Name: "environment", State: "ok", Evidence: "as the app was started with"}
}

// desktopTimeout bounds the question to the desktop: its service may have to be started for it.
const desktopTimeout = 3 * time.Second

func (s Services) desktopCheck(ctx context.Context) verbs.Check {
	check := verbs.Check{Name: "notifications", State: "off"}
	if !s.Settings.Bool(settings.Notify) {
		check.Evidence, check.Remedy = "switched off", "termic settings set notify.agents true"
		return check
	}
	ctx, cancel := context.WithTimeout(ctx, desktopTimeout)
	defer cancel()
	switch err := s.Desktop.Check(ctx); {
	case err == nil:
		check.State, check.Evidence = "ok", "the desktop's service answers"
	case errors.Is(err, notify.ErrNoBus):
		check.Evidence = "no session bus was reached, so the desktop is told nothing"
		check.Remedy = "start the app from a desktop session, if you want notifications"
	default:
		check.Evidence, check.Remedy = "no notification service answers on the session bus", "install one, if you want notifications"
	}
	return check
}

// maxStrays bounds what doctor lists: a program that starts itself again and again could fill a page.
const maxStrays = 20

// strayChecks lists what runs on outside of any tab.
func (s Services) strayChecks() []verbs.Check {
	strays, err := s.Tasks.Strays()
	if err != nil {
		return []verbs.Check{{Name: "processes", State: "warning", Evidence: "they could not be looked at"}}
	}
	var checks []verbs.Check
	for i, stray := range strays {
		if i == maxStrays {
			checks = append(checks, verbs.Check{Name: "processes", State: "warning", Evidence: fmt.Sprintf("%d more have left their tabs", len(strays)-maxStrays)})
			break
		}
		record, _ := s.Tasks.Get(stray.Task)
		checks = append(checks, verbs.Check{
			Name: "process of " + record.Name, State: "warning",
			Evidence: stray.Words(),
			Remedy:   fmt.Sprintf("if you do not want it: kill %d", stray.PID),
		})
	}
	return checks
}

// shellProblem says why a shell could not be asked, in words that hold nothing of what it printed.
func shellProblem(problem error) string {
	for _, known := range []error{shellenv.ErrTimeout, shellenv.ErrSilent, shellenv.ErrShell} {
		if errors.Is(problem, known) {
			return known.Error()
		}
	}
	return "it could not be started"
}

func (s Services) auditCheck() verbs.Check {
	check := verbs.Check{Name: "audit log", State: "ok", Evidence: "whole"}
	report, err := s.Audit.Verify()
	switch {
	case err != nil:
		check.State, check.Evidence = "failed", "it could not be read"
		check.Remedy = "look at the directory audit in the data directory"
	case !report.OK():
		check.State, check.Evidence = "failed", fmt.Sprintf("%d places do not fit together", len(report.Problems))
		check.Remedy = "somebody or something changed it; what it says of that time is no evidence"
	}
	return check
}

func (s Services) endpointCheck() verbs.Check {
	url, why := s.Endpoint.State()
	switch {
	case url != "":
		return verbs.Check{Name: "endpoint", State: "ok", Evidence: "serves at " + url}
	case why == "":
		return verbs.Check{Name: "endpoint", State: "off", Evidence: "switched off", Remedy: "termic settings set mcp.enabled true"}
	}
	return verbs.Check{Name: "endpoint", State: "failed", Evidence: why, Remedy: "free the port, then: termic settings set mcp.enabled true; or move to another with its clients: termic client refresh --port N"}
}

// olderChecks names the clients that could not connect because of their revision.
func (s Services) olderChecks() []verbs.Check {
	var checks []verbs.Check
	for _, client := range s.Endpoint.RefusedOlder() {
		checks = append(checks, verbs.Check{
			Name: "client", State: "warning",
			Evidence: fmt.Sprintf("%s speaks an older revision of MCP (%s) and was refused", client.Name, cmp.Or(client.Revision, "it does not say which")),
			Remedy:   olderRemedy,
		})
	}
	return checks
}

// cageChecks says which cages this machine has: those that it could make and prove.
func (s Services) cageChecks(ctx context.Context) []verbs.Check {
	var checks []verbs.Check
	for _, mode := range []capability.Mode{capability.Monitor, capability.EnforceFS, capability.Enforce} {
		check := verbs.Check{Name: "cage " + mode.String(), State: "ok", Evidence: cageEvidence(runtime.GOOS)}
		if mode == capability.Monitor {
			check.Evidence = "no cage: what a task's programs ask for is noted and nothing blocked; sudo does not work in it"
		}
		if err := s.Tasks.Machine.Check(mode); err != nil {
			check.State, check.Evidence = "off", err.Error()
			if no := caged(err); no != nil {
				check.Evidence, check.Remedy = no.Reason, no.Remedy
			}
			var lacks *launch.UnsupportedError
			if errors.As(err, &lacks) && lacks.Cause != nil { // a refusal keeps it for the log: others may read that
				check.Evidence += " (" + lacks.Cause.Error() + ")"
			}
		}
		checks = append(checks, check)
	}
	return append(checks, limitsCheck(s.Tasks.Machine.Limits(ctx)))
}

// cageEvidence says what a system's cages stand on.
func cageEvidence(system string) string {
	if system == "darwin" {
		return "a trial of one held on this Mac; what the trial does not try is verified by evaluation, not on a Mac"
	}
	return "one was made and proved here"
}

// limitsCheck says which limits cages can be held to here: those that one was really held to.
func limitsCheck(how string, held cgroup.Limits, err error) verbs.Check {
	check := verbs.Check{Name: "cage limits", State: "off", Remedy: "to have them, start termic in a systemd session of your user; what a task takes of the disk, which nothing limits: termic disk TASK"}
	if err != nil {
		check.Evidence = "no limit on the memory and processor time of a cage, but for the size of its private directories: " + err.Error()
		return check
	}
	var has, lacks []string
	for _, l := range []struct {
		what string
		held int64
	}{{"memory", held.Memory}, {"processes", held.Processes}, {"share of the processors", held.CPUWeight}} {
		if l.held != 0 {
			has = append(has, l.what)
		} else {
			lacks = append(lacks, l.what)
		}
	}
	check.Evidence = fmt.Sprintf("held to here: %s (a limit was set and read back, %s)", strings.Join(has, ", "), how)
	if len(lacks) == 0 {
		check.State, check.Remedy = "ok", "what a task takes of the disk, which nothing limits: termic disk TASK"
		return check
	}
	check.State, check.Evidence = "warning", check.Evidence+"; not held to: "+strings.Join(lacks, ", ")
	check.Remedy = "have the system delegate these controllers to the sessions of users (systemd.resource-control(5), Delegate)"
	return check
}

// probeTimeout bounds the look at all agents: each is a program that is started to ask for its version.
const probeTimeout = 10 * time.Second

func (s Services) agentChecks(ctx context.Context) []verbs.Check {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var checks []verbs.Check
	for _, definition := range s.Agents.List() {
		check := verbs.Check{Name: "agent " + definition.ID, State: "ok"}
		installed, version := s.Agents.Installed(ctx, definition)
		switch {
		case !installed:
			check.State, check.Evidence = "off", "not found in PATH"
			check.Remedy = fmt.Sprintf("install %s, if you want to use it", definition.Title)
		case definition.Unsupported(version) != "":
			check.State, check.Evidence = "warning", version+": "+definition.Unsupported(version)
			check.Remedy = "see what of it works: termic agent test " + definition.ID
		case version == "":
			check.Evidence = "found"
		default:
			check.Evidence = version
		}
		checks = append(checks, check)
	}
	_, faults := s.Agents.Files()
	for _, fault := range faults {
		checks = append(checks, verbs.Check{Name: "agent file", State: "failed", Evidence: fault.Error(), Remedy: "correct it in the directory agents of the data directory; it is read again at once"})
	}
	return checks
}

// running says in words which programs of a task have left its tabs or work in its checkout.
func (s Services) running(id ident.Task) []string {
	strays, err := s.Tasks.StraysOf(id)
	if err != nil {
		return []string{"they could not be looked at"}
	}
	var list []string
	for i, stray := range strays {
		if i == maxStrays {
			return append(list, fmt.Sprintf("%d more", len(strays)-maxStrays))
		}
		list = append(list, stray.Words())
	}
	return list
}
