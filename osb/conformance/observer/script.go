package observer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A Step is how the next calls of a verb go wrong.
type Step struct {
	// Verb is one of osbtest.Verbs, such as "provision" or "poll instance".
	Verb osbtest.Verb `json:"verb"`
	// Fault is one of Faults; "none" lets calls through.
	Fault string `json:"fault"`
	// Times is how many calls; 0 means 1.
	Times int `json:"times,omitempty"`
	// Status and Body are what the fault "status" answers.
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	// Seconds are those of "delay" and "slow-answer", and Polls are how many find the operations of
	// "async" and "async-failed" in progress.
	Seconds float64 `json:"seconds,omitempty"`
	Polls   int     `json:"polls,omitempty"`
	// Location is where "redirect" leads to.
	Location string `json:"location,omitempty"`
	// RetryAfter is sent with the answer.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Acting has the broker do what it is asked for before it goes wrong.
	Acting bool `json:"acting,omitempty"`
}

// A Script is a list of steps. Those of a verb come one after the other.
type Script []Step

// makers make faults by their names.
var makers = map[string]func(s *Step) osbtest.Fault{
	"none":              func(*Step) osbtest.Fault { return osbtest.Fault{} },
	"status":            func(s *Step) osbtest.Fault { return osbtest.Status(s.Status, s.Body) },
	"delay":             func(s *Step) osbtest.Fault { return osbtest.Delay(s.duration()) },
	"hang":              func(*Step) osbtest.Fault { return osbtest.Hang() },
	"cut-before":        func(*Step) osbtest.Fault { return osbtest.CutBefore() },
	"cut-after":         func(*Step) osbtest.Fault { return osbtest.CutAfter() },
	"cut-middle":        func(*Step) osbtest.Fault { return osbtest.CutMiddle() },
	"malformed":         func(*Step) osbtest.Fault { return osbtest.Malformed() },
	"wrong-type":        func(*Step) osbtest.Fault { return osbtest.WrongType() },
	"no-content":        func(*Step) osbtest.Fault { return osbtest.NoContent204() },
	"concurrency-error": func(*Step) osbtest.Fault { return osbtest.ConcurrencyError() },
	"redirect":          func(s *Step) osbtest.Fault { return osbtest.Redirect(http.StatusFound, s.Location) },
	"slow-answer":       func(s *Step) osbtest.Fault { return osbtest.SlowAnswer(s.duration()) },
	"async":             func(s *Step) osbtest.Fault { return osbtest.AsyncDone(s.Polls) },
	"async-failed":      func(s *Step) osbtest.Fault { return osbtest.AsyncFailed(s.Polls) },
}

// Faults are the names of all faults, sorted.
func Faults() []string {
	var names []string
	for name := range makers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *Step) duration() time.Duration { return time.Duration(s.Seconds * float64(time.Second)) }

// ReadScript reads a script: a JSON list of steps.
func ReadScript(r io.Reader) (Script, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var script Script
	if err := decoder.Decode(&script); err != nil {
		return nil, fmt.Errorf("cannot read the script: %w", err)
	}
	var errs []error
	for i := range script {
		if err := script[i].check(); err != nil {
			errs = append(errs, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	return script, errors.Join(errs...)
}

func (s *Step) check() error {
	switch {
	case !slices.Contains(osbtest.Verbs(), s.Verb):
		return fmt.Errorf("there is no verb %q: allowed are %q", s.Verb, osbtest.Verbs())
	case makers[s.Fault] == nil:
		return fmt.Errorf("there is no fault %q: allowed are %q", s.Fault, Faults())
	case s.Fault == "status" && (s.Status < 200 || s.Status > 599):
		return fmt.Errorf("the status %d cannot be answered: allowed are 200 to 599", s.Status)
	case s.Times < 0 || s.Polls < 0 || s.Seconds < 0:
		return errors.New("times, polls and seconds cannot be below 0")
	}
	return nil
}

// Play gives a broker all steps.
func (s Script) Play(broker *osbtest.Broker) {
	for _, step := range s {
		fault := makers[step.Fault](&step)
		if step.Acting {
			fault = fault.Acting()
		}
		if step.RetryAfter != "" {
			fault = fault.WithRetryAfter(step.RetryAfter)
		}
		broker.Next(step.Verb, slices.Repeat([]osbtest.Fault{fault}, max(step.Times, 1))...)
	}
}
