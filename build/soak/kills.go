package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/build/rig"
)

// kills kills the app with SIGKILL at random moments of a mixed workload, starts it again, and holds what there is against an
// exact model: everything is as before the call that was under way, or as after it, and never in between.
type kills struct {
	rig    *rig.Rig
	random *rand.Rand
	now    world
	// took is how long each kind of call takes, to aim at its middle.
	took   map[string]time.Duration
	serial int
	looks  int
	// undecided counts the kills after which the call had not happened, done those after which it had.
	undecided, done int
}

// world is what there is: the state of each task by name, and the one setting that is changed.
type world struct {
	live, archived map[string]string // facts of the checkout, as it is or will be when it is restored
	setting        string
}

func (w world) clone() world {
	return world{maps.Clone(w.live), maps.Clone(w.archived), w.setting}
}

// act is one call of the workload, and the world after it.
type act struct {
	kind string
	args []string
	then world
}

const (
	// maxLive and maxArchived keep a run near its start: with more, each look takes longer and finds no more.
	maxLive, maxArchived = 3, 3
	// scrollback is the setting that is changed: nothing of the workload depends on it.
	scrollback = "terminal.scrollback"
)

// runKills kills the app so many times.
func runKills(r *rig.Rig, count int, seed uint64) error {
	k, err := newKills(r, seed)
	if err != nil {
		return err
	}
	if err := k.run(count, seed); err != nil {
		return err
	}
	return r.Stop()
}

// newKills starts the app on a rig.
func newKills(r *rig.Rig, seed uint64) (*kills, error) {
	k := &kills{rig: r, random: rand.New(rand.NewPCG(seed, 0)), now: world{map[string]string{}, map[string]string{}, ""}, took: map[string]time.Duration{}}
	return k, k.prepare()
}

func (k *kills) run(count int, seed uint64) error {
	for n := range count {
		if err := k.once(); err != nil {
			return fmt.Errorf("kill %d of seed %d: %w", n+1, seed, err)
		}
		if (n+1)%100 == 0 || n+1 == count {
			fmt.Printf("%d kills: the call had happened after %d of them, and had not after %d\n", n+1, k.done, k.undecided)
		}
	}
	return nil
}

// prepare starts the app on a project, and measures each kind of call once.
func (k *kills) prepare() error {
	for name, text := range map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", ".gitignore": "ignored\n"} {
		if err := writeFile(filepath.Join(k.rig.Repo, name), text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"-C", k.rig.Repo, "add", "-A"}, {"-C", k.rig.Repo, "commit", "-qm", "files"}} {
		if _, err := k.rig.Run("git", args...); err != nil {
			return err
		}
	}
	if err := k.rig.Serve(); err != nil {
		return err
	}
	if _, err := k.rig.Do("project", "add", k.rig.Repo); err != nil {
		return err
	}
	k.now.setting = "5000"
	if _, err := k.rig.Do("settings", "set", scrollback, k.now.setting); err != nil {
		return err
	}
	for _, a := range []func() act{k.create, k.archive, k.restore, k.set, k.archive, k.purge} {
		next := a()
		started := time.Now()
		if out, err := k.rig.Do(next.args...); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		k.took[next.kind] = time.Since(started)
		k.now = next.then
		if err := k.learn(); err != nil {
			return err
		}
	}
	return k.check(k.now, k.now)
}

// once works in a checkout, begins a call, kills the app at some moment of it, starts it again and looks.
func (k *kills) once() error {
	if err := k.work(); err != nil {
		return err
	}
	next := k.choose()
	ended := make(chan error, 1)
	go func() {
		_, err := k.rig.Do(next.args...)
		ended <- err
	}()
	timer := time.NewTimer(time.Duration(k.random.Float64() * 1.2 * float64(k.took[next.kind])))
	defer timer.Stop()
	answered := false
	var failed error
	select {
	case <-timer.C:
	case failed = <-ended:
		answered = true
	}
	if err := k.rig.Kill(); err != nil {
		return err
	}
	if !answered {
		failed = <-ended
	} else if failed != nil {
		return fmt.Errorf("%s: %w", next.args, failed)
	}
	if err := k.rig.Serve(); err != nil {
		return err
	}
	before := k.now
	if failed == nil { // it was answered: then it has happened
		before = next.then
	}
	k.looks++
	if err := k.check(before, next.then); err != nil {
		return fmt.Errorf("%s (answered: %v): %w", next.args, failed == nil, err)
	}
	return nil
}

