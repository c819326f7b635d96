package cli

// Colours says whether to write colours to standard output: to a terminal only, and
// not where NO_COLOR is set.
func (e *Env) Colours() bool { return e.colours(e.Out) }
