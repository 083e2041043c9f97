package registry

// State is whether something really keeps a restriction. The zero value is no state: such a row is a mistake.
type State string

const (
	// Enforced: the forbidden thing was tried and refused, by the test that the row names.
	Enforced State = "enforced"
	// Advisory: nothing keeps it yet, or not on this system; the row says what will.
	Advisory State = "advisory"
)

// Boundary is one restriction that termic declares.
type Boundary struct {
	// Name is stable, and how a surface refers to the row.
	Name string
	// Declares is the restriction in one sentence.
	Declares string
	// Linux and Mac are its states.
	Linux, Mac State
	// Refusal is the test that does the forbidden thing, and its twin without the restriction: "package: Test", or
	// "package: Test/case". Every row that is enforced anywhere has one.
	Refusal string
	// Until says what will enforce it where it is advisory.
	Until string
}

// built is the test that tries its cases on the built program, started as a program of its own.
const built = "app: TestEveryEnforcedBoundaryRefuses/"

const (
	noMac     = "a Mac to run the tests on: the code is compiled for it and was never run there"
	macCage   = "a Mac to run the tests on: verified by evaluation, not on a Mac; a cage is started there only where a trial on that Mac held"
	macCrowd  = "nothing on macOS: it has no limit for the processes of one cage"
	macDoor   = "a door inside the cage on macOS, where it is a port of the machine's loopback: other cages in enforce do not reach it, programs outside do"
	fsNoDoor  = "a door inside enforce-fs cages, which share the host's network"
	untilNone = ""
)

