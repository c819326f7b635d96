package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reminder is how often it says what it waits for, and reads again: a watch may end
// unnoticed.
const reminder = 30 * time.Second

// apiServer is the subject of a report while nothing can be read.
const apiServer = "API server"

// A source is where the versions of one object come from.
type source interface {
	// read reads it; nil: it does not exist. It can be watched from the version on.
	read(ctx context.Context) (object client.Object, version string, err error)
	watch(ctx context.Context, version string) (watch.Interface, error)
}

// A wait is for one object.
type wait struct {
	// object is as it was last seen.
	object            client.Object
	goal              goal
	source            source
	progress          *progress
	interval, timeout time.Duration

	// reported is what was last said of each condition.
	reported map[string]string
	// missing says that the object does not exist.
	missing bool
	// blind says why it is not known what the object is like now; empty: it is known.
	blind string
}

// run reads the object, and then watches it until the watch ends; then it reads it again. So
// nothing that happens while no watch is open is missed, and an API server that no longer
// knows a version (410) costs one more read.
func (w *wait) run(ctx context.Context) error {
	w.reported = map[string]string{}
	remind := time.NewTicker(reminder)
	defer remind.Stop()
	for {
		version, err := w.read(ctx)
		if err != nil {
			return err
		}
		if done, err := w.reached(); done {
			return err
		}
		if done, err := w.follow(ctx, version, remind.C); done {
			return err
		}
		select {
		case <-ctx.Done():
			return w.cut(ctx)
		case <-remind.C:
			w.remind()
		case <-time.After(w.interval):
		}
	}
}

// read reads the object, and tries again until it can be read or must not be.
func (w *wait) read(ctx context.Context) (version string, err error) {
	for {
		began := time.Now()
		object, version, err := w.source.read(ctx)
		switch {
		case err == nil:
			delete(w.reported, apiServer)
			w.blind = ""
			w.observe(object)
			return version, nil
		case ctx.Err() != nil:
			if silent := time.Since(began); silent >= w.interval {
				w.blind = fmt.Sprintf("could not look: the API server has not answered for %s", silent.Round(time.Second))
			}
			return "", w.cut(ctx)
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), errors.Is(err, errUnwatchable):
			return "", fmt.Errorf("cannot wait for %s: %w", nameOf(w.object), err)
		}
		w.blind = "could not look: " + err.Error()
		w.say(apiServer, "cannot look, trying again: "+err.Error())
		select {
		case <-ctx.Done():
			return "", w.cut(ctx)
		case <-time.After(w.interval):
		}
	}
}

// follow watches the object; it is not done if the watch is.
func (w *wait) follow(ctx context.Context, version string, remind <-chan time.Time) (done bool, err error) {
	watcher, err := w.watch(ctx, version)
	if err != nil { // a user who may not watch reads again, at --interval
		return false, nil
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return true, w.cut(ctx)
		case <-remind:
			w.remind()
			return false, nil
		case event, open := <-watcher.ResultChan():
			object, _ := event.Object.(client.Object)
			switch {
			case !open || event.Type == watch.Error || object == nil:
				return false, nil
			case event.Type == watch.Deleted:
				object = nil
			}
			w.observe(object)
			if done, err := w.reached(); done {
				return true, err
			}
		}
	}
}

// watch begins to watch. What has not begun after --interval is given up: the client
// would try for longer by itself, and nothing would be read meanwhile.
func (w *wait) watch(ctx context.Context, version string) (watch.Interface, error) {
	watching, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(w.interval, cancel)
	watcher, err := w.source.watch(watching, version)
	if err == nil && late.Stop() {
		return &stoppable{watcher, cancel}, nil
	}
	cancel()
	if err == nil {
		watcher.Stop()
		err = context.Canceled
	}
	return nil, err
}

// A stoppable watch lets go of its context when it is stopped.
type stoppable struct {
	watch.Interface

	cancel context.CancelFunc
}

// Stop ends the watch.
func (s *stoppable) Stop() {
	s.Interface.Stop()
	s.cancel()
}

// observe takes over the object as it is now, and reports what is new.
func (w *wait) observe(object client.Object) {
	// Another object of the same name is not the one.
	w.missing = object == nil || w.object.GetUID() != "" && object.GetUID() != w.object.GetUID()
	if w.missing {
		return
	}
	CopyInto(w.object, object)
	for _, condition := range stateOf(w.object).current() {
		w.say(condition.Type, textOf(condition))
	}
}

// say reports something once, until it changes.
func (w *wait) say(about, text string) {
	if w.reported[about] != text {
		w.reported[about] = text
		w.progress.line(w.object.GetName(), text)
	}
}

func (w *wait) remind() {
	w.progress.line(w.object.GetName(), "still waiting: "+w.state())
}

// state is what is known of the object in a few words.
func (w *wait) state() string { return cmp.Or(w.blind, stateOf(w.object).text()) }

// reached says whether the wait is over, and how.
func (w *wait) reached() (bool, error) {
	if w.goal == gone {
		return w.missing, nil
	}
	if w.missing {
		return true, &Failure{ExitObjectFailed, fmt.Errorf("%s was deleted meanwhile", nameOf(w.object))}
	}
	done, failure := readiness(w.object)
	if failure != "" {
		return true, &Failure{ExitObjectFailed, fmt.Errorf("%s %s; see %s", nameOf(w.object), failure, describing(w.object))}
	}
	return done, nil
}

// cut is the end of a wait that was not over: what stands, and what goes on.
func (w *wait) cut(ctx context.Context) error {
	what, after := nameOf(w.object)+" "+w.goal.unmet(), ""
	if w.blind != "" {
		what = "it is not known what became of " + nameOf(w.object)
	}
	code, lead := ExitInterrupted, "interrupted: "
	if errors.Is(context.Cause(ctx), errTimeout) {
		code, lead, after = ExitTimeout, "", " after "+w.timeout.String()
	}
	return &Failure{code, fmt.Errorf("%s%s%s: %s; it goes on in the cluster: see %s", lead, what, after, w.state(), describing(w.object))}
}
