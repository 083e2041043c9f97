// Package settings keeps the person's choices for the whole app.
package settings

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"termic/app/store"
	"termic/registry/refusal"
)

// The keys.
const (
	MCPEnabled   = "mcp.enabled"
	MCPPort      = "mcp.port"
	MCPOlder     = "mcp.older_clients"
	DefaultAgent = "agents.default"
	CheckoutsDir = "checkouts.dir"
	Scrollback   = "terminal.scrollback"
	FontSize     = "terminal.font_size"
	ScreenReader = "terminal.screen_reader"
	Theme        = "appearance.theme"
	Contrast     = "appearance.contrast"
	Shortcuts    = "shortcuts"
	Processes    = "cage.processes"
	Memory       = "cage.memory"
	CPUWeight    = "cage.cpu_weight"
	DiskWarning  = "disk.warning"
	Environment  = "terminal.environment"
	Notify       = "notify.agents"
	NotifyQuiet  = "notify.quiet_hours"
	NotifyNever  = "notify.never_for"
)

// Setting is one setting: what it is called, what it does, and which values it takes.
type Setting struct {
	Key, Default, Doc string
	// check returns what is wrong with a value, or nil.
	check func(string) error
}

// all is every setting, in the order in which they are listed.
var all = []Setting{
	{MCPEnabled, "false", "serve the control plane over MCP on a loopback port", isBool},
	{MCPPort, "0", "port of the endpoint; 0: the one that it had last, or a free one the first time. A port that is taken is never replaced by another by itself, since clients would take their tokens to whoever holds the old one", isPort},
	{MCPOlder, "false", "serve clients that speak only MCP 2025-11-25 or 2025-06-18 too; without it they are told which revision to use", isBool},
	{DefaultAgent, "claude", "agent that new tasks start unless told otherwise", notEmpty},
	{CheckoutsDir, "", "directory of new tasks' checkouts; empty: beside the data directory", isDir},
	{Environment, "auto", "what new tabs start from: login (what your login shell's files make), own (what the app was started with), auto (login in the window, own with termic serve). Setting it asks the login shell again", isEnvironment},
	{Processes, "4096", "processes and threads that a cage may have at once, 256 to 1000000; 0: any number. Cages that run keep what they started with", isProcesses},
	{Memory, "0", "MiB of memory that a cage may take before what takes more is ended, 256 to 16777216; 0: any amount. Held where the system lets termic make control groups (termic doctor). Cages that run keep what they started with", isMemory},
	{CPUWeight, "0", "share of the processors that a cage gets where others want them too, 1 to 10000, everything else has 100; 0: like everything else. Held and kept as cage.memory", isWeight},
	{DiskWarning, "10", "GiB of the disk from which on a task's use of it is pointed out, 1 to 100000; 0: never", isGiB},
	{Scrollback, "10000", "lines kept above the screen of each new tab", isScrollback},
	{FontSize, "13", "size of the window's terminal text, in pixels: 9 to 32", isFontSize},
	{ScreenReader, "false", "let a screen reader follow the window's terminals", isBool},
	{Notify, "true", "tell the desktop when an agent has stopped or waits for you, unless its tab is in view", isBool},
	{NotifyQuiet, "", "hours in which the desktop is told nothing, such as 22:00-07:00; empty: none", isHours},
	{NotifyNever, "", "projects of which the desktop is told nothing: their names, separated by commas", isNames},
	{Theme, "system", "colours of the window: system, light or dark", oneOf("system", "light", "dark")},
	{Contrast, "system", "contrast of the window: system, normal or more", oneOf("system", "normal", "more")},
	{Shortcuts, "{}", "the window's keys that differ from the built-in ones: a JSON object from action to keys", isShortcuts},
}

// file holds the values that differ from the defaults.
var file = store.Define[map[string]string]("settings", 1)

