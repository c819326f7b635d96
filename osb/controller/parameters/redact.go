package parameters

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// shortestRedacted is the length, in bytes, below which a value is not redacted
// in a broker's text: a parameter "a" would make it unreadable.
const shortestRedacted = 4

// cutMark is how the client ends a text that it cut.
const cutMark = "…"

// A Redactor removes parameters from the messages of brokers: some quote a
// rejected request.
type Redactor struct {
	// secrets removes the values from Secrets, all those of every parameter.
	secrets, all *eraser
	// unread says that there are Secrets whose values are not known.
	unread bool
}

// unshown stands for a text in which there may be values that are not known.
const unshown = "the broker's text is not shown, because a Secret of parametersFrom cannot be read"

// Knows says that there is something to take out.
func (r Redactor) Knows() bool { return r.all != nil }

// redactorOf finds the texts within parameters, and within those of them that come from
// Secrets.
func redactorOf(all, fromSecrets map[string]any) Redactor {
	return Redactor{secrets: newEraser(fromSecrets), all: newEraser(all)}
}

// partly is redactorOf where not all Secrets were read.
func partly(all, fromSecrets map[string]any) Redactor {
	r := redactorOf(all, fromSecrets)
	r.unread = true
	return r
}

// An eraser removes values from texts.
type eraser struct {
	// forms are how the values may be written, the longest first: one may be within
	// another.
	forms []string
}

func newEraser(values map[string]any) *eraser {
	var found []string
	collect(values, &found)
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return &eraser{forms: slices.Compact(found)}
}

// erase removes the values, and the beginning of a value at the end of a text
// that was cut there.
func (e *eraser) erase(text string) string {
	text = strings.NewReplacer(e.replacements(text)...).Replace(text)
	rest, wasCut := strings.CutSuffix(text, cutMark)
	if !wasCut {
		return text
	}
	for _, form := range e.forms {
		for length := min(len(form)-1, len(rest)); length >= shortestRedacted; length-- {
			if begun, ok := strings.CutSuffix(rest, form[:length]); ok {
				return begun + v1beta1.Redacted + cutMark
			}
		}
	}
	return text
}

// replacements are pairs of a value and what stands for it. Only values that occur in
// the text are passed to strings.NewReplacer, whose preparation takes time quadratic in
// the length of a value, and parameters are much longer than a broker's messages.
func (e *eraser) replacements(text string) []string {
	var pairs []string
	for _, form := range e.forms {
		if strings.Contains(text, form) {
			pairs = append(pairs, form, v1beta1.Redacted)
		}
	}
	return pairs
}

func collect(value any, into *[]string) {
	switch v := value.(type) {
	case string:
		collectForms(v, into)
	case json.Number:
		collectForms(v.String(), into)
	case []any:
		for _, item := range v {
			collect(item, into)
		}
	case map[string]any:
		for _, item := range v {
			collect(item, into)
		}
	}
}

func collectForms(text string, into *[]string) {
	for _, form := range osb.WrittenForms(text) {
		if len(form) >= shortestRedacted {
			*into = append(*into, form)
		}
	}
}

// CallResult removes values from Secrets from a result, whose texts are stored in
// status.
func (r Redactor) CallResult(reply *lifecycle.CallResult) {
	if r.secrets == nil {
		return
	}
	if failed := (*osb.Error)(nil); errors.As(reply.Err, &failed) {
		clean := *failed
		clean.Description, clean.Unlawful = r.shown(failed.Description), r.shown(failed.Unlawful)
		if clean.Code = r.secrets.erase(failed.Code); r.unread {
			clean.Code = ""
		}
		reply.Err = &clean
	}
	if reply.Poll != nil {
		reply.Poll.Description = r.shown(reply.Poll.Description)
	}
}

// shown is a broker's text as it is stored.
func (r Redactor) shown(text string) string {
	if r.unread && text != "" {
		return unshown
	}
	return r.secrets.erase(text)
}

// Text removes every parameter from a text for a log or an event.
func (r Redactor) Text(text string) string {
	if r.all == nil {
		return text
	}
	return r.all.erase(text)
}
