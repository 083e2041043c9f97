//go:build unix

package gitview

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"termic/app/git"
)

// objects asks one git for the contents of one object after the other.
type objects struct {
	ask   *io.PipeWriter
	reply *bufio.Reader
	close func() error
}

// maxTree bounds one tree object: a directory of a million short names is 40 MB.
const maxTree = 64 << 20

// objects starts the git; the caller ends it.
func (in *incoming) objects(ctx context.Context) *objects {
	ctx, cancel := context.WithCancel(ctx)
	askR, askW := io.Pipe()
	replyR, replyW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := in.run(ctx, git.Sealed{Stdin: askR, Stdout: replyW, Limit: 1 << 40, Args: []string{"cat-file", "--batch=%(objecttype) %(objectsize)"}})
		askR.CloseWithError(io.ErrClosedPipe)
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		replyW.CloseWithError(err)
		done <- err
	}()
	return &objects{ask: askW, reply: bufio.NewReaderSize(replyR, 64<<10), close: func() error {
		askW.Close()
		cancel()
		replyR.Close()
		return <-done
	}}
}

// get returns the contents of an object of the given kind, at most limit bytes. After an error no more can be got.
func (o *objects) get(oid git.OID, kind string, limit int64) ([]byte, error) {
	if _, err := io.WriteString(o.ask, string(oid)+"\n"); err != nil {
		_, gitErr := o.reply.ReadByte() // what git ended with
		return nil, fmt.Errorf("ask for %s: %w", oid, firstOf(gitErr, err))
	}
	line, err := o.reply.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", oid, err)
	}
	have, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if digits == "missing" || have == "missing" {
		return nil, &RefusedError{Rule: RuleMissing, Detail: fmt.Sprintf("%s %s is missing", kind, oid)}
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 || have != kind {
		return nil, &RefusedError{Rule: RuleTree, Detail: fmt.Sprintf("%s is no %s", oid, kind)}
	}
	if size > limit {
		return nil, &RefusedError{Rule: RuleSize, Detail: fmt.Sprintf("%s %s has %d bytes", kind, oid, size)}
	}
	data := make([]byte, size+1) // and a line break
	if _, err := io.ReadFull(o.reply, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", oid, err)
	}
	return data[:size], nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
