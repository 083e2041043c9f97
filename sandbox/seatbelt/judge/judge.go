// Package judge says what a policy of package seatbelt allows, as the kernel of macOS is known to decide: for tests, on systems
// that are none. It knows the forms that Render emits and errs on any other, so that the renderer cannot drift outside what
// is judged here.
package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type node struct {
	atom string
	kind byte // 'a' a word, 's' a string, 'r' a raw string (#"…"), 'l' a list
	list []node
}

func read(src string) ([]node, error) {
	var stack [][]node
	var cur []node
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == ' ' || c == '\n':
			i++
		case c == ';':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '(':
			stack, cur = append(stack, cur), nil
			i++
		case c == ')':
			if len(stack) == 0 {
				return nil, fmt.Errorf("unbalanced ) at %d", i)
			}
			cur = append(stack[len(stack)-1], node{kind: 'l', list: cur})
			stack = stack[:len(stack)-1]
			i++
		case c == '"', strings.HasPrefix(src[i:], `#"`):
			n, rest, err := quoted(src[i:])
			if err != nil {
				return nil, err
			}
			cur, i = append(cur, n), len(src)-len(rest)
		default:
			end := strings.IndexAny(src[i:], " \n()\";#")
			if end <= 0 {
				return nil, fmt.Errorf("stray %q at %d", c, i)
			}
			cur = append(cur, node{kind: 'a', atom: src[i : i+end]})
			i += end
		}
	}
	if len(stack) != 0 {
		return nil, fmt.Errorf("unbalanced (")
	}
	return cur, nil
}

// Tokens returns the words, strings and parentheses of a policy, in their order.
func Tokens(src string) ([]string, error) {
	nodes, err := read(src)
	var tokens []string
	var walk func([]node)
	walk = func(nodes []node) {
		for _, n := range nodes {
			if n.kind == 'l' {
				tokens = append(tokens, "(")
				walk(n.list)
				tokens = append(tokens, ")")
				continue
			}
			tokens = append(tokens, string(n.kind)+n.atom)
		}
	}
	walk(nodes)
	return tokens, err
}

// quoted reads a string: in one a backslash takes the next byte, in a raw one (#"…") it stands for itself.
func quoted(src string) (node, string, error) {
	n := node{kind: 's'}
	if src[0] == '#' {
		n.kind, src = 'r', src[1:]
	}
	var text strings.Builder
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && n.kind == 's' && i+1 < len(src):
			i++
			text.WriteByte(src[i])
		case src[i] == '"':
			n.atom = text.String()
			return n, src[i+1:], nil
		default:
			text.WriteByte(src[i])
		}
	}
	return node{}, "", fmt.Errorf("open string")
}

// Request is one thing that a process asks the kernel for.
type Request struct {
	Op   string // "file-read-data", "file-write-create", "network-outbound", …
	Path string // canonical, as the kernel sees it
	Net  string // "tcp", "udp", "unix"
	Host string // "localhost" for loopback (127.0.0.1, ::1, 0.0.0.0), else "*"
	Port string
	Name string // of a Mach service or sysctl
	Self bool   // the target is of the same sandbox
	Made bool   // the terminal was made by the process
}

type filter func(Request) bool

type rule struct {
	allow   bool
	ops     []string
	filters []filter
}

// Policy is a parsed one.
type Policy struct{ rules []rule }

// operations are those that a policy may name, and the kinds of filter that each may carry.
var operations = map[string]string{
	"default": "", "process-fork": "", "process-exec": "", "process-info*": "target", "signal": "target", "sysctl-read": "sysctl-name sysctl-name-prefix",
	"mach-lookup": "global-name", "ipc-posix-sem": "", "pseudo-tty": "", "system-socket": "",
	"file-read*": paths, "file-read-metadata": paths, "file-write*": paths, "file-write-data": paths, "file-write-unlink": paths, "file-ioctl": paths,
	"file-map-executable": paths, "network*": "", "network-outbound": "remote",
}

const paths = "literal subpath regex require-all require-not extension"

// Parse reads a policy. The error is a form that Render does not emit.
func Parse(src string) (*Policy, error) {
	nodes, err := read(src)
	if err != nil {
		return nil, err
	}
	p := &Policy{}
	for i, n := range nodes {
		if n.kind != 'l' || len(n.list) < 2 || n.list[0].kind != 'a' {
			return nil, fmt.Errorf("form %d is none", i)
		}
		switch head := n.list[0].atom; head {
		case "version":
			if i != 0 || n.list[1].atom != "1" {
				return nil, fmt.Errorf("version %q as form %d", n.list[1].atom, i)
			}
		case "allow", "deny":
			r, err := ruleOf(head == "allow", n.list[1:])
			if err != nil {
				return nil, err
			}
			p.rules = append(p.rules, r)
		default:
			return nil, fmt.Errorf("unknown form %q", head)
		}
	}
	return p, nil
}

