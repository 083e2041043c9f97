package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Commit is one commit as a line of a list. Subject and Author are valid UTF-8.
type Commit struct {
	OID     OID
	Subject string
	Author  string // name only
	When    time.Time
}

// MaxAhead is how many commits Ahead returns at most; that many may mean more.
const MaxAhead = 500

// Ahead returns the commits of the checkout at dir that base does not have,
// newest first.
func (r *Repo) Ahead(ctx context.Context, dir string, base OID) ([]Commit, error) {
	list, err := r.ahead(ctx, dir, base)
	if err != nil {
		return nil, fmt.Errorf("commits of %s: %w", dir, err)
	}
	return list, nil
}

func (r *Repo) ahead(ctx context.Context, dir string, base OID) ([]Commit, error) {
	if !base.Valid() {
		return nil, fmt.Errorf("base %q: %w", clip(string(base), 80), ErrBadRef)
	}
	v, err := r.view(ctx, dir)
	if err != nil || v.head.oid == "" {
		return nil, err
	}
	out, err := r.git.run(ctx, call{gitDir: v.gitDir, config: []string{"log.showSignature=false"}, args: []string{
		"log", "-z", "--no-color", "--no-decorate", "--no-mailmap", "--no-show-signature", "--no-patch", "--encoding=UTF-8",
		"--format=tformat:%H%n%at%n%an%n%s", "--max-count=" + strconv.Itoa(MaxAhead), string(v.head.oid), "^" + string(base), "--"}})
	if err != nil {
		return nil, err
	}
	var list []Commit
	for _, rec := range splitNUL(out) {
		parts := strings.SplitN(rec, "\n", 4)
		if len(parts) != 4 {
			return nil, fmt.Errorf("unexpected record %q", clip(rec, 80))
		}
		seconds, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("unexpected date %q", clip(parts[1], 80))
		}
		subject, _ := escapeInvalid(parts[3])
		author, _ := escapeInvalid(parts[2])
		list = append(list, Commit{OID: OID(parts[0]), Subject: subject, Author: author, When: time.Unix(seconds, 0).UTC()})
	}
	return list, nil
}

// Fork returns the last commit that the checkout at dir and a commit both have; ErrUnrelated when there is none.
func (r *Repo) Fork(ctx context.Context, dir string, with OID) (OID, error) {
	v, err := r.view(ctx, dir)
	if err != nil {
		return "", err
	}
	return r.MergeBase(ctx, with, v.head.oid)
}

// OwnCommit reports whether the checkout at dir has a commit that base has not. What is no whole id of a commit is none.
func (r *Repo) OwnCommit(ctx context.Context, dir string, commit, base OID) (bool, error) {
	v, err := r.view(ctx, dir)
	if err != nil || !commit.Valid() || v.head.oid == "" {
		return false, err
	}
	if there, _, err := r.commitsAmong(ctx, []OID{commit}); err != nil || len(there) == 0 {
		return false, err
	}
	in, err := r.IsAncestor(ctx, commit, v.head.oid)
	if err != nil || !in {
		return false, err
	}
	before, err := r.IsAncestor(ctx, commit, base)
	return !before, err
}