// Settings are the settings of one data directory. It is safe for concurrent use.
type Settings struct {
	store  *store.Store
	mu     sync.RWMutex
	values map[string]string
}

// Open reads the settings.
func Open(s *store.Store) (*Settings, error) {
	values, err := file.Load(s)
	if err != nil {
		return nil, fmt.Errorf("open settings: %w", err)
	}
	if values == nil {
		values = map[string]string{}
	}
	return &Settings{store: s, values: values}, nil
}

// All returns every setting there is.
func All() []Setting { return append([]Setting(nil), all...) }

// Find returns the setting of that key; the error is a refusal.
func Find(key string) (Setting, error) {
	for _, setting := range all {
		if setting.Key == key {
			return setting, nil
		}
	}
	return Setting{}, refusal.New(refusal.NotFound, "no such setting", "see: termic settings list")
}

// Get returns the value of a setting. A stored value that is no longer allowed counts as not set.
func (s *Settings) Get(key string) string {
	setting, err := Find(key)
	if err != nil {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if value, set := s.values[key]; set && setting.check(value) == nil {
		return value
	}
	return setting.Default
}

// Bool returns the value of a setting that is true or false.
func (s *Settings) Bool(key string) bool { return s.Get(key) == "true" }

// Int returns the value of a setting that is a number.
func (s *Settings) Int(key string) int {
	n, _ := strconv.Atoi(s.Get(key)) // Get returns only values that passed check
	return n
}

// Check returns a refusal when the value may not be set.
func Check(key, value string) error {
	setting, err := Find(key)
	if err != nil {
		return err
	}
	if err := setting.check(value); err != nil {
		return refusal.New(refusal.BadInput, key+" "+err.Error(), "see: termic settings list")
	}
	return nil
}

// Set changes a setting and saves it.
func (s *Settings) Set(key, value string) error {
	if err := Check(key, value); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[string]string{}
	for k, v := range s.values {
		next[k] = v
	}
	next[key] = value
	if err := file.Save(s.store, next); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	s.values = next
	return nil
}

func isBool(value string) error {
	if value != "true" && value != "false" {
		return fmt.Errorf("is true or false")
	}
	return nil
}

func isPort(value string) error {
	// Ports below 1024 need rights that the app must not have.
	if n, err := strconv.Atoi(value); err != nil || n != 0 && (n < 1024 || n > 65535) {
		return fmt.Errorf("is 0 or a port from 1024 to 65535")
	}
	return nil
}

func isEnvironment(value string) error {
	if value != "auto" && value != "login" && value != "own" {
		return fmt.Errorf("is auto, login or own")
	}
	return nil
}

func isScrollback(value string) error {
	// 100,000 lines of 120 columns are some 200 MB; more is a log file's work.
	if n, err := strconv.Atoi(value); err != nil || n < 0 || n > 100_000 {
		return fmt.Errorf("is a number of lines up to 100000")
	}
	return nil
}

// minProcesses is linuxcage.MinProcesses, the fewest that a cage can run with. Settings import no cage, so a test holds the
// two together.
const minProcesses = 256

func isProcesses(value string) error {
	return zeroOr(value, minProcesses, 1_000_000)
}

func isMemory(value string) error { return zeroOr(value, 256, 1<<24) }

func isWeight(value string) error { return zeroOr(value, 1, 10_000) }

func isGiB(value string) error { return zeroOr(value, 1, 100_000) }

func zeroOr(value string, least, most int) error {
	if n, err := strconv.Atoi(value); err != nil || n != 0 && (n < least || n > most) {
		return fmt.Errorf("is 0 or a number from %d to %d", least, most)
	}
	return nil
}

func isDir(value string) error {
	if value != "" && (!filepath.IsAbs(value) || filepath.Clean(value) != value) {
		return fmt.Errorf("is empty or a clean absolute path")
	}
	return nil
}

func notEmpty(value string) error {
	if value == "" {
		return fmt.Errorf("may not be empty")
	}
	return nil
}
