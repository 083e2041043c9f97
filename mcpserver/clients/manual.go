package clients

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Instructions returns how to tell the client by hand, generated from the same data as what Write does. file is
// its configuration; tokenFile is where its token is while the endpoint serves.
func (c Client) Instructions(t Target, file, tokenFile string) (string, error) {
	var b strings.Builder
	if c.Format == NoFile {
		fmt.Fprintf(&b, "A client that starts its servers as programs: the command\n\n    %s\n\n", shellLine(append([]string{t.Program}, t.Bridge()...)))
		fmt.Fprintf(&b, "A client that speaks MCP 2026-07-28 over HTTP and runs a helper for its headers: the address %s and the helper\n\n    %s\n\n", t.URL, t.Helper())
		fmt.Fprintf(&b, "A client that reads a header from a file: the header Authorization with \"Bearer \" and the content of\n%s, which is new each time that the endpoint starts.\n", tokenFile)
		return b.String(), nil
	}
	snippet, _, err := c.Write(nil, t, true)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "In %s:\n\n%s\n", file, indent(string(snippet)))
	if c.Own != nil {
		fmt.Fprintf(&b, "or, with its own command line:\n\n    %s\n\n", shellLine(append([]string{c.Program}, c.Own.Add(c.OwnValue(t))...)))
	}
	if c.Extra != nil {
		fmt.Fprintf(&b, "The key %s: %s.\n", strings.Join(c.Extra.Path, "."), c.Extra.Asks)
	}
	if c.Name == opencode.Name {
		fmt.Fprintf(&b, "Only where no program may be started, and only with mcp.older_clients on: a server of type \"remote\" with the\nheader \"Authorization\": \"Bearer {file:%s}\", which opencode reads once, so it must be restarted each time that the endpoint starts.\n", tokenFile)
	}
	fmt.Fprintf(&b, "Then: %s.\n", c.After)
	return b.String(), nil
}

func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// FileIn returns the client's configuration: the first of its places for which exists says yes, else the first
// one. It is empty for a client without one, and where no home directory is known.
func (c Client) FileIn(e Env, exists func(string) bool) string {
	if c.Files == nil {
		return ""
	}
	files := c.Files(e)
	for _, file := range files {
		if filepath.IsAbs(file) && exists(file) {
			return file
		}
	}
	if !filepath.IsAbs(files[0]) {
		return ""
	}
	return files[0]
}
