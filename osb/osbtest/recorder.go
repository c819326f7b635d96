package osbtest

// A recorder keeps the calls that came, and which of them are not over.
type recorder struct {
	// most bounds how many calls are kept; 0: all of them.
	most   int
	count  int
	visits []*visit
	// open are those that change something and are not over, by what they are about.
	open map[target]map[*visit]struct{}
}

func newRecorder(most int) *recorder {
	return &recorder{most: most, open: map[target]map[*visit]struct{}{}}
}

// keep adds a visit to the record and numbers it; a record that is bounded forgets the oldest.
func (r *recorder) keep(v *visit) {
	r.count++
	v.N = r.count
	r.visits = append(r.visits, v)
	if r.most > 0 && len(r.visits) > r.most {
		r.visits[0] = nil
		r.visits = r.visits[1:]
	}
	if v.Verb.mutates() {
		at := v.target()
		if r.open[at] == nil {
			r.open[at] = map[*visit]struct{}{}
		}
		r.open[at][v] = struct{}{}
	}
}

// end takes a visit off those that are not over.
func (r *recorder) end(v *visit) {
	at := v.target()
	delete(r.open[at], v)
	if len(r.open[at]) == 0 {
		delete(r.open, at)
	}
}

// calls are those that pass all filters.
func (r *recorder) calls(filters []func(Call) bool) []Call {
	var calls []Call
	for _, v := range r.visits {
		if passes(v.Call, filters) {
			calls = append(calls, v.Call)
		}
	}
	return calls
}

// inFlight are the calls about the same that came before and that the platform has not left.
func (r *recorder) inFlight(v *visit) []*visit {
	var others []*visit
	for other := range r.open[v.target()] {
		if other.N < v.N && other.Outcome == Pending && other.ctx.Err() == nil {
			others = append(others, other)
		}
	}
	return others
}

// creates says whether a call that came before, about the same, is making it still.
func (r *recorder) creates(v *visit) bool {
	for other := range r.open[v.target()] {
		if other != v && other.Verb.creates() && other.N < v.N {
			return true
		}
	}
	return false
}
