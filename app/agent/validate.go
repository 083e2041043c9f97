package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"termic/app/settle"
)

// ErrInvalid is wrapped by every refusal of a definition or of launch options.
var ErrInvalid = errors.New("not valid")

// invalid names the field and what is wrong with it; the text may be shown to whoever wrote the value.
func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", field, fmt.Sprintf(format, args...), ErrInvalid)
}

// Bounds of a definition; the kernel's limit of one argument is 128 KiB (MAX_ARG_STRLEN, execve(2)).
const (
	maxArgs     = 64
	maxArgBytes = 4096
	maxTitle    = 64
	maxEnv      = 64
)

var (
	idPattern   = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	envPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	flagPattern = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*$`)
)

// Validate returns the first fault of a definition, naming the field; it wraps ErrInvalid.
func (d Definition) Validate() error {
	if !idPattern.MatchString(d.ID) {
		return invalid("id", "%q is not 1 to 32 of a-z, 0-9 and hyphen", d.ID)
	}
	if len(d.Title) > maxTitle || hasControl(d.Title) {
		return invalid("title", "want at most %d bytes without control characters", maxTitle)
	}
	if err := validCommand(d.Command); err != nil {
		return err
	}
	for _, list := range []struct {
		name string
		args []string
	}{{"fresh", d.Fresh}, {"resume", d.Resume}, {"bypass", d.Bypass}, {"trust", d.Trust}, {"version", d.Version}} {
		if err := validArgs(list.name, list.args); err != nil {
			return err
		}
	}
	if err := validPrompt(d.Prompt); err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		env  map[string]string
	}{{"env", d.Env}, {"bypassEnv", d.BypassEnv}, {"trustEnv", d.TrustEnv}} {
		if err := validEnv(m.name, m.env); err != nil {
			return err
		}
	}
	if d.Tried != "" && numberIn(d.Tried) != d.Tried {
		return invalid("tried", "%q is no version: digits and dots, two parts at least", d.Tried)
	}
	if err := validCage(d.Cage); err != nil {
		return err
	}
	if !slices.Contains([]Hooks{"", HooksClaude, HooksCodex, HooksGemini, HooksOpenCode}, d.Hooks) {
		return invalid("hooks", "%q is none of %s, %s, %s, %s", d.Hooks, HooksClaude, HooksCodex, HooksGemini, HooksOpenCode)
	}
	if err := validMCP(d.MCP); err != nil {
		return err
	}
	if err := d.Settle.Validate(); err != nil {
		return invalid("settle", "%v", err)
	}
	return validPaste(d.Paste)
}

func validCommand(command []string) error {
	if len(command) == 0 || command[0] == "" {
		return invalid("command", "empty")
	}
	if err := validArgs("command", command); err != nil {
		return err
	}
	program := command[0]
	switch {
	case program == LoginShell, filepath.IsAbs(program):
		return nil
	case strings.ContainsRune(program, '/'):
		return invalid("command", "%q is neither a bare name nor an absolute path", program)
	case program == "." || program == ".." || strings.HasPrefix(program, "-"):
		return invalid("command", "%q is no program's name", program)
	}
	return nil
}

func validArgs(name string, args []string) error {
	if len(args) > maxArgs {
		return invalid(name, "%d arguments, at most %d", len(args), maxArgs)
	}
	for _, a := range args {
		if strings.ContainsRune(a, 0) {
			return invalid(name, "an argument holds a NUL byte")
		}
		if len(a) > maxArgBytes {
			return invalid(name, "an argument of %d bytes, at most %d", len(a), maxArgBytes)
		}
	}
	return nil
}

func validPrompt(p PromptArg) error {
	switch p.Style {
	case PromptTyped, PromptPositional:
		if p.Flag != "" {
			return invalid("prompt.flag", "only style %q has a flag", PromptFlag)
		}
	case PromptFlag:
		if !flagPattern.MatchString(p.Flag) {
			return invalid("prompt.flag", "%q is no flag", p.Flag)
		}
	default:
		return invalid("prompt.style", "%q is unknown", p.Style)
	}
	return nil
}

func validEnv(name string, env map[string]string) error {
	if len(env) > maxEnv {
		return invalid(name, "%d variables, at most %d", len(env), maxEnv)
	}
	for key, value := range env {
		if !envPattern.MatchString(key) {
			return invalid(name, "%q is no variable's name", key)
		}
		if strings.HasPrefix(key, "TERMIC_") {
			return invalid(name, "%s is set by termic alone", key)
		}
		if strings.ContainsRune(value, 0) || len(value) > maxArgBytes {
			return invalid(name, "the value of %s holds a NUL byte or is longer than %d bytes", key, maxArgBytes)
		}
	}
	return nil
}

func validPaste(p PasteRules) error {
	if !slices.Contains([]Bracketing{BracketWhenOn, BracketAlways, BracketNever}, p.Bracketed) {
		return invalid("paste.bracketed", "%q is unknown", p.Bracketed)
	}
	if d := time.Duration(p.EnterDelay); d != 0 && (d < MinEnterDelay || d > 5*time.Second) {
		return invalid("paste.enterDelay", "%s is not between %s and 5s", d, MinEnterDelay)
	}
	if p.MaxBytes < 0 || p.MaxBytes > MaxPaste {
		return invalid("paste.maxBytes", "%d is not between 0 and %d", p.MaxBytes, MaxPaste)
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) || r == 0xfffd })
}

func isZero(r settle.Rules) bool { return reflect.ValueOf(r).IsZero() }
