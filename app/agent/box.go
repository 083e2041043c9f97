package agent

import "termic/app/settle"

// Box says how the agent's own input box looks on its screen while nothing is in it. The zero value says nothing: then an empty box
// is what stood there when the agent first came to rest and nobody had typed.
type Box struct {
	// Empty matches the text left of the cursor on the cursor's row, blanks included. What follows the cursor is told from a
	// placeholder by its style.
	Empty settle.Pattern `json:"empty,omitzero"`
	// Above matches the row above, where the text alone could also be a picker's or a second line's.
	Above settle.Pattern `json:"above,omitzero"`
}

// Known tells whether the box can be recognized.
func (b Box) Known() bool { return b.Empty.String() != "" }

// box returns a box from its two patterns; above may be empty.
func box(empty, above string) Box {
	b := Box{Empty: settle.MustPatterns(empty)[0]}
	if above != "" {
		b.Above = settle.MustPatterns(above)[0]
	}
	return b
}