func ruleOf(allow bool, parts []node) (rule, error) {
	r := rule{allow: allow}
	for _, part := range parts {
		switch part.kind {
		case 'a':
			if _, known := operations[part.atom]; !known || len(r.filters) > 0 {
				return r, fmt.Errorf("operation %q", part.atom)
			}
			r.ops = append(r.ops, part.atom)
		case 'l':
			if len(part.list) == 0 || len(r.ops) == 0 {
				return r, fmt.Errorf("a filter of nothing")
			}
			for _, op := range r.ops {
				if !slices.Contains(strings.Fields(operations[op]), part.list[0].atom) {
					return r, fmt.Errorf("filter %q of operation %q", part.list[0].atom, op)
				}
			}
			f, err := filterOf(part)
			if err != nil {
				return r, err
			}
			r.filters = append(r.filters, f)
		default:
			return r, fmt.Errorf("a string %q for a filter", part.atom)
		}
	}
	if len(r.ops) == 0 {
		return r, fmt.Errorf("a rule without an operation")
	}
	return r, nil
}

func filterOf(n node) (filter, error) {
	if n.kind != 'l' || len(n.list) < 2 {
		return nil, fmt.Errorf("filter %q without what it compares with", n.atom)
	}
	head, arg := n.list[0].atom, n.list[1]
	if head != "require-all" && head != "remote" && len(n.list) != 2 {
		return nil, fmt.Errorf("filter %q with %d words", head, len(n.list))
	}
	want := map[string]byte{"literal": 's', "subpath": 's', "regex": 'r', "extension": 's', "global-name": 's', "sysctl-name": 's',
		"sysctl-name-prefix": 's', "target": 'a', "remote": 'a', "require-all": 'l', "require-not": 'l'}[head]
	if arg.kind != want {
		return nil, fmt.Errorf("filter %q of a %q", head, arg.kind)
	}
	switch head {
	case "literal":
		return func(r Request) bool { return r.Path == arg.atom }, nil
	case "subpath":
		return func(r Request) bool { return r.Path == arg.atom || strings.HasPrefix(r.Path, arg.atom+"/") }, nil
	case "regex":
		re, err := regexp.Compile(arg.atom)
		return func(r Request) bool { return re.MatchString(r.Path) }, err
	case "extension":
		return func(r Request) bool { return r.Made }, nil
	case "global-name", "sysctl-name":
		return func(r Request) bool { return r.Name == arg.atom }, nil
	case "sysctl-name-prefix":
		return func(r Request) bool { return strings.HasPrefix(r.Name, arg.atom) }, nil
	case "target":
		if arg.atom != "same-sandbox" {
			return nil, fmt.Errorf("target %q", arg.atom)
		}
		return func(r Request) bool { return r.Self }, nil
	case "remote":
		return remote(n.list[1:])
	case "require-all", "require-not":
		return combined(head, n.list[1:])
	}
	return nil, fmt.Errorf("unknown filter %q", head)
}

func combined(head string, nodes []node) (filter, error) {
	var all []filter
	for _, n := range nodes {
		f, err := filterOf(n)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return func(r Request) bool {
		every := !slices.ContainsFunc(all, func(f filter) bool { return !f(r) })
		return every == (head == "require-all")
	}, nil
}

func remote(words []node) (filter, error) {
	kind := words[0].atom
	if kind == "unix-socket" {
		if len(words) == 1 {
			return func(r Request) bool { return r.Net == "unix" }, nil
		}
		of := words[1]
		if len(words) != 2 || of.kind != 'l' || len(of.list) != 2 || of.list[0].atom != "path-literal" || of.list[1].kind != 's' {
			return nil, fmt.Errorf("socket without a path")
		}
		return func(r Request) bool { return r.Net == "unix" && r.Path == of.list[1].atom }, nil
	}
	if kind != "tcp" || len(words) != 2 || words[1].kind != 's' {
		return nil, fmt.Errorf("remote %q: only tcp leaves UDP out", kind)
	}
	host, port, ok := strings.Cut(words[1].atom, ":")
	if !ok || host != "localhost" || !regexp.MustCompile(`^[1-9][0-9]{0,4}$`).MatchString(port) {
		return nil, fmt.Errorf("host must be localhost, with a port: %q", words[1].atom)
	}
	return func(r Request) bool { return r.Net == "tcp" && r.Host == host && r.Port == port }, nil
}

func covers(pattern, op string) bool {
	return pattern == op || strings.HasSuffix(pattern, "*") && strings.HasPrefix(op, pattern[:len(pattern)-1])
}

// Rules returns how many rules there are.
func (p *Policy) Rules() int { return len(p.rules) }

// Allows decides as the kernel does: the last filtered rule that matches; else the last unfiltered one of the most
// specific operation; else the default, which is a denial.
func (p *Policy) Allows(r Request) bool {
	for _, ru := range slices.Backward(p.rules) {
		if slices.ContainsFunc(ru.ops, func(op string) bool { return covers(op, r.Op) }) && slices.ContainsFunc(ru.filters, func(f filter) bool { return f(r) }) {
			return ru.allow
		}
	}
	best, answer := -1, false
	for _, ru := range p.rules {
		for _, op := range ru.ops {
			if len(ru.filters) == 0 && covers(op, r.Op) && len(op) >= best {
				best, answer = len(op), ru.allow
			}
		}
	}
	return answer
}
