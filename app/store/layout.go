package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names of the files in the data directory that other programs look for.
const (
	nameSocket   = "ctl.sock"
	nameCLIToken = "cli-token"
	nameMCPToken = "mcp-token"
	nameMCPPort  = "mcp-port"
)

// maxSecret bounds a token or port file in bytes: a bearer token is under 100, an HTTP header line under 8 KiB.
const maxSecret = 4 << 10

// Layout knows where things are in a data directory. It holds no lock and nothing open, so the CLI may have one while the app runs.
type Layout struct {
	dir string
}

// At returns the layout of an existing data directory after the same checks of owner and mode that Open makes, so that a
// client never talks to a socket that somebody else placed there. A missing directory is fs.ErrNotExist. At creates nothing.
func At(dir string) (Layout, error) {
	root, err := openDir(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("open data directory: %w", err)
	}
	return Layout{dir}, root.Close()
}

// Dir returns the data directory.
func (l Layout) Dir() string { return l.dir }

// Socket returns the path of the CLI's unix socket.
func (l Layout) Socket() string { return filepath.Join(l.dir, nameSocket) }

// CLIToken returns the path of the token that the CLI shows on the socket.
func (l Layout) CLIToken() string { return filepath.Join(l.dir, nameCLIToken) }

// MCPToken returns the path of the token for MCP clients without a file of their own.
func (l Layout) MCPToken() string { return filepath.Join(l.dir, nameMCPToken) }

// MCPPort returns the path of the file that holds the endpoint's TCP port.
func (l Layout) MCPPort() string { return filepath.Join(l.dir, nameMCPPort) }

// Path returns the path of something in the data directory, each element a single valid name; else ErrName. It creates nothing.
func (l Layout) Path(elem ...string) (string, error) {
	rel, err := join(elem)
	if err != nil {
		return "", err
	}
	return filepath.Join(l.dir, rel), nil
}

// ReadSecret returns the content of a token or port file exactly as WriteSecret took it. A file that others may read or
// write, that somebody else owns or that is no regular file is an UnsafeError: what it holds is no secret, or not ours.
func (l Layout) ReadSecret(name string) (string, error) {
	rel, err := joinSecret(name)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	root, err := openDir(l.dir)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", rel, err)
	}
	defer root.Close()
	f, err := openRegular(root, rel)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", rel, err)
	}
	defer f.Close()
	if err := checkOwner(f, filepath.Join(l.dir, rel), 0o077); err != nil {
		return "", fmt.Errorf("read %s: %w", rel, err)
	}
	b, err := readBounded(f, maxSecret)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", rel, err)
	}
	return string(b), nil
}

// openRegular opens a file beneath root for reading. It follows no link at the last component, and never blocks on a FIFO.
// What is no regular file is ErrCorrupt.
func openRegular(root *os.Root, rel string) (*os.File, error) {
	before, err := root.Lstat(rel)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s, not a regular file", ErrCorrupt, kind(before.Mode()))
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// os.Root follows links that stay inside the root, O_NOFOLLOW or not, so what was opened is compared with what was looked at.
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%w: replaced while it was opened", ErrCorrupt)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readBounded reads at most max bytes; a longer file is ErrTooLarge and costs no more memory than that.
func readBounded(r io.Reader, max int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max)
	}
	return b, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	}
	return "a special file"
}
