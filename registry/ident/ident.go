// Package ident holds the ids of tasks, tabs, projects, grants and requests: opaque, stable, unguessable.
package ident

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
)

// The ids. Each kind is its own type, so that one cannot be passed for another; the zero value names nothing.
type (
	Task    string
	Tab     string
	Project string
	Grant   string
	Request string
	Text    string // a prompt that was sent
)

const (
	taskPrefix    = "t-"
	tabPrefix     = "b-"
	projectPrefix = "p-"
	grantPrefix   = "g-"
	requestPrefix = "r-"
	textPrefix    = "q-"
)

// randomBytes is 80 bits, enough that nobody guesses an id and none ever repeats, in 16 letters.
const randomBytes = 10

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func random(prefix string) string {
	var b [randomBytes]byte
	rand.Read(b[:]) // never fails since Go 1.24 (crypto/rand documentation)
	return prefix + encoding.EncodeToString(b[:])
}

// NewTask returns a fresh id.
func NewTask() Task { return Task(random(taskPrefix)) }

// NewTab returns a fresh id.
func NewTab() Tab { return Tab(random(tabPrefix)) }

// NewProject returns a fresh id.
func NewProject() Project { return Project(random(projectPrefix)) }

// NewGrant returns a fresh id.
func NewGrant() Grant { return Grant(random(grantPrefix)) }

// NewRequest returns a fresh id.
func NewRequest() Request { return Request(random(requestPrefix)) }

// ParseTask returns s as a task id, or an error when s has not the form of one.
func ParseTask(s string) (Task, error) { return parse[Task](s, taskPrefix, "task") }

// ParseTab returns s as a tab id, or an error when s has not the form of one.
func ParseTab(s string) (Tab, error) { return parse[Tab](s, tabPrefix, "tab") }

// ParseProject returns s as a project id, or an error when s has not the form of one.
func ParseProject(s string) (Project, error) { return parse[Project](s, projectPrefix, "project") }

func parse[T ~string](s, prefix, kind string) (T, error) {
	body, ok := strings.CutPrefix(s, prefix)
	// The length is compared too, since the decoder skips line breaks.
	if raw, err := encoding.DecodeString(body); !ok || err != nil || len(raw) != randomBytes || len(body) != encoding.EncodedLen(randomBytes) {
		return "", fmt.Errorf("parse %s id: not of the form %s followed by 16 letters", kind, prefix)
	}
	return T(s), nil
}

// NewText returns a fresh id.
func NewText() Text { return Text(random(textPrefix)) }
