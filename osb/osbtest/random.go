package osbtest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// Random is for Broker.On: so great a share of the calls goes wrong, each in a way that
// faults offers for its verb, nil meaning Faults. The sequence is the same for a seed;
// which call gets which is as the calls come.
func Random(seed uint64, share float64, faults func(Verb) []Fault) func(Call) Fault {
	if faults == nil {
		faults = Faults
	}
	dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test repeats its faults; nothing is to be guessed
	return func(c Call) Fault {
		choice := faults(c.Verb)
		hit, which := dice.Float64() < share, dice.IntN(max(len(choice), 1))
		if !hit || len(choice) == 0 {
			return Fault{}
		}
		return choice[which]
	}
}

// Faults are all that can befall a verb, each once: short ones, but for Hang, which
// lasts until the platform gives up.
func Faults(verb Verb) []Fault {
	list := []Fault{
		Status(http.StatusInternalServerError, `{"description": "out of order"}`), Status(http.StatusBadGateway, "<html>"),
		Status(http.StatusRequestTimeout, "{}"), RetryAfter("1"),
		Status(http.StatusTooManyRequests, "{}").WithRetryAfter("1"), Delay(50 * time.Millisecond), Hang(),
		CutBefore(), CutAfter(), CutMiddle(), Malformed(), Oversized(40 << 20), WrongType(),
		Redirect(http.StatusFound, "/elsewhere"), SlowAnswer(50 * time.Millisecond),
	}
	if verb != GetCatalog {
		list = append(list, NoContent204(), ConcurrencyError())
	}
	if !verb.removes() && !verb.fetches() {
		// There a 404 is as good as a 410 to many platforms: it would be a lie.
		list = append(list, Status(http.StatusNotFound, "{}"))
	}
	if verb.mutates() {
		list = append(list,
			AsyncDone(2), AsyncFailed(1), AsyncLost(CutAfter(), 1), AsyncLost(Status(http.StatusNotFound, "{}"), 1),
			AsyncLost(Status(http.StatusInternalServerError, ""), 2), AsyncLost(Malformed(), 1),
			Status(http.StatusInternalServerError, "{}").Acting(), Hang().Acting(), NoContent204().Acting())
	}
	return slices.Clip(list)
}
