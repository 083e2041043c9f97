// Command sdkserver is the peer of the MCP benchmark: the official Go SDK's stateless server with one tool that
// answers what task_status answers. It prints its address and serves until its standard
// input ends.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termic/build/bench/cost"
)

type statusIn struct {
	Task string `json:"task,omitempty" jsonschema:"task: name or id"`
}

type tab struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Agent  string `json:"agent"`
	State  string `json:"state"`
	Signal string `json:"signal"`
	Since  string `json:"since"`
	Queued int    `json:"queued"`
}

type task struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Project     string `json:"project"`
	ProjectName string `json:"project_name"`
	Branch      string `json:"branch"`
	Base        string `json:"base"`
	Path        string `json:"path"`
	Agent       string `json:"agent"`
	Cage        string `json:"cage"`
	MCP         bool   `json:"mcp"`
	Live        bool   `json:"live"`
	Archived    bool   `json:"archived"`
	State       string `json:"state"`
	Signal      string `json:"signal"`
	Created     string `json:"created"`
	Tabs        []tab  `json:"tabs"`
}

type statusOut struct {
	Task task     `json:"task"`
	Can  []string `json:"can"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "task_status", Description: "show a task and its tabs"},
		func(_ context.Context, _ *mcp.CallToolRequest, in statusIn) (*mcp.CallToolResult, statusOut, error) {
			return nil, statusOut{task{
				ID: "t-aaaaaaaaaaaaaaaa", Name: in.Task, Project: "p-aaaaaaaaaaaaaaaa", ProjectName: "shop", Branch: "termic/fix",
				Base: "0123456789012345678901234567890123456789", Path: "/checkouts/shop/fix", Agent: "shell", Cage: "off",
				State: "idle", Signal: "quiet", Created: "2026-11-29T00:00:00Z",
				Tabs: []tab{{"b-aaaaaaaaaaaaaaaa", "shell", "shell", "idle", "quiet", "2026-11-29T00:00:00Z", 0}},
			}, []string{"everything that you can"}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() { _ = http.Serve(listener, handler) }()
	cost.Answer()
}
