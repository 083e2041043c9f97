package ctl

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

func read(t *testing.T, text []byte) (kind byte, payload []byte, err error) {
	t.Helper()
	return readFrame(bufio.NewReader(bytes.NewReader(text)), make([]byte, maxPayload))
}

func TestFramesThatAreRefused(t *testing.T) {
	head := func(kind byte, size uint32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, size) }
	rows := []struct {
		name string
		text []byte
		want string
	}{
		{"nothing", nil, "EOF"},
		{"half a head", head(frameInput, 1)[:3], "unexpected EOF"},
		{"no payload", head(frameInput, 1), "unexpected EOF"},
		{"half a payload", append(head(frameInput, 4), 1, 2), "unexpected EOF"},
		{"type 0", head(0, 0), "unknown type 0"},
		{"type 5", head(5, 0), "unknown type 5"},
		{"one byte too many", head(frameInput, maxPayload+1), "more than 65536"},
		{"4 GiB", head(frameOutput, 1<<32-1), "more than 65536"},
		{"a long exit", append(head(frameExit, 5), 0, 0, 0, 0, 0), "instead of 4"},
		{"a short resize", append(head(frameResize, 2), 0, 80), "instead of 4"},
		{"the longest input", append(head(frameInput, maxPayload), make([]byte, maxPayload)...), ""},
		{"an empty output", head(frameOutput, 0), ""},
		{"an exit", append(head(frameExit, 4), 0, 0, 0, 1), ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := read(t, row.text)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("error is %v, want %q", err, row.want)
			}
		})
	}
}

func TestSizesAndStatusesSurvive(t *testing.T) {
	for _, status := range []int{0, 1, 255, -1, 130} {
		if got := exitStatus(exitPayload(status)); got != status {
			t.Errorf("status %d becomes %d", status, got)
		}
	}
	rows := []struct{ cols, rows, wantCols, wantRows int }{
		{80, 24, 80, 24}, {0, 0, minCols, minRows}, {-5, 70000, minCols, maxRows}, {2, 1, 2, 1}, {maxCols, maxRows, maxCols, maxRows}, {maxCols + 1, 1, maxCols, 1},
	}
	for _, row := range rows {
		cols, lines, err := resizeTo(resizePayload(row.cols, row.rows))
		if err != nil || cols != row.wantCols || lines != row.wantRows {
			t.Errorf("%d×%d becomes %d×%d, %v", row.cols, row.rows, cols, lines, err)
		}
	}
	for _, payload := range [][]byte{{0, 0, 0, 24}, {0, 1, 0, 24}, {0, 80, 0, 0}, {0xff, 0xff, 0, 24}, {0, 80, 0xff, 0xff}} {
		if _, _, err := resizeTo(payload); err == nil {
			t.Errorf("size %v is taken", payload)
		}
	}
}

// Whatever arrives: no panic, no payload beyond the limit, and what was read is, byte for byte, what
// appendFrame writes.
func FuzzReadFrame(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, frameInput, []byte("ls\r")), frameResize, resizePayload(80, 24)))
	f.Add(appendFrame(nil, frameExit, exitPayload(-1)))
	f.Add([]byte{frameOutput, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bufio.NewReader(bytes.NewReader(text))
		buf := make([]byte, maxPayload)
		var again []byte
		for {
			kind, payload, err := readFrame(r, buf)
			if err != nil {
				if err == io.EOF && !bytes.Equal(again, text) {
					t.Fatalf("read to the end, and %x became %x", text, again)
				}
				break
			}
			if len(payload) > maxPayload {
				t.Fatalf("a payload of %d bytes", len(payload))
			}
			again = appendFrame(again, kind, payload)
			if kind == frameResize {
				if cols, rows, err := resizeTo(payload); err == nil && !bytes.Equal(resizePayload(cols, rows), payload) {
					t.Fatalf("size %x does not survive", payload)
				}
			}
		}
		if !bytes.HasPrefix(text, again) {
			t.Fatalf("%x became %x", text, again)
		}
	})
}
