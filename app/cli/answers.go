package cli

import "regexp"

// answer matches what a terminal says by itself when a program asks it something, and what no key sends:
//
//	CSI ? … c, CSI > … c, CSI = … c    device attributes
//	CSI row ; column R                 cursor position
//	CSI … n                            status
//	CSI … $ y                          mode reports
//	CSI 4|6|8 ; … t                    sizes
//	CSI ? … u                          keyboard protocol
//	OSC …, DCS …                       colours, clipboard, settings, version: keys are never strings
var answer = regexp.MustCompile(`\x1b\[[?>=][0-9;]*c|\x1b\[\??[0-9]+;[0-9]+(;[0-9]+)?R|\x1b\[\??[0-9;]*n|\x1b\[\??[0-9;]+\$y|` +
	`\x1b\[[468];[0-9]+;[0-9]+t|\x1b\[\?[0-9]*u|\x1b[\]P][^\x07\x1b]*(\x07|\x1b\\)`)

// modifiedF3 is F3 with shift, alt or ctrl, which has the form of a cursor position in the first row.
var modifiedF3 = regexp.MustCompile(`^\x1b\[1;[2-8]R$`)

// withoutAnswers returns typed bytes without this terminal's own answers. The tab has a terminal of its own, which
// answers each question at once, with or without anyone attached: a second answer would be taken for typing.
func withoutAnswers(typed []byte) []byte {
	return answer.ReplaceAllFunc(typed, func(found []byte) []byte {
		if modifiedF3.Match(found) {
			return found
		}
		return nil
	})
}
