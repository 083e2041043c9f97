package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"termic/build/rig"
)

var tasksPlace = place{"<!-- tasks: written by make bench -->", "<!-- end of tasks -->"}

// checkouts are how many files the repositories have in which tasks are made; others than these are for trying the program.
var checkouts = []int{20_000, 100_000}

func init() {
	flag.Func("files", "numbers of files of the repositories in which tasks are made, separated by commas (default 20000,100000)", func(list string) error {
		checkouts = nil
		for one := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(one)
			if err != nil {
				return err
			}
			checkouts = append(checkouts, n)
		}
		return nil
	})
}

// What is measured of a new task; the number of files is added.
const (
	worktreeAll   = "git worktree add, one worker a processor"
	worktreeEight = "git worktree add, eight workers"
	newTask       = "termic new"
	newCaged      = "termic new, in a cage"
	// worktreeBest is the faster of the two of each round.
	worktreeBest = "the faster git worktree add"
)

func ofFiles(what string, files int) string { return fmt.Sprintf("%s, %d files", what, files) }

// tasks measures how long a new task takes, from the command to its answer, beside a plain worktree of the same commit on the
// same disk.
func tasks(s *samples, rounds int) (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	for _, files := range checkouts {
		c, err := newCreation(r, files)
		if err != nil {
			return err
		}
		for round := range max(rounds/12, 3) + 1 {
			into := s
			if round == 0 { // what is not in memory yet
				into = newSamples()
			}
			if err := c.round(into, round); err != nil {
				return err
			}
		}
		if c.noCage != "" {
			s.Notes = append(s.Notes, c.noCage)
		}
	}
	return nil
}

// creation is one repository in which tasks are made.
type creation struct {
	rig    *rig.Rig
	files  int
	repo   string
	noCage string // why no caged task could be made
}

func newCreation(r *rig.Rig, files int) (*creation, error) {
	c := &creation{rig: r, files: files, repo: filepath.Join(r.Base, "files"+strconv.Itoa(files))}
	if _, err := r.Run("git", "init", "-q", "-b", "main", c.repo); err != nil {
		return nil, err
	}
	if err := c.fill(); err != nil {
		return nil, err
	}
	if _, err := r.Run("git", "-C", c.repo, "reset", "-q", "--hard"); err != nil {
		return nil, err
	}
	if _, err := r.Do("project", "add", c.repo); err != nil {
		return nil, err
	}
	preview, err := r.Do("new", "probe", "--project", filepath.Base(c.repo), "--agent", "shell", "--cage", "enforce-fs")
	if err != nil {
		c.noCage = "No cage can be made here: " + preview
		return c, nil
	}
	_, err = r.Do("archive", "probe", "--force")
	return c, err
}

// fill commits the files: 1 to 4 KB of text each, a hundred in a directory, as source trees are. Their bytes are the same in each run.
func (c *creation) fill() error {
	cmd := exec.Command("git", "-C", c.repo, "fast-import", "--quiet")
	cmd.Env = c.rig.Env
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	fmt.Fprint(out, "commit refs/heads/main\ncommitter bench <bench@example.org> 1700000000 +0000\ndata 5\nfiles\n")
	for i := range c.files {
		text := make([]byte, 1000+random.IntN(3000))
		for j := range text {
			text[j] = "abcdefghij klmnop\nqrstuv wxyz"[random.IntN(29)]
		}
		fmt.Fprintf(out, "M 100644 inline src/d%03d/f%02d.txt\ndata %d\n%s\n", i/100, i%100, len(text), text)
	}
	return errors.Join(out.Flush(), to.Close(), cmd.Wait())
}

// round makes each once, in an order that changes, and takes it away again.
func (c *creation) round(s *samples, round int) error {
	todo := []func(*samples, string) error{
		func(s *samples, name string) error { return c.plain(s, worktreeAll, "0", name) },
		func(s *samples, name string) error { return c.plain(s, worktreeEight, "8", name) },
		func(s *samples, name string) error { return c.task(s, newTask, name) },
		c.caged,
	}
	for i := range todo {
		if err := todo[(i+round)%len(todo)](s, fmt.Sprintf("r%d-%d", round, i)); err != nil {
			return err
		}
	}
	all, eight := s.Micros[ofFiles(worktreeAll, c.files)], s.Micros[ofFiles(worktreeEight, c.files)]
	best := ofFiles(worktreeBest, c.files)
	s.Micros[best] = append(s.Micros[best], min(all[len(all)-1], eight[len(eight)-1]))
	return nil
}

// settled lets nothing that was written before be written meanwhile.
func (c *creation) settled() error { _, err := c.rig.Run("sync"); return err }

func (c *creation) plain(s *samples, what, workers, name string) error {
	dir := filepath.Join(c.rig.Base, "plain-"+name)
	if err := c.settled(); err != nil {
		return err
	}
	err := s.time(ofFiles(what, c.files), func() error {
		_, err := c.rig.Run("git", "-C", c.repo, "-c", "checkout.workers="+workers, "worktree", "add", "-q", "-b", "plain/"+name, dir, "main")
		return err
	})
	if err != nil {
		return err
	}
	if _, err := c.rig.Run("git", "-C", c.repo, "worktree", "remove", "--force", dir); err != nil {
		return err
	}
	_, err = c.rig.Run("git", "-C", c.repo, "branch", "-q", "-D", "plain/"+name)
	return err
}

func (c *creation) task(s *samples, what, name string, more ...string) error {
	if err := c.settled(); err != nil {
		return err
	}
	args := append([]string{"new", name, "--project", filepath.Base(c.repo), "--agent", "shell"}, more...)
	if err := s.time(ofFiles(what, c.files), func() error { _, err := c.rig.Do(args...); return err }); err != nil {
		return err
	}
	_, err := c.rig.Do("archive", name, "--force")
	return err
}

func (c *creation) caged(s *samples, name string) error {
	if c.noCage != "" {
		return nil
	}
	return c.task(s, newCaged, name, "--cage", "enforce-fs")
}

// taskTable renders the figures of new tasks as lines of docs/benchmarks.md.
func (s *samples) taskTable() []string {
	lines := []string{"| what | median ms | quickest ms | samples |", "|---|---|---|---|"}
	for _, files := range checkouts {
		for _, what := range []string{worktreeAll, worktreeEight, newTask, newCaged} {
			if key := ofFiles(what, files); len(s.Micros[key]) > 0 {
				lines = append(lines, fmt.Sprintf("| %s | %.0f | %.0f | %d |", key, s.quantile(key, 0.5), s.quantile(key, 0), len(s.Micros[key])))
			}
		}
	}
	lines = append(lines, "", "| to the faster git worktree add of the same round | median of pairs | least to most |", "|---|---|---|")
	for _, files := range checkouts {
		for _, what := range []string{newTask, newCaged} {
			ratios := s.ratios(ofFiles(what, files), ofFiles(worktreeBest, files))
			if n := len(ratios); n > 0 {
				lines = append(lines, fmt.Sprintf("| %s | %.2f | %.2f to %.2f |", ofFiles(what, files), ratios[n/2], ratios[0], ratios[n-1]))
			}
		}
	}
	slices.Sort(s.Notes)
	for _, note := range slices.Compact(s.Notes) {
		lines = append(lines, "", note)
	}
	return lines
}