// choose returns a call that the world allows.
func (k *kills) choose() act {
	choices := []func() act{k.set}
	if len(k.now.live) < maxLive {
		choices = append(choices, k.create, k.create)
	}
	if len(k.now.live) > 0 {
		choices = append(choices, k.archive, k.archive, k.send)
	}
	if len(k.now.archived) > 0 {
		choices = append(choices, k.restore, k.restore)
	}
	if len(k.now.archived) > maxArchived {
		choices = []func() act{k.purge}
	}
	return choices[k.random.IntN(len(choices))]()
}

// one returns one of a map's keys.
func (k *kills) one(of map[string]string) string {
	names := slices.Sorted(maps.Keys(of))
	return names[k.random.IntN(len(names))]
}

func (k *kills) create() act {
	k.serial++
	name := fmt.Sprintf("t%d", k.serial)
	a := act{"new", []string{"new", name, "--project", "shop", "--agent", "shell"}, k.now.clone()}
	a.then.live[name] = "" // learned once it is there
	return a
}

func (k *kills) archive() act {
	name := k.one(k.now.live)
	a := act{"archive", []string{"archive", name, "--force"}, k.now.clone()}
	a.then.archived[name] = a.then.live[name]
	delete(a.then.live, name)
	return a
}

func (k *kills) restore() act {
	name := k.one(k.now.archived)
	a := act{"restore", []string{"restore", name}, k.now.clone()}
	a.then.live[name] = a.then.archived[name]
	delete(a.then.archived, name)
	return a
}

func (k *kills) purge() act {
	name := k.one(k.now.archived)
	a := act{"purge", []string{"purge", name, "--yes"}, k.now.clone()}
	delete(a.then.archived, name)
	return a
}

func (k *kills) set() act {
	a := act{"set", nil, k.now.clone()}
	a.then.setting = fmt.Sprint(1000 + k.random.IntN(9000))
	a.args = []string{"settings", "set", scrollback, a.then.setting}
	return a
}

// send asks a shell to write where git does not look: whether it got so far is nothing that the model knows, and never twice.
func (k *kills) send() act {
	k.serial++
	name := k.one(k.now.live)
	return act{"send", []string{"send", name, fmt.Sprintf("echo mark-%d- >> ignored", k.serial)}, k.now.clone()}
}

// work changes a live task's checkout in some way, as an agent would, and learns its facts.
func (k *kills) work() error {
	if len(k.now.live) == 0 || k.random.IntN(2) == 0 {
		return nil
	}
	name := k.one(k.now.live)
	dir := k.checkout(name)
	k.serial++
	text := fmt.Sprintf("work %d\n", k.serial)
	var err error
	git := func(args ...string) {
		if err == nil {
			_, err = k.rig.Run("git", append([]string{"-C", dir}, args...)...)
		}
	}
	switch k.random.IntN(6) {
	case 0:
		err = writeFile(filepath.Join(dir, "a.txt"), text)
	case 1:
		err = writeFile(filepath.Join(dir, fmt.Sprintf("new/%d", k.serial)), text)
	case 2:
		err = writeFile(filepath.Join(dir, "dir/b.txt"), text)
		git("add", "-A")
	case 3:
		err = writeFile(filepath.Join(dir, "c.txt"), text)
		git("add", "c.txt")
		git("commit", "-qm", text)
	case 4:
		err = os.Symlink(text, filepath.Join(dir, fmt.Sprintf("link-%d", k.serial)))
	case 5:
		git("commit", "-q", "--allow-empty", "-m", text)
	}
	if err != nil {
		return err
	}
	k.now.live[name], err = k.facts(dir)
	return err
}

// learn takes over what is not known yet of live tasks: of one that was just made.
func (k *kills) learn() (err error) {
	for name, facts := range k.now.live {
		if facts == "" && err == nil {
			k.now.live[name], err = k.facts(k.checkout(name))
		}
	}
	return err
}

func (k *kills) checkout(name string) string {
	return filepath.Join(k.rig.Data+".checkouts", "shop", name)
}

func writeFile(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// listed is what the app says there is.
func (k *kills) listed(args ...string) (map[string]bool, error) {
	out, err := k.rig.Do(append([]string{"list", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var list struct {
		Tasks []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	names := map[string]bool{}
	for _, t := range list.Tasks {
		names[t.Name] = true
	}
	return names, nil
}

// sameNames tells that both hold the same.
func sameNames(has map[string]bool, want map[string]string) bool {
	return len(has) == len(want) && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(n string) bool { return !has[n] })
}

// textOf is a set of names, for an error.
func textOf[V any](of map[string]V) string {
	return "[" + strings.Join(slices.Sorted(maps.Keys(of)), " ") + "]"
}
