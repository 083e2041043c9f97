//go:build unix

package gitview

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"termic/app/git"
)

// Runner runs a program in the task's cage, in the checkout, until it has ended and its output is read. It returns an
// error unless the program succeeded. What it writes is the agent's word.
type Runner func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error

// Command is one program to run inside the cage, in the checkout. Its output and its exit code are the agent's words.
type Command struct {
	Args  []string
	Stdin string
}

// maxAnswer bounds the output of a command that answers a question: 10,000 refs with long names are 3 MB.
const maxAnswer = 16 << 20

// askTime bounds one question: each is answered from a few files. A FIFO among them would make git wait for ever.
const askTime = 10 * time.Second

// ask runs a command and returns what it printed; more than maxAnswer is ErrBadClaim, and no end in askTime ErrNoAnswer.
func (c Command) ask(ctx context.Context, run Runner) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, ErrNoAnswer)
	defer cancel()
	out := &bounded{left: maxAnswer}
	err := run(ctx, c.Args, strings.NewReader(c.Stdin), out)
	if out.left < 0 {
		return nil, fmt.Errorf("%s %s printed more than %d bytes: %w", c.Args[0], c.Args[1], maxAnswer, ErrBadClaim)
	}
	if err != nil && errors.Is(context.Cause(ctx), ErrNoAnswer) {
		err = errors.Join(ErrNoAnswer, err)
	}
	if err != nil {
		return nil, fmt.Errorf("in the cage: git %s: %w", c.Args[1], err)
	}
	return out.buf.Bytes(), nil
}

// bounded takes a number of bytes and refuses the rest, which ends whoever writes.
type bounded struct {
	buf  bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return b.buf.Write(p)
}

// TipCommand asks for the commit of the task's branch; it prints nothing when there is none. Its output goes to
// ParseClaims.
func (t Task) TipCommand() Command {
	return Command{Args: []string{"git", "for-each-ref", "--count=1", "--format=%(objectname)", t.branchRef()}}
}

// PackCommand writes the pack of what the project lacks of a claim to its standard output.
func (t Task) PackCommand(ctx context.Context, c Claim) (Command, error) {
	tips, err := c.check(t.Repo.SHA256())
	if err != nil {
		return Command{}, err
	}
	p, err := t.pins(ctx)
	if err != nil {
		return Command{}, err
	}
	var in strings.Builder
	for _, oid := range tips {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	for _, oid := range slices.Compact(slices.Sorted(slices.Values(p.all))) {
		fmt.Fprintf(&in, "^%s\n", oid)
	}
	return Command{Args: []string{"git", "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q"}, Stdin: in.String()}, nil
}

// Claim is what the cage says that it has: nothing of it is believed.
type Claim struct {
	Tip  git.OID   // where the task's branch is; "" to leave the branch alone
	Keep []git.OID // more commits, or tags of commits, to keep in the project
}

// maxKeep bounds how many refs one claim can make in the project.
const maxKeep = 10_000

// check returns every commit of the claim once, the tip first, when each has the form of an id.
func (c Claim) check(sha256 bool) ([]git.OID, error) {
	digits := 40
	if sha256 {
		digits = 64
	}
	var all []git.OID
	if c.Tip != "" {
		all = append(all, c.Tip)
	}
	all = append(all, c.Keep...)
	if len(all) == 0 || len(all) > maxKeep {
		return nil, fmt.Errorf("%d commits: %w", len(all), ErrBadClaim)
	}
	seen := map[git.OID]bool{}
	var once []git.OID
	for _, oid := range all {
		if !oid.Valid() || len(oid) != digits {
			return nil, fmt.Errorf("%.80q: %w", string(oid), ErrBadClaim)
		}
		if !seen[oid] {
			seen[oid] = true
			once = append(once, oid)
		}
	}
	return once, nil
}

// ParseClaims reads the output of a command that lists commits, one a line; empty lines are passed over. Anything
// else is ErrBadClaim.
func ParseClaims(out []byte) ([]git.OID, error) {
	var list []git.OID
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		oid := git.OID(lines.Text())
		if oid == "" {
			continue
		}
		if !oid.Valid() || len(list) == maxKeep {
			return nil, fmt.Errorf("%.80q: %w", string(oid), ErrBadClaim)
		}
		list = append(list, oid)
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadClaim, lines.Err())
	}
	return list, nil
}
