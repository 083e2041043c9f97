package stage

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

// cache layers the task's own directory over the person's cache, or shows the fallback. Which one is reported: it
// changes speed and nothing that is protected. A layer that another cage uses is an error and has no fallback, since
// two tasks never share a writable directory.
func (r *root) cache(m linuxcage.Mount) error {
	if err := r.lock(m.Upper); err != nil {
		return err
	}
	overlay := r.overlay(m)
	if overlay == nil {
		r.caches = append(r.caches, Cache{Path: m.Path, As: string(linuxcage.Overlay)})
		return nil
	}
	var busy *layerError
	if !errors.As(overlay, &busy) {
		return overlay
	}
	r.caches = append(r.caches, Cache{Path: m.Path, As: string(m.Fallback), Why: overlay.Error()})
	if m.Fallback == profile.FallbackCold {
		return r.bind(m.Cold, m.Path, true, false)
	}
	return r.bind(m.Source, m.Path, false, false)
}

// layerError is the kernel's refusal to layer these directories: none of the stage's own checks.
type layerError struct{ err error }

func (e *layerError) Error() string { return e.err.Error() }
func (e *layerError) Unwrap() error { return e.err }

// lock takes the layer for this cage as long as it lives. The kernel would mount one layer twice, and corrupt it.
func (r *root) lock(upper string) error {
	handle, err := openBeneath(r.old, upper)
	if err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	defer unix.Close(handle)
	fd, err := unix.Openat2(handle, ".", &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: noLinks})
	if err != nil {
		return fmt.Errorf("layer %q: %w", upper, err)
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("layer %q is in use by another cage: %w", upper, err)
	}
	r.locks = append(r.locks, fd)
	return nil
}

func (r *root) overlay(m linuxcage.Mount) error {
	var dirs [3]int
	for i, name := range []string{m.Source, m.Upper, m.Work} {
		fd, err := openBeneath(r.old, name)
		if err != nil {
			return fmt.Errorf("layer: %w", err)
		}
		defer unix.Close(fd)
		if _, kind, err := identify(fd); err != nil || kind != unix.S_IFDIR {
			return fmt.Errorf("layer %q is no directory: %w", name, unix.ENOTDIR)
		}
		dirs[i] = fd
	}
	// Numbers of open files in place of paths: what was opened without following a link is what is used, and neither
	// a colon in a name nor the host's path shows. userxattr: what overlayfs notes about files it notes as the user
	// may. Without it, removing a directory of the cache fails.
	number := func(i int) string { return fmt.Sprintf("/proc/self/fd/%d", dirs[i]) }
	tree, err := newFS("overlay", attrWrite, [2]string{"lowerdir", number(0)}, [2]string{"upperdir", number(1)}, [2]string{"workdir", number(2)},
		[2]string{"userxattr", ""})
	if err != nil {
		return &layerError{err}
	}
	return r.attach(tree, m.Path, true)
}
