package lifecycle_test

import (
	"time"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// An answer is what a call comes to, with the site that it leaves.
type answer struct {
	name   string
	result lifecycle.CallResult
	site   site
	took   time.Duration
	// flies says that the request is still on its way.
	flies bool
	// good says that a broker without faults answers so.
	good bool
}

func succeeds(name string, r osb.Response, s site) answer {
	return answer{name: name, result: lifecycle.CallResult{Response: &r}, site: s, took: time.Second}
}

func fails(name string, e osb.Error, s site) answer {
	e.Operation = "do"
	return answer{name: name, result: lifecycle.CallResult{Err: &e}, site: s, took: time.Second}
}

// unanswered are the calls whose reply is lost: the broker acted, or did not, or still may.
func unanswered(before, acted site) []answer {
	timeout := osb.Error{Kind: osb.MaybeReceived}
	lost, never, cut := fails("the reply is lost", timeout, acted), fails("the request is lost", timeout, before), fails("the connection is cut, and the request is on its way", timeout, before)
	lost.took, never.took, cut.flies = callTimeout, callTimeout, true
	fault := osb.Error{Kind: osb.BrokerFault, StatusCode: 500}
	return []answer{lost, never, cut, fails("500, and nothing happened", fault, before), fails("500, although it happened", fault, acted)}
}

func well(a answer) answer {
	a.good = true
	return a
}

// answers are those to a call by a broker with something under the ID; none: it is not answered
// before the broker has finished something.
func answers(step lifecycle.Step, s site, body string, binding bool) []answer {
	switch step {
	case lifecycle.Provision:
		return answersToProvision(s, body, binding)
	case lifecycle.Update:
		changed := site{s.place, body}
		if s.place != there {
			return []answer{well(fails("404", osb.Error{Kind: osb.NotFound, StatusCode: 404}, s))}
		}
		return append(unanswered(s, changed), well(succeeds("200", osb.Response{}, changed)),
			fails("400", osb.Error{Kind: osb.Rejected, StatusCode: 400}, s))
	case lifecycle.Deprovision, lifecycle.MitigateOrphan:
		return answersToDeprovision(s)
	default:
		return answersToPoll(s)
	}
}

func answersToProvision(s site, body string, binding bool) []answer {
	stored := func(a answer) answer {
		if binding {
			a.result.Credentials = lifecycle.Stored
		}
		return a
	}
	conflict := fails("409", osb.Error{Kind: osb.Conflict, StatusCode: 409}, s)
	switch {
	case s.place == nothing:
		return append(unanswered(s, s.make(body, there)), well(stored(succeeds("201", osb.Response{Created: true}, s.make(body, there)))),
			succeeds("202", osb.Response{Async: true}, s.make(body, making)), fails("400", osb.Error{Kind: osb.Rejected, StatusCode: 400}, s))
	case s.place == there && s.body == body:
		return append(unanswered(s, s), well(stored(succeeds("200", osb.Response{}, s))))
	case (s.place == making || s.place == broken) && s.body == body: // what failed is begun again
		begun := site{making, body}
		return append(unanswered(s, begun), well(succeeds("202", osb.Response{Async: true}, begun)))
	}
	return []answer{well(conflict)}
}

func answersToDeprovision(s site) []answer {
	if s.place == nothing {
		return append(unanswered(s, s), well(fails("410", osb.Error{Kind: osb.Gone, StatusCode: 410}, s)))
	}
	leaving := site{removing, s.body}
	all := append(unanswered(s, site{}), succeeds("202", osb.Response{Async: true}, leaving))
	if s.place == removing {
		all[len(all)-1].good = true
		return all
	}
	return append(all, well(succeeds("200", osb.Response{}, site{})))
}

func answersToPoll(s site) []answer {
	state := osb.Succeeded
	switch s.place {
	case making, removing:
		return nil
	case broken:
		state = osb.Failed
	case nothing, there:
	}
	poll := answer{name: string(state), result: lifecycle.CallResult{Poll: &osb.LastOperation{State: state}}, site: s, took: time.Second}
	return []answer{well(poll), fails("500", osb.Error{Kind: osb.BrokerFault, StatusCode: 500}, s)}
}

// lands is the site after a request that was cut off was acted on after all.
func (f flight) lands(s site) site {
	switch f.step {
	case lifecycle.Provision:
		return s.make(f.body, there)
	case lifecycle.Update:
		if s.place == there {
			s.body = f.body
		}
		return s
	default:
		return site{}
	}
}
