// Command endpoint is what is measured against the peers: our endpoint, router, guard and audit log around a task_status
// that answers at once, so that all are measured without a task. One token may ask more than the limits would let it,
// since all calls come from one. It prints its address and a token and serves until its standard input ends.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"termic/app/audit"
	"termic/build/bench/cost"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

func main() {
	grants := flag.Int("grants", 1, "live grants")
	dir := flag.String("dir", "", "directory of the audit log")
	flag.Parse()
	if err := serve(*dir, *grants); err != nil {
		fmt.Fprintln(os.Stderr, "endpoint:", err)
		os.Exit(1)
	}
	cost.Answer()
}

// plenty is more than the benchmark asks for.
const plenty = 1 << 30

func serve(dir string, grants int) error {
	server, token, err := newServer(dir, grants)
	if err != nil {
		return err
	}
	address, err := (&mcpserver.Endpoint{Server: server}).Start(context.Background(), 0)
	if err != nil {
		return err
	}
	fmt.Println(address, token)
	return nil
}

// newServer returns the server and one of the tokens that it knows.
func newServer(dir string, grants int) (*mcpserver.Server, string, error) {
	log, err := audit.Open(filepath.Join(dir, "audit"), audit.Options{Quota: 1 << 50})
	if err != nil {
		return nil, "", err
	}
	book := grant.NewBook()
	var token string
	for range grants {
		token, _ = book.Issue(grant.Grant{
			Scope: registry.Full, Ceiling: registry.Destructive, Limit: capability.Unbounded(), Channel: grant.HostPort, Name: "client",
		})
	}
	router := registry.NewRouter(grant.NewGuard(book, world{}), log, slog.New(slog.DiscardHandler), verbs.All()...)
	router.RedactWith(book.Redact)
	registry.Bind(router, verbs.TaskStatus, status)
	server := &mcpserver.Server{Calls: router, Auth: host{book}, Version: "bench",
		Limits: mcpserver.Limits{Rate: plenty, Burst: plenty, Calls: 1024, Requests: 1024}}
	return server, token, nil
}

// status answers what a task with one tab answers.
func status(_ context.Context, _ registry.Call, in verbs.TaskStatusIn) (verbs.TaskStatusOut, error) {
	tab := verbs.Tab{ID: "b-aaaaaaaaaaaaaaaa", Name: "shell", Agent: "shell", State: "idle", Signal: "quiet", Since: "2026-11-29T00:00:00Z"}
	return verbs.TaskStatusOut{
		Task: verbs.Task{
			ID: "t-aaaaaaaaaaaaaaaa", Name: in.Task, Project: "p-aaaaaaaaaaaaaaaa", ProjectName: "shop", Branch: "termic/fix",
			Base: "0123456789012345678901234567890123456789", Path: "/checkouts/shop/fix", Agent: "shell", Cage: "off",
			State: "idle", Signal: "quiet", Created: "2026-11-29T00:00:00Z", Tabs: []verbs.Tab{tab},
		},
		Can: []string{"everything that you can"},
	}, nil
}

// world has one project and one task.
type world struct{}

func (world) Projects() []grant.Project {
	return []grant.Project{{ID: "p-aaaaaaaaaaaaaaaa", Name: "shop"}}
}

func (world) Support(capability.Mode) capability.Support { return capability.Support{} }

func (world) Tasks() []grant.Task {
	return []grant.Task{{ID: "t-aaaaaaaaaaaaaaaa", Name: "fix", Project: "p-aaaaaaaaaaaaaaaa",
		Tabs: []grant.Tab{{ID: ident.Tab("b-aaaaaaaaaaaaaaaa"), Name: "shell"}}}}
}

// host is the book as the host port sees it.
type host struct{ book *grant.Book }

// Caller implements mcpserver.Auth.
func (h host) Caller(token string) (registry.Caller, bool) {
	return h.book.Caller(grant.HostPort, token)
}
