package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Client is an outside program that can be told of the endpoint, as callers see it.
type Client struct {
	Name       string `json:"name" jsonschema:"name to give to the other client commands" cli:"col"`
	Title      string `json:"title" jsonschema:"name for people" cli:"col"`
	Found      bool   `json:"found" jsonschema:"its program was found in PATH" cli:"col"`
	Version    string `json:"version,omitempty" jsonschema:"what its program says of its version"`
	Tried      string `json:"tried" jsonschema:"version with which the whole way was tried, or: not tried"`
	Speaks     string `json:"speaks" jsonschema:"what it does with an endpoint of the revision 2026-07-28"`
	Registered bool   `json:"registered" jsonschema:"it has a token of its own while the endpoint serves" cli:"col"`
	Entry      string `json:"entry" enum:"none,current,stale,changed,missing,foreign,manual,unreadable" jsonschema:"how the entry in its configuration stands: stale points to a port or a program that is no longer so, changed and missing were touched by somebody else, foreign is not ours, manual has to be told by hand" cli:"col"`
	Ceiling    string `json:"ceiling,omitempty" jsonschema:"highest class of verb that it may call" cli:"col"`
	Confirm    string `json:"confirm,omitempty" enum:"hold,elicit" jsonschema:"who is asked about a call that has to be confirmed: hold, the person in termic; elicit, whoever sits at the client, by its own program"`
	LastSeen   string `json:"last_seen,omitempty" jsonschema:"when it last called since the app started (RFC 3339)" cli:"col"`
	File       string `json:"file,omitempty" jsonschema:"its configuration"`
	Needs      string `json:"needs,omitempty" jsonschema:"what it needs besides its entry, and that changes more than ours: client_add with all_servers"`
	Trouble    string `json:"trouble,omitempty" jsonschema:"why its configuration cannot be read"`
}

// Who is asked about a call of a client that has to be confirmed.
const (
	ConfirmHold   = "hold"
	ConfirmElicit = "elicit"
)

// OlderClient is a program that was refused because it speaks no revision that is served.
type OlderClient struct {
	Refused  string `json:"refused" jsonschema:"client that could not connect, in its own words" cli:"col"`
	Revision string `json:"revision" jsonschema:"older revision of MCP that it speaks; unknown where it does not say" cli:"col"`
	Remedy   string `json:"remedy" jsonschema:"what to do" cli:"col"`
}

// ClientListOut is the result of client_list.
type ClientListOut struct {
	Clients []Client      `json:"clients" jsonschema:"every client that termic knows, and the registered others"`
	Refused []OlderClient `json:"refused,omitempty" jsonschema:"clients that could not connect since the app started because they speak an older revision of MCP, the latest last"`
}

var ClientList = registry.Define[None, ClientListOut](registry.Verb{
	Name:       "client_list",
	Summary:    "list the outside programs that can use termic",
	Doc:        "Lists the programs outside of termic that can be told of the MCP endpoint: whether each was found, whether it is registered, and how the entry in its configuration stands.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "client list", Example: "client list"},
})

// ClientShowIn are the arguments of client_show.
type ClientShowIn struct {
	Client string `json:"client" min:"1" max:"32" jsonschema:"name of the client" cli:"arg"`
}

// ClientShowOut is the result of client_show.
type ClientShowOut struct {
	Client       Client `json:"client" jsonschema:"the client"`
	Difference   string `json:"difference,omitempty" jsonschema:"the entry that stands in its configuration, against the one that was written or would be" cli:"text"`
	Instructions string `json:"instructions" jsonschema:"how to tell it by hand" cli:"text"`
}

var ClientShow = registry.Define[ClientShowIn, ClientShowOut](registry.Verb{
	Name:       "client_show",
	Summary:    "show one outside client, and how to tell it by hand",
	Doc:        "Shows how a client stands, how its entry differs from the one that would be written, and how to write that by hand.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound},
	CLI:        registry.Command{Path: "client show", Example: "client show codex"},
})

// ClientAddIn are the arguments of client_add.
type ClientAddIn struct {
	Client     string `json:"client" min:"1" max:"32" jsonschema:"name of the client: see client_list" cli:"arg"`
	Ceiling    string `json:"ceiling,omitempty" enum:"read,write,destructive" jsonschema:"highest class of verb that it may call; default: destructive"`
	Confirm    string `json:"confirm,omitempty" enum:"hold,elicit" jsonschema:"who is asked about a call that has to be confirmed: hold, the person in termic; elicit, whoever sits at the client, where its program can ask; default: hold"`
	AllServers bool   `json:"all_servers,omitempty" jsonschema:"yes to what a client needs besides its entry although it changes how it talks to all MCP servers"`
	Replace    bool   `json:"replace,omitempty" jsonschema:"write over an entry that somebody else wrote or changed"`
	Other      bool   `json:"other,omitempty" jsonschema:"a client that termic does not know: it gets a token under this name and is told by hand"`
	DryRun     bool   `json:"dry_run,omitempty" jsonschema:"show what would be changed, and change nothing"`
}