// Boundaries returns every restriction that any surface of termic shows.
func Boundaries() []Boundary {
	return []Boundary{
		{"endpoint.loopback", "The MCP endpoint listens on 127.0.0.1 only.", Enforced, Advisory, built + "loopback", noMac},
		{"endpoint.origin", "A request that names an Origin is refused: no web page calls.", Enforced, Advisory, built + "origin", noMac},
		{"endpoint.host", "A request for another host than the listener's own address is refused.", Enforced, Advisory, built + "host", noMac},
		{"endpoint.credential", "A request without a live token is refused, and learns nothing.", Enforced, Advisory, built + "credential", noMac},
		{"endpoint.doors", "The command line's token is none at the port, nor a client's on the command line's socket.", Enforced, Advisory, built + "doors", noMac},
		{"endpoint.binding", "A token is never older than the port that it is for.", Enforced, Advisory, built + "binding", noMac},
		{"endpoint.port", "The endpoint never moves to another port behind a client's back.", Enforced, Advisory, built + "port", noMac},
		{"endpoint.older", "Clients of older revisions are told, and not served.", Enforced, Advisory, built + "older", noMac},
		{"custody.files", "Tokens lie in files of mode 0600 in a directory of mode 0700.", Enforced, Advisory, built + "files", noMac},
		{"custody.environment", "No token is on a command line or in the app's own environment.", Enforced, Advisory, built + "environment", noMac},
		{"custody.output", "A live token is taken out of every result.", Enforced, Advisory, built + "output", noMac},
		{"socket.peer", "The command line's socket answers programs of the same user only.", Enforced, Advisory, built + "peer", noMac},
		{"grant.scope", "A caged caller has the tools of its scope and no other.", Enforced, Advisory, built + "scope", macCage},
		{"grant.sight", "A caged caller sees its own task and what descends from it; the rest is as if it were not.", Enforced, Advisory, built + "sight", macCage},
		{"grant.projects", "A caged caller acts in the projects of its grant only.", Enforced, Advisory, built + "projects", macCage},
		{"grant.limit", "Text and content cross only to and from tabs that may do no more than the caller.", Enforced, Advisory, built + "limit", macCage},
		{"grant.child", "A task that a caged caller makes is no less caged, on any axis.", Enforced, Advisory, built + "child", macCage},
		{"grant.tabs", "A caged caller closes only tabs that it opened.", Enforced, Advisory, built + "tabs", macCage},
		{"grant.base", "A caged caller's new task starts from the default branch or from commits of its own.", Enforced, Advisory, built + "base", macCage},
		{"grant.queue", "Queued text is compared again when it is delivered.", Enforced, Advisory, built + "queue", noMac},
		{"grant.budget", "A caged caller makes a bounded number of tasks.", Enforced, Advisory, built + "budget", macCage},
		{"grant.ceiling", "A client calls no verb above its ceiling.", Enforced, Advisory, built + "ceiling", noMac},
		{"grant.revoked", "A revoked token is unknown at once.", Enforced, Advisory, built + "revoked", noMac},
		{"grant.narrowed", "What a task loses, its descendants lose with it.", Enforced, Advisory, built + "narrowed", macCage},
		{"control.stop", "The kill switch ends every call of agents and clients.", Enforced, Advisory, built + "stop", noMac},
		{"channel.enforce", "In enforce, a task's token is valid inside its own cage only, and no other is valid there.", Enforced, Advisory, built + "channel", macDoor},
		{"channel.enforce-fs", "In enforce-fs, a task's token is valid inside its own cage only.", Advisory, Advisory, untilNone, fsNoDoor},
		{"hold.destructive", "A destructive call of an outside client waits for the person.", Enforced, Advisory, built + "hold", noMac},
		{"hold.answer", "Nobody answers a call that waits but the person.", Enforced, Advisory, built + "answer", noMac},
		{"hold.elicit", "A client asks its own person only where the person in termic said so, and each answer is for one call, once.", Enforced, Advisory, built + "elicit", noMac},
		{"audit.first", "What cannot be recorded is not done.", Enforced, Advisory, built + "first", noMac},
		{"audit.chain", "A changed audit log is found.", Enforced, Advisory, built + "chain", noMac},
		{"cage.read", "In enforce and enforce-fs, a task reads no file of the person's that its cage does not list.", Enforced, Advisory, built + "wall-read", macCage},
		{"cage.write", "In enforce and enforce-fs, a task writes its own checkout and what its cage lists, and nothing else.", Enforced, Advisory, built + "wall-write", macCage},
		{"cage.data", "In enforce and enforce-fs, termic's own data and tokens are not there, whatever the cage lists.", Enforced, Advisory, built + "wall-data", macCage},
		{"cage.processes", "In enforce and enforce-fs, no process outside the cage can be seen or signalled.", Enforced, Advisory, built + "wall-processes", macCage},
		{"cage.ports", "In enforce, a task reaches no port of this machine but its own; in enforce-fs the network is open.", Enforced, Advisory, built + "wall-ports", macCage},
		{"cage.egress", "In enforce, a caged task reaches the hosts of its list only.", Enforced, Advisory, built + "egress", macCage},
		{"cage.servers", "A server in an enforce cage is reached from outside only while the person has it open.", Enforced, Advisory, built + "servers", macCage},
		{"cage.crowd", "In enforce and enforce-fs, a task has no more processes and threads at once than the settings say.", Enforced, Advisory, built + "wall-crowd", macCrowd},
		{"cage.resources", "A cage takes no more memory, processor time or disk than it is given.", Advisory, Advisory, untilNone, "a control group, where the system lets termic make one: termic doctor and the task's status say what holds; for the disk nothing, and termic disk shows what a task takes"},
		{"cage.bypass", "An agent in a cage cannot start itself again without its own prompts.", Advisory, Advisory, untilNone, "nothing: no kernel can; the cage is the boundary"},
		{"git.hooks", "No hook and no program that a repository configures runs in git calls of the app.", Enforced, Advisory, built + "hooks", noMac},
		{"git.landing", "What a cage wrote is landed, or started from without that cage, only when what programs obey in it was shown.", Enforced, Advisory, built + "landing", macCage},
		{"repo.trust", "Commands of a repository's settings run only as the person trusted them, and in the task's cage.", Enforced, Advisory, built + "trust", macCage},
		{"git.view", "What a cage writes into its git is not believed outside.", Enforced, Advisory, built + "view", macCage},
	}
}
