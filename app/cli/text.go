package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"termic/registry/render"
)

// result prints a verb's result: the JSON document, or text after the form's members.
func (p *printer) result(form *render.Form, raw json.RawMessage) error {
	if p.json {
		return p.document(raw)
	}
	values, err := decode(raw)
	if err != nil {
		return fmt.Errorf("read the result of %s: %w", form.Verb.CLI.Path, err)
	}
	for _, m := range form.Result {
		if text, _ := values[m.Name].(string); (m.Raw || m.Said) && text != "" {
			p.remark(form.Result, values)
			return p.raw(text, m.Said)
		}
	}
	return p.write(p.layOut(form.Result, values))
}

// decode reads a JSON object, numbers as they are written.
func decode(raw json.RawMessage) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values map[string]any
	return values, decoder.Decode(&values)
}

// raw prints a text as it is, made harmless for a terminal, with a line break at its end. An agent's words are made harmless for a
// pipe too. --raw keeps them as they are.
func (p *printer) raw(text string, said bool) error {
	if (p.toTerminal() || said) && !p.asIs {
		text = visible(text, true)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return p.write(text)
}

// remark says what is true beside a raw text, in the words of its description: "the patch … was cut"; of the items of a list, with
// their names: "too large to be compared: data.bin".
func (p *printer) remark(members []render.Member, values map[string]any) {
	for _, m := range members {
		if holds, _ := values[m.Name].(bool); holds {
			p.note("%s", m.Doc)
		}
		for _, about := range m.Members {
			if names := holding(values[m.Name], m.Members, about); about.Kind == render.Boolean && !about.Hidden && len(names) > 0 {
				p.note("%s: %s", about.Doc, few(names))
			}
		}
	}
}

// holding returns the first column of each item of a list for which the named member is true.
func holding(list any, members []render.Member, about render.Member) []string {
	column := slices.IndexFunc(members, func(m render.Member) bool { return m.Column })
	items, _ := list.([]any)
	var names []string
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if holds, _ := fields[about.Name].(bool); holds && column >= 0 {
			names = append(names, fmt.Sprint(fields[members[column].Name]))
		}
	}
	return names
}

// few names the first of many, and counts the rest.
func few(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// layOut returns keys and values, then each list of objects as a table. Where there is nothing but empty lists, a note says so.
func (p *printer) layOut(members []render.Member, values map[string]any) string {
	var pairs [][2]string
	var tables, texts []string
	var empty []string
	collect(members, values, func(m render.Member, value any) {
		if text, _ := value.(string); m.Text {
			texts = append(texts, m.Name+":\n"+visible(strings.TrimRight(text, "\n"), true)+"\n")
			return
		}
		if m.Kind != render.Objects {
			if text := cell(value, "\n"); text != "" {
				pairs = append(pairs, [2]string{m.Name, text})
			} else if m.Kind == render.Strings {
				empty = append(empty, m.Name)
			}
			return
		}
		if items, _ := value.([]any); len(items) > 0 {
			tables = append(append(tables, tabulate(m.Members, items).String(p.cols)), notes(m.Members, items)...)
		} else {
			empty = append(empty, m.Name)
		}
	})
	if len(pairs) == 0 && len(tables) == 0 && len(texts) == 0 && len(empty) > 0 {
		p.note("no %s", strings.Join(empty, ", no "))
	}
	sections := append(tables, texts...)
	if len(pairs) > 0 {
		sections = append([]string{align(pairs)}, sections...)
	}
	return strings.Join(sections, "\n")
}

// notes returns, for each member of a list's items that is a note, the items that have one, by their first column.
func notes(members []render.Member, items []any) (sections []string) {
	first := slices.IndexFunc(members, func(m render.Member) bool { return m.Column })
	name := slices.IndexFunc(members, func(m render.Member) bool { return m.Column && m.Name == "name" })
	if name < 0 {
		name = first
	}
	for _, m := range members {
		var pairs [][2]string
		for _, item := range items {
			fields, _ := item.(map[string]any)
			if text, _ := fields[m.Name].(string); m.Note && name >= 0 && text != "" {
				pairs = append(pairs, [2]string{cell(fields[members[name].Name], ", "), cell(text, ", ")})
			}
		}
		if len(pairs) > 0 {
			sections = append(sections, m.Name+":\n"+align(pairs))
		}
	}
	return sections
}

// collect calls add for every member that is shown; those of a single object stand for it.
func collect(members []render.Member, values map[string]any, add func(render.Member, any)) {
	for _, m := range members {
		value, there := values[m.Name]
		switch {
		case m.Hidden || !there:
		case m.Kind == render.Object:
			inner, _ := value.(map[string]any)
			collect(m.Members, inner, add)
		default:
			add(m, value)
		}
	}
}

// tabulate returns the items' columns; all of their plain members where none is marked.
func tabulate(members []render.Member, items []any) table {
	var columns, plain []render.Member
	for _, m := range members {
		if m.Column {
			columns = append(columns, m)
		}
		if !m.Hidden && m.Kind != render.Object && m.Kind != render.Objects {
			plain = append(plain, m)
		}
	}
	if len(columns) == 0 {
		columns = plain
	}
	var t table
	head := make([]string, len(columns))
	for i, m := range columns {
		head[i] = strings.ToUpper(m.Name)
		t.right = append(t.right, m.Kind == render.Integer)
	}
	t.rows = append(t.rows, head)
	for _, item := range items {
		values, _ := item.(map[string]any)
		row := make([]string, len(columns))
		for i, m := range columns {
			row[i] = cell(values[m.Name], ", ")
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// align returns lines of key and value; further lines of a value stand under its first.
func align(pairs [][2]string) string {
	width := 0
	for _, pair := range pairs {
		width = max(width, len(pair[0]))
	}
	var b strings.Builder
	for _, pair := range pairs {
		key := pair[0]
		for line := range strings.SplitSeq(pair[1], "\n") {
			fmt.Fprintf(&b, "%-*s%s%s\n", width, key, columnGap, line)
			key = ""
		}
	}
	return b.String()
}

// cell returns a value as text, the items of a list with separator between them.
func cell(value any, separator string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, cell(item, separator))
		}
		return strings.Join(items, separator)
	}
	return visible(fmt.Sprint(value), false)
}