// ClientChangeOut is the result of client_add and client_remove.
type ClientChangeOut struct {
	Client Client   `json:"client" jsonschema:"the client"`
	Diff   string   `json:"diff,omitempty" jsonschema:"change of its configuration; none where that was as it should be" cli:"text"`
	Backup string   `json:"backup,omitempty" jsonschema:"copy of its configuration from before"`
	Notes  []string `json:"notes" jsonschema:"what is left to do"`
}

var ClientAdd = registry.Define[ClientAddIn, ClientChangeOut](registry.Verb{
	Name:       "client_add",
	Summary:    "let an outside program use termic",
	Doc:        "Registers a client: it gets a token of its own, and its configuration an entry that says how to read that at connect time. The configuration never holds the token, and everything else in it stays as it is. Registering it again changes its ceiling and who confirms, and brings its entry up to date.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.BadInput, refusal.Conflict, refusal.Busy, refusal.Unavailable, refusal.Unsupported},
	CLI:        registry.Command{Path: "client add", Example: "client add claude"},
})

// ClientRemoveIn are the arguments of client_remove.
type ClientRemoveIn struct {
	Client string `json:"client" min:"1" max:"32" jsonschema:"name of the client" cli:"arg"`
	Force  bool   `json:"force,omitempty" jsonschema:"take the entry out although somebody changed it"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"show what would be changed, and change nothing"`
}

// TakesPowerAway implements registry.Relinquishing: a client's token must always be revocable.
func (in ClientRemoveIn) TakesPowerAway() bool { return !in.DryRun }

var ClientRemove = registry.Define[ClientRemoveIn, ClientChangeOut](registry.Verb{
	Name:     "client_remove",
	Summary:  "shut an outside program out",
	Doc:      "Ends a client's token at once, then takes its entry out of its configuration. When that cannot be done the token has ended all the same.",
	Class:    registry.Destructive,
	Scope:    registry.Full,
	Audience: registry.ForCLI,
	Reach:    registry.ReachSelf,
	Refusals: []refusal.Code{refusal.NotFound, refusal.Conflict, refusal.Busy},
	CLI:      registry.Command{Path: "client remove", Example: "client remove claude"},
})

// ClientRefreshIn are the arguments of client_refresh.
type ClientRefreshIn struct {
	Port   int  `json:"port,omitempty" max:"65535" jsonschema:"port that the endpoint moves to once every entry names it; default: it stays"`
	DryRun bool `json:"dry_run,omitempty" jsonschema:"show what would be changed, and change nothing"`
}

// ClientRefreshed is one entry that was rewritten, or could not be.
type ClientRefreshed struct {
	Client  string `json:"client" jsonschema:"name of the client" cli:"col"`
	Done    bool   `json:"done" jsonschema:"its entry is up to date, or would be" cli:"col"`
	Trouble string `json:"trouble,omitempty" jsonschema:"why its entry could not be rewritten" cli:"col"`
	Diff    string `json:"diff,omitempty" jsonschema:"change of its configuration"`
}

// ClientRefreshOut is the result of client_refresh.
type ClientRefreshOut struct {
	URL     string            `json:"url,omitempty" jsonschema:"address that the entries name"`
	Clients []ClientRefreshed `json:"clients" jsonschema:"the clients whose entry was stale"`
}

var ClientRefresh = registry.Define[ClientRefreshIn, ClientRefreshOut](registry.Verb{
	Name:       "client_refresh",
	Summary:    "rewrite every entry that is stale",
	Doc:        "Rewrites the entries of registered clients that point to an old port or an old place of termic. With a port, the entries are rewritten first and the endpoint moves there afterwards, so that no client is left with an address that it has given up; if one cannot be rewritten, or the port is taken, nothing changes.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.Conflict, refusal.Busy, refusal.Unavailable, refusal.BadInput},
	CLI:        registry.Command{Path: "client refresh", Example: "client refresh --port 7777"},
})

// ClientConnectIn are the arguments of client_connect.
type ClientConnectIn struct {
	Client string `json:"client" min:"1" max:"32" jsonschema:"name of the client"`
	URL    string `json:"url,omitempty" max:"256" jsonschema:"address that it is about to connect to"`
}

// ClientConnectOut is the result of client_connect.
type ClientConnectOut struct {
	URL         string `json:"url" jsonschema:"address that the app serves"`
	TokenSHA256 string `json:"token_sha256" jsonschema:"digest of the client's token in hex: what was read from a file is the app's only if it has that"`
}

// ClientConnect is what the helper and the bridge ask before they touch a token; there is no command for it.
var ClientConnect = registry.Define[ClientConnectIn, ClientConnectOut](registry.Verb{
	Name:       "client_connect",
	Summary:    "confirm the address for a client that connects",
	Doc:        "Confirms that the app serves exactly that address and that the client is registered. The helper and the bridge ask this before they read a token.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.Unavailable},
})
