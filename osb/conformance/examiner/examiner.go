package examiner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/defaultplan/defaultplan/osb/conformance"
)

// Parameters are what the broker's plan needs to be given, as JSON objects; nil for none.
type Parameters struct {
	Provision json.RawMessage `json:"provision,omitempty"`
	Update    json.RawMessage `json:"update,omitempty"`
	Bind      json.RawMessage `json:"bind,omitempty"`
}

// Options are what to judge, and how.
type Options struct {
	// URL is the broker's, without /v2.
	URL string
	// Username and Password are for basic authentication, and Token is a bearer; all empty for
	// none.
	Username, Password, Token string
	// APIVersion is which version to speak.
	APIVersion string
	// Service and Plan are names or IDs of what to make instances of; empty for the first.
	Service, Plan string
	Parameters    Parameters
	HTTP          *http.Client
	// PollInterval is the least time between polls, and Patience the most that an operation is
	// waited for, or that the removal of everything takes.
	PollInterval, Patience time.Duration
}

// An examiner judges one broker.
type examiner struct {
	client

	ctx     context.Context //nolint:containedctx // an examination is one call of Examine
	options *Options
	sheet   *conformance.Sheet
	service *service
	plan    *plan
	ledger  ledger
	// hurried says that operations are asked for as asynchronous ones at once, and that
	// creations are halted.
	hurried bool
	// refusal says why nothing more can be judged.
	refusal error
}

// Examine judges a broker. The report is there also with an error, which says why the
// examination did not come to its end.
func Examine(ctx context.Context, o Options) (conformance.Report, error) {
	e := &examiner{
		client:  client{http: plain(o.HTTP), url: o.URL, username: o.Username, password: o.Password, token: o.Token, version: o.APIVersion},
		ctx:     ctx,
		options: &o, sheet: conformance.NewSheet(conformance.Broker, o.APIVersion),
	}
	r := &runner{e}
	err := e.examine(r)
	e.explain()
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("the examination was ended: %w", ctx.Err())
	}
	return e.sheet.Report(), err
}

// plain is a client that follows no redirection: an answer is judged as it is.
func plain(given *http.Client) *http.Client {
	c := *given
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// examine goes through all phases.
func (e *examiner) examine(r *runner) error {
	// Also after a panic.
	defer func() {
		e.ctx = context.WithoutCancel(e.ctx)
		r.cleanUp()
	}()
	c, i := &catalogs{e}, &instances{r, &bindings{r}}
	if err := c.readCatalog(); err != nil {
		return err
	}
	for _, phase := range []func(){
		c.checkAccess, i.checkAbsent, i.checkRefused, i.live, i.race, i.hurry, i.halt, c.readCatalogAgain,
	} {
		if e.ctx.Err() != nil || e.refusal != nil {
			break
		}
		phase()
	}
	return e.refusal
}

// ask sends a request, and judges what holds for every answer.
func (e *examiner) ask(r request) answer {
	a, err := e.send(e.ctx, r)
	if err != nil {
		return answer{}
	}
	e.checkError(r, a)
	return a
}

// judgef keeps or breaks a rule, unless the examination has ended: then an answer is missing
// for that reason.
func (e *examiner) judgef(id string, kept bool, format string, values ...any) {
	if e.ctx.Err() == nil {
		e.sheet.Judge(id, kept, fmt.Sprintf(format, values...))
	}
}

// checkError judges the fields of a refusal.
func (e *examiner) checkError(r request, a answer) {
	if a.status < http.StatusBadRequest || a.body == nil {
		return
	}
	for id, field := range map[string]string{"ERR-1": "error", "ERR-2": "description"} {
		if value, has := a.body[field]; has {
			text, _ := value.(string)
			e.judgef(id, text != "", "%s: %s of a %d is no text", r.method, field, a.status)
		}
	}
	e.checkFlags(a, r.method == http.MethodPatch, r.method == http.MethodDelete && !bindingPath(r.path))
}

// checkFlags judges whether an error says what only errors of some operations say.
func (e *examiner) checkFlags(a answer, update, deprovision bool) {
	_, usable := a.body["instance_usable"]
	_, repeatable := a.body["update_repeatable"]
	e.judgef("ERR-3", (!usable || update || deprovision) && (!repeatable || update), "a field that is for errors of other operations, with a %d", a.status)
}

// errRefused says that nothing could be made, so that nothing more can be judged.
var errRefused = errors.New("the broker refused to provision an instance; give it the parameters that the plan needs")

// wait lets time pass, unless the examination ends.
func (e *examiner) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.ctx.Done():
	}
}

// supports says whether the version that is spoken has what a later one added.
func (e *examiner) supports(since string) bool { return conformance.AtLeast(e.version, since) }
