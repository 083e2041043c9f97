package ctl

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A frame is one type byte, the payload's length as 4 bytes big endian, and the payload.
const (
	// frameOutput, from the server: bytes for the terminal.
	frameOutput byte = 1
	// frameExit, from the server, the last one: exit status of what ran in the tab, 4 bytes, signed.
	frameExit byte = 2
	// frameInput, from the client: bytes typed.
	frameInput byte = 3
	// frameResize, from the client: columns and rows, 2 bytes each.
	frameResize byte = 4
)

const (
	frameHead = 5
	// maxPayload is 64 KiB, what a pipe and a read of a terminal hold at most.
	maxPayload = 64 << 10
)

// appendFrame appends a frame to b. The payload must not be longer than maxPayload.
func appendFrame(b []byte, kind byte, payload []byte) []byte {
	return append(appendHead(b, kind, len(payload)), payload...)
}

func appendHead(b []byte, kind byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, kind), uint32(size))
}

// readFrame returns the next frame; its payload is valid until buf, which holds maxPayload bytes, is used
// again. io.EOF means that the stream ended between two frames.
func readFrame(r *bufio.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	kind = head[0]
	size := binary.BigEndian.Uint32(head[1:])
	if err := checkFrame(kind, size); err != nil {
		return 0, nil, err
	}
	payload = buf[:size]
	if _, err := io.ReadFull(r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return kind, payload, nil
}

// checkFrame refuses a frame by its head alone, before anything is read for it.
func checkFrame(kind byte, size uint32) error {
	switch {
	case kind != frameOutput && kind != frameExit && kind != frameInput && kind != frameResize:
		return fmt.Errorf("read frame: unknown type %d", kind)
	case size > maxPayload:
		return fmt.Errorf("read frame: %d bytes, more than %d", size, maxPayload)
	case (kind == frameExit || kind == frameResize) && size != 4:
		return fmt.Errorf("read frame: type %d with %d bytes instead of 4", kind, size)
	}
	return nil
}

func exitPayload(status int) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(int32(status)))
}

func exitStatus(payload []byte) int { return int(int32(binary.BigEndian.Uint32(payload))) }

// The sizes that a terminal can have here. One character may take two columns; the upper bounds are larger than
// any screen and small enough to be kept in memory, and are those of package screen.
const (
	minCols, minRows = 2, 1
	maxCols, maxRows = 1000, 500
)

// resizePayload holds the size, clamped to what may be.
func resizePayload(cols, rows int) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(min(max(cols, minCols), maxCols)))
	return binary.BigEndian.AppendUint16(b, uint16(min(max(rows, minRows), maxRows)))
}

// resizeTo returns the size in a payload, or an error when no terminal has it.
func resizeTo(payload []byte) (cols, rows int, err error) {
	cols = int(binary.BigEndian.Uint16(payload))
	rows = int(binary.BigEndian.Uint16(payload[2:]))
	if cols < minCols || cols > maxCols || rows < minRows || rows > maxRows {
		return 0, 0, fmt.Errorf("resize to %d columns and %d rows: out of range", cols, rows)
	}
	return cols, rows, nil
}
