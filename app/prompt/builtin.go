package prompt

// Builtin returns the prompts that come with the program, by id. All of them are for agents too.
func Builtin() []Prompt {
	list := []Prompt{
		{ID: "commit", Name: "Commit", Description: "commit the work in sensible steps",
			Text: "Commit the work of this checkout. Look at every change first. Make one commit for each idea, with the tests that belong to it, and leave out what is not part of the work (scratch files, debugging output, unrelated formatting); name what you left out. Follow the style of the repository's own messages: say what changed and why. Do not push, do not amend or rebase commits that were there before."},
		{ID: "explain", Name: "Explain", Description: "explain the change to somebody who has to judge it",
			Text: "Explain the change in this checkout to somebody who knows the project and has to judge it. Begin with what it does for its users, in two sentences. Then go through it from the bottom layer up: what each part does, why it is there, what could have been done instead. Name the places where you are not sure, and what you have not run. Change nothing."},
		{ID: "review", Name: "Review", Description: "review the change and report what is wrong",
			Text: "Review the change in this checkout against its base. Read every changed file whole, not only the diff. Look for wrong results, lost data, races, errors that are dropped, input that is not checked, and tests that cannot fail. Run the tests. Report what you found, the worst first: file and line, what happens, how to show it, and what to do. Say when you found nothing. Change nothing."},
		{ID: "security-review", Name: "Security review", Description: "look for what an attacker could use",
			Text: "Review the change in this checkout as an attacker would. For each place where input from outside arrives (network, files, environment, other users' data, output of programs) follow it to where it is used. Look for injection, paths that leave their directory, links that are followed, checks that are done after the act, secrets in logs or command lines, missing limits, and defaults that permit. For each finding say who can do it, what they gain, and show it with a test or a command that does no harm. Change nothing else."},
		{ID: "write-tests", Name: "Write tests", Description: "write the tests that the change lacks",
			Text: "Write the tests that the change in this checkout lacks, in the style of the tests beside it. Cover what it promises, each error it can return, and the values at the edges of each limit. Break the code once for each test and see it fail, then put it back. Do not change the code to fit a test: where you find a fault, leave a failing test and say so. Run all tests at the end and report what you saw."},
	}
	for i := range list {
		list[i].Agents, list[i].Builtin = true, true
	}
	return list
}
