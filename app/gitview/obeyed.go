//go:build unix

package gitview

import (
	"context"
	"path"
	"slices"
	"strings"

	"termic/app/git"
)

// Obeyed is a changed file of commits or of a checkout that programs obey although nobody tells them to.
type Obeyed struct {
	Path   string
	Why    ObeyedWhy
	Change string // added, modified, deleted
	Blob   string // its new contents
	Mode   string // its new mode, as git writes it
}

// ObeyedWhy says who obeys.
type ObeyedWhy string

const (
	ObeyedRuns      ObeyedWhy = "runs"      // editors, git, shells and agents run it, or what it says
	ObeyedInstructs ObeyedWhy = "instructs" // agents read it as an instruction
	ObeyedSubmodule ObeyedWhy = "submodule" // git looks into a directory of that name as a repository
)

// instructFiles and instructDirs are what agents read as instructions, at any depth; without case.
var (
	instructFiles = []string{"claude.md", "claude.local.md", "agents.md", "agents.override.md", "agent.md", "gemini.md", "qwen.md", "skill.md",
		".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".rules", ".roorules", "copilot-instructions.md", ".termic.toml"}
	instructDirs = []string{".claude", ".clinerules", ".roo", ".junie", ".agents", ".aiassistant", ".augment", ".qwen"}
)

// WhyObeyed returns why a file would be obeyed, "" when it would not. hooks is as HooksInside has it.
func WhyObeyed(file string, link bool, hooks string) ObeyedWhy {
	if executes(file, hooks) || link && holdsExecutes(file, hooks) {
		return ObeyedRuns
	}
	lower := strings.ToLower(file)
	parts := strings.Split(lower, "/")
	if slices.Contains(instructFiles, parts[len(parts)-1]) || strings.HasPrefix(lower, ".github/instructions/") {
		return ObeyedInstructs
	}
	dirs := parts[:len(parts)-1]
	if link {
		dirs = parts // it may stand for such a directory
	}
	if slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(instructDirs, d) }) {
		return ObeyedInstructs
	}
	if strings.HasSuffix(path.Base(lower), ".instructions.md") {
		return ObeyedInstructs
	}
	return ""
}

// HooksInside returns the project's own hooks directory where it lies inside a checkout, relative to it; "" for none.
func HooksInside(ctx context.Context, repo *git.Repo, w git.Linked) string {
	return Task{Repo: repo}.hooksInside(ctx, w)
}
