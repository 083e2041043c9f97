package registry

// Mold tells for tests whether a verb's arguments, or its result, have a mold, and what that makes of a text.
func Mold(v *Verb, result bool, raw []byte) (compiled, takes bool) {
	s := shapeOf(v, result)
	return s.mold() != nil, s.mold().takes(raw)
}

func shapeOf(v *Verb, result bool) *shape {
	if result {
		return v.out
	}
	return v.in
}
