package osbtest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A Fault is how one call goes wrong. The zero Fault is none. Each constructor says
// whether the broker acts nevertheless; Acting has it act where it would not.
type Fault struct {
	name string
	// acts says that the broker does what was asked for.
	acts bool
	// status, text and header stand in for what the broker would answer; status 0: they
	// do not.
	status int
	text   string
	header http.Header
	// delay is before the broker acts, drip is spread over its answer.
	delay, drip time.Duration
	// cut is where the connection ends.
	cut cut
	// spoil changes the text of the true answer, and pad adds so many bytes to it.
	spoil func(text []byte) []byte
	pad   int
	// doubtful says that platforms differ in whether the answer is a good one.
	doubtful bool
	// async has the operation be asynchronous.
	async *async
}

// A cut is where a connection ends.
type cut int

const (
	uncut cut = iota
	cutBefore
	cutAfter
	cutMiddle
	hang
)

// An async is how an asynchronous operation goes.
type async struct {
	// polls find it in progress before it ends; below 0: until Broker.Finish.
	polls int
	fails bool
	// usable and repeatable are sent with the failure unless they are nil.
	usable, repeatable *bool
	// lost is how the first polls go, and how many of them.
	lost      Fault
	lostPolls int
}

// String is the fault's name; empty for none.
func (f Fault) String() string { return f.name }

// Acts says whether the broker does what was asked for.
func (f Fault) Acts() bool { return f.acts || f.name == "" }

// Acting is the same fault, with the broker acting before it goes wrong.
func (f Fault) Acting() Fault {
	f.acts = true
	return f
}

// WithRetryAfter adds the header Retry-After to the answer, the broker's own included:
// seconds, or a date.
func (f Fault) WithRetryAfter(value string) Fault {
	f.header = f.header.Clone()
	if f.header == nil {
		f.header = http.Header{}
	}
	f.header.Set("Retry-After", value)
	return f
}

// Status answers with a status and a body. The broker does not act.
func Status(code int, body string) Fault {
	return Fault{name: "Status " + strconv.Itoa(code), status: code, text: body}
}

// Delay waits before the broker acts and answers as it should, also where the platform
// has left meanwhile.
func Delay(d time.Duration) Fault { return Fault{name: "Delay", acts: true, delay: d} }

// Hang never answers: it waits until the platform leaves. The broker does not act.
func Hang() Fault { return Fault{name: "Hang", cut: hang} }

// CutBefore closes the connection. From Broker.Next it does so before the request's
// body is read. The broker does not act.
func CutBefore() Fault { return Fault{name: "CutBefore", cut: cutBefore} }

// CutAfter closes the connection without an answer. The broker acts.
func CutAfter() Fault { return Fault{name: "CutAfter", acts: true, cut: cutAfter} }

// CutMiddle sends the answer's head and half of its body, and closes the connection.
// The broker acts.
func CutMiddle() Fault { return Fault{name: "CutMiddle", acts: true, cut: cutMiddle} }

// Malformed answers with the status that is due and half a JSON text. The broker acts.
func Malformed() Fault {
	return Fault{name: "Malformed", acts: true, spoil: func(text []byte) []byte { return append([]byte(`{"broken": `), text...) }}
}

// Oversized answers with the status that is due and a lawful body of more than so many
// bytes. The broker acts.
func Oversized(size int) Fault {
	return Fault{name: "Oversized", acts: true, doubtful: true, pad: size}
}

// WrongType answers with the status that is due and JSON whose fields are of other
// types than the specification says. The broker acts.
func WrongType() Fault {
	const text = `{"services": {}, "operation": 7, "dashboard_url": [], "credentials": "text", "state": 1, "parameters": 5}`
	return Fault{name: "WrongType", acts: true, spoil: func([]byte) []byte { return []byte(text) }}
}

// NoContent204 answers 204, which the specification does not know. The broker acts.
func NoContent204() Fault {
	return Fault{name: "NoContent204", acts: true, status: http.StatusNoContent}
}

// RetryAfter answers 503 and asks to wait: for seconds, or until a date. The broker
// does not act.
func RetryAfter(value string) Fault {
	f := Status(http.StatusServiceUnavailable, `{"description": "come again later"}`).WithRetryAfter(value)
	f.name = "RetryAfter"
	return f
}

// ConcurrencyError answers 422 with that code. The broker does not act.
func ConcurrencyError() Fault {
	f := Status(http.StatusUnprocessableEntity, `{"error": "ConcurrencyError", "description": "another operation is in progress"}`)
	f.name = "ConcurrencyError"
	return f
}

// Redirect answers with a 3xx status and a location. The broker does not act.
func Redirect(code int, location string) Fault {
	return Fault{name: "Redirect", status: code, header: http.Header{"Location": {location}}}
}

// SlowAnswer takes so long for its answer, byte by byte. The broker acts.
func SlowAnswer(d time.Duration) Fault { return Fault{name: "SlowAnswer", acts: true, drip: d} }

// AsyncDone has the operation be asynchronous and found in progress by so many polls,
// before it succeeds; below 0: until Broker.Finish. The broker acts.
func AsyncDone(polls int) Fault {
	return Fault{name: "AsyncDone", acts: true, async: &async{polls: polls}}
}

// AsyncFailed is AsyncDone that fails in the end: what was to be made stays on the
// books as Broken, what was to be removed or changed stays as it was.
func AsyncFailed(polls int) Fault {
	return Fault{name: "AsyncFailed", acts: true, async: &async{polls: polls, fails: true}}
}

// AsyncLost is AsyncDone(0) whose first polls go wrong in a way of their own.
func AsyncLost(poll Fault, polls int) Fault {
	return Fault{name: "AsyncLost", acts: true, async: &async{lost: poll, lostPolls: polls}}
}

// Saying has a failed operation say whether the instance can still be used and whether
// the update may be sent again.
func (f Fault) Saying(usable, repeatable bool) Fault {
	if f.async != nil {
		told := *f.async
		told.usable, told.repeatable = &usable, &repeatable
		f.async = &told
	}
	return f
}

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
