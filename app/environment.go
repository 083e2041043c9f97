package app

import (
	"context"
	"log/slog"

	"termic/app/settings"
	"termic/app/shellenv"
	"termic/registry/refusal"
)

// environment is what tabs start from, as the setting wants it. It implements handlers.Environment.
type environment struct {
	*shellenv.Source
	settings *settings.Settings
	login    bool // the setting's auto means the login shell's
}

// openEnvironment asks the login shell, where the setting wants that, and waits for its answer, at most shellenv.Timeout: agents are
// looked for in the PATH that it gives. A shell that gives none is told, and does not keep the app from running.
func openEnvironment(ctx context.Context, set *settings.Settings, o Options, log *slog.Logger) *environment {
	e := &environment{Source: shellenv.Own(o.Environ), settings: set, login: o.LoginShell}
	if err := e.Apply(ctx); err != nil {
		_, problem := e.State()
		log.Warn("the login shell's environment could not be had; tabs start from the app's own", "cause", problem)
	}
	return e
}

// Apply implements handlers.Environment.
func (e *environment) Apply(ctx context.Context) error {
	mode := e.settings.Get(settings.Environment)
	if mode != "login" && !(mode == "auto" && e.login) {
		e.UseOwn()
		return nil
	}
	if err := e.Refresh(ctx); err != nil {
		return refusal.New(refusal.Unavailable, "your login shell could not be asked; what new tabs start from is as it was", "see: termic doctor").Because(err)
	}
	return nil
}
