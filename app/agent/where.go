package agent

import "strings"

// WhereIn returns where an environment ("NAME=value") makes programs be looked up. A later entry of a name
// counts, as it does for the program that gets the environment.
func WhereIn(environ []string) Where {
	var w Where
	for _, entry := range environ {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "PATH":
			w.Path = value
		case "SHELL":
			w.Shell = value
		case "HOME":
			w.Home = value
		}
	}
	return w
}
