package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// own makes groups below the app's own, which was delegated to it.
type own struct {
	tree tree
	base string
}

func (own) words() string            { return "below the app's own control group, which is delegated to it" }
func (own) named(name string) string { return name }

func (o own) remove(name string) error { return o.tree.remove(filepath.Join(o.base, name), putTime) }

func (o own) put(_ context.Context, name string, pid int, want Limits) error {
	dir := filepath.Join(o.base, name)
	if err := o.tree.mkdir(dir); err != nil {
		return fmt.Errorf("make control group: %w", err)
	}
	for _, l := range limits {
		if wanted := *l.of(&want); wanted != 0 { // what is not held is found out by reading it back
			_ = o.tree.write(filepath.Join(dir, l.file), strconv.FormatInt(wanted, 10))
		}
	}
	if want.Memory != 0 { // where there is no swap there is no such file
		_ = o.tree.write(filepath.Join(dir, "memory.swap.max"), "0")
	}
	if err := o.tree.write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
		return errors.Join(err, o.tree.rmdir(dir))
	}
	return nil
}

// leaf is where the app goes when it alone is in its group: a group whose members are limited has no processes of its own
// (cgroup-v2.rst, "No Internal Process Constraint").
const leaf = "termic-app"

// ownBase returns the app's own group when groups with limits can be made below it.
func ownBase(t tree) (string, error) {
	dir, err := t.of(t.self)
	if err != nil {
		return "", err
	}
	if filepath.Base(dir) == leaf { // an earlier part of this program's life, or the program that became it
		dir = filepath.Dir(dir)
	}
	have, err := words(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return "", err
	}
	need := usable(have)
	if len(need) == 0 {
		return "", fmt.Errorf("%w: the app's control group has none of the controllers memory, pids and cpu", ErrNone)
	}
	if !t.delegated(dir) {
		return "", fmt.Errorf("%w: the app's control group is not delegated to it", ErrNone)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return "", fmt.Errorf("%w: the app may not make groups below its own: %w", ErrNone, err)
	}
	if err := t.enable(dir, need); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	return dir, nil
}

// delegated tells that nobody else minds what is below a group: systemd says of which (systemd.resource-control(5),
// Delegate), and where it does not run there is none that would.
func (t tree) delegated(dir string) bool {
	if _, err := os.Stat(t.run + "/systemd/system"); err != nil { // sd_booted(3)
		return true
	}
	var mark [8]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, mark[:]); err == nil && string(mark[:n]) == "1" {
			return true
		}
	}
	return false
}

// enable lets the groups below have the controllers.
func (t tree) enable(dir string, need []string) error {
	control := filepath.Join(dir, "cgroup.subtree_control")
	on, err := words(control)
	if err != nil {
		return err
	}
	need = slices.DeleteFunc(need, func(c string) bool { return slices.Contains(on, c) })
	if len(need) == 0 {
		return nil
	}
	text := "+" + strings.Join(need, " +")
	err = t.write(control, text)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	if inside, err := words(filepath.Join(dir, "cgroup.procs")); err != nil || !slices.Equal(inside, []string{strconv.Itoa(t.self)}) {
		return errors.New("other programs are in the app's control group")
	}
	own := filepath.Join(dir, leaf)
	if err := t.mkdir(own); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make control group: %w", err)
	}
	if err := t.write(filepath.Join(own, "cgroup.procs"), strconv.Itoa(t.self)); err != nil {
		return err
	}
	return t.write(control, text)
}

// sweep ends and removes what a run of the app left behind when it crashed: the cages had ended with it, or end now.
func (t tree) sweep(base, prefix string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			dir := filepath.Join(base, e.Name())
			_ = t.write(filepath.Join(dir, "cgroup.kill"), "1") // from Linux 5.14
			_ = t.remove(dir, putTime)                          // what stays limits nobody; the next start tries again
		}
	}
}

// write writes to a file of a group, which is there already.
func write(name, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write control group: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write control group: %w", err)
	}
	return nil
}
