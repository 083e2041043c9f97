package notify

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"termic/app/settle"
)

// Notice is what the desktop shows: Summary is plain text, Body the small markup of the Desktop Notifications
// Specification, with everything in it escaped. Task is the id of the task that a click on it leads to.
type Notice struct{ Summary, Body, Task string }

const (
	// maxText is how many characters of an agent's text are shown.
	maxText = 120
	// maxNamed is how many tasks a notice names.
	maxNamed = 4
)

// words says what happened, the task's name first. tabs is not empty.
func words(tabs []Tab) Notice {
	if len(tabs) == 1 {
		tab := tabs[0]
		body := html.EscapeString(plain(tab.Project))
		if text := plain(tab.Title); text != "" {
			body += ": " + html.EscapeString(text)
		}
		return Notice{plain(tab.Task) + ": " + plain(tab.Agent) + " " + verb(tab.State), body, tab.TaskID}
	}
	var lines []string
	for i, tab := range tabs {
		if i == maxNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(tabs)-maxNamed))
			break
		}
		lines = append(lines, html.EscapeString(plain(tab.Task)+": "+plain(tab.Agent)+" "+verb(tab.State)))
	}
	return Notice{fmt.Sprintf("%s and %d more", plain(tabs[0].Task), len(tabs)-1), strings.Join(lines, "\n"), tabs[0].TaskID}
}

func verb(state settle.State) string {
	switch state {
	case settle.Waiting:
		return "waits for you"
	case settle.Exited:
		return "has ended"
	}
	return "has stopped"
}

// plain returns at most maxText characters of text in one line, without what is not printed: control and format
// characters, among them those that turn the direction of writing around.
func plain(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ") {
		if !unicode.IsPrint(r) {
			continue
		}
		if n++; n > maxText-1 {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
