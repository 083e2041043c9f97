package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A segment is one file of the log. Its name holds the number of its first entry, so names sort in the order of the chain.
const (
	segmentPrefix = "audit-"
	segmentSuffix = ".jsonl"
	segmentDigits = 12
)

func segmentName(first uint64) string {
	return fmt.Sprintf("%s%0*d%s", segmentPrefix, segmentDigits, first, segmentSuffix)
}

// segmentFirst returns the number of the first entry of the segment called name; ok is false when it is no segment's name.
func segmentFirst(name string) (first uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, segmentSuffix)
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, ok && err == nil && segmentName(first) == name
}

// segments returns the names of the log's files, oldest first.
func segments(root *os.Root) ([]string, error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := segmentFirst(e.Name()); ok && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// eachLine calls do with every line of a segment and the offset behind its newline. It returns the bytes behind the last newline, at
// most maxLine of them. A line longer than maxLine is given to do cut to that length, and so does not unseal.
func eachLine(r io.Reader, do func(line []byte, end int64) error) (rest []byte, err error) {
	b := bufio.NewReaderSize(r, maxLine)
	var end int64
	for {
		line, err := b.ReadSlice('\n')
		end += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			long := slices.Clone(line)
			n, err := skipLine(b)
			end += n
			if err == io.EOF {
				return long, nil
			}
			if err != nil {
				return nil, err
			}
			if err := do(long, end); err != nil {
				return nil, err
			}
			continue
		}
		if err == io.EOF {
			return slices.Clone(line), nil
		}
		if err != nil {
			return nil, err
		}
		if err := do(line[:len(line)-1], end); err != nil {
			return nil, err
		}
	}
}

// skipLine reads up to and with the next newline and returns how many bytes that were.
func skipLine(b *bufio.Reader) (n int64, err error) {
	for {
		part, err := b.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
	}
}

// state is where a chain stands after an entry.
type state struct {
	seq  uint64
	hash string
}

// scanned is what reading one segment found.
type scanned struct {
	state           // after the last line that is one of ours; zero seq when there is none
	end       int64 // offset behind the last newline
	torn      bool  // there are bytes behind it
	damagedAt int   // number of the first line that breaks the chain, 0 when none does
}

// scan reads one segment and checks the chain within it.
func scan(root *os.Root, name string) (scanned, error) {
	f, err := root.Open(name)
	if err != nil {
		return scanned{}, err
	}
	defer f.Close()
	var s scanned
	lines := 0
	rest, err := eachLine(f, func(line []byte, end int64) error {
		lines++
		s.end = end
		l, err := unseal(line)
		broken := err != nil || s.seq != 0 && (l.seq != s.seq+1 || l.prev != s.hash)
		if broken && s.damagedAt == 0 {
			s.damagedAt = lines
		}
		if err == nil || errors.Is(err, errAltered) {
			s.state = state{l.seq, l.hash}
		}
		return nil
	})
	s.torn = len(rest) > 0
	return s, err
}
