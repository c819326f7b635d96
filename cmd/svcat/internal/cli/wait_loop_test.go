package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A sequence is a source in a table: what each read returns, the last for ever, and the
// events of each watch, none after the last.
type sequence struct {
	reads   []result
	watches [][]watch.Event

	reading, watching int
	versions          []string
}

type result struct {
	object client.Object
	err    error
}

func (s *sequence) read(context.Context) (client.Object, string, error) {
	now := s.reads[min(s.reading, len(s.reads)-1)]
	s.reading++
	return now.object, string(rune('0' + s.reading)), now.err
}

func (s *sequence) watch(_ context.Context, version string) (watch.Interface, error) {
	s.versions = append(s.versions, version)
	s.watching++
	if s.watching > len(s.watches) {
		return nil, errors.New("watch is not allowed")
	}
	events := s.watches[s.watching-1]
	watcher := watch.NewFakeWithChanSize(len(events), false)
	for _, event := range events {
		watcher.Action(event.Type, event.Object)
	}
	if len(events) > 0 && events[len(events)-1].Type == watch.Error {
		watcher.Stop()
	}
	return watcher, nil
}

var (
	begun   = seen(at(2, v1beta1.Waiting("Provisioning", "")))
	usable  = seen(at(2, v1beta1.Ready("Done", "")))
	expired = apierrors.NewResourceExpired("too old")
)

func TestWaitLoop(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "mydb", errors.New("no"))
	other := seen()
	other.UID = "other"
	for name, c := range map[string]struct {
		reason string
		goal   goal
		source sequence
		code   int
		took   time.Duration
		told   string
	}{
		"AtOnce":      {"nothing to watch for", ready, sequence{reads: []result{{usable, nil}}}, 0, 0, "0s  mydb: Ready=True Done\n"},
		"Watched":     {"the watch tells", ready, sequence{reads: []result{{begun, nil}}, watches: [][]watch.Event{{{Type: watch.Modified, Object: usable}}}}, 0, 0, "0s  mydb: Ready=Unknown Provisioning\n0s  mydb: Ready=True Done\n"},
		"Expired":     {"410 costs one more read", ready, sequence{reads: []result{{begun, nil}, {usable, nil}}, watches: [][]watch.Event{{{Type: watch.Error, Object: &expired.ErrStatus}}}}, 0, time.Second, "0s  mydb: Ready=Unknown Provisioning\n1s  mydb: Ready=True Done\n"},
		"Unwatchable": {"a user who may not watch reads at --interval", ready, sequence{reads: []result{{begun, nil}, {begun, nil}, {usable, nil}}}, 0, 2 * time.Second, "0s  mydb: Ready=Unknown Provisioning\n2s  mydb: Ready=True Done\n"},
		"Away":        {"an API server that is away is tried again", ready, sequence{reads: []result{{nil, errors.New("refused")}, {nil, errors.New("refused")}, {usable, nil}}}, 0, 2 * time.Second, "0s  mydb: cannot look, trying again: refused\n2s  mydb: Ready=True Done\n"},
		"Forbidden":   {"a user who may not read cannot wait", ready, sequence{reads: []result{{nil, forbidden}}}, 1, 0, ""},
		"Deaf":        {"a watch that died without a word is begun again", ready, sequence{reads: []result{{begun, nil}, {usable, nil}}, watches: [][]watch.Event{{}}}, 0, 31 * time.Second, "0s  mydb: Ready=Unknown Provisioning\n30s  mydb: still waiting: Ready=Unknown Provisioning\n31s  mydb: Ready=True Done\n"},
		"Timeout":     {"it goes on without svcat", ready, sequence{reads: []result{{begun, nil}}, watches: [][]watch.Event{{}, {}}}, 4, 50 * time.Second, "0s  mydb: Ready=Unknown Provisioning\n30s  mydb: still waiting: Ready=Unknown Provisioning\n"},
		"Vanished":    {"what is deleted is never ready", ready, sequence{reads: []result{{begun, nil}}, watches: [][]watch.Event{{{Type: watch.Deleted, Object: begun}}}}, 3, 0, "0s  mydb: Ready=Unknown Provisioning\n"},
		"Replaced":    {"another of the name is not the one", gone, sequence{reads: []result{{other, nil}}}, 0, 0, ""},
		"Gone":        {"the watch tells", gone, sequence{reads: []result{{begun, nil}}, watches: [][]watch.Event{{{Type: watch.Deleted, Object: begun}}}}, 0, 0, "0s  mydb: Ready=Unknown Provisioning\n"},
		"FailedGone":  {"a failure is not the end of a deletion", gone, sequence{reads: []result{{seen(at(2, v1beta1.Failed("No", ""))), nil}, {nil, nil}}}, 0, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Second, errTimeout)
				defer cancel()
				var told bytes.Buffer
				object := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb", UID: "uid"}}
				source := c.source.of("uid")
				began := time.Now()
				w := &wait{object: object, goal: c.goal, source: source, progress: &progress{out: &told, started: began}, interval: time.Second, timeout: 50 * time.Second}
				err := w.run(ctx)
				assert.Equal(t, c.code, ExitCode(err), "%s: %v", c.reason, err)
				assert.Equal(t, c.took, time.Since(began), c.reason)
				assert.Equal(t, c.told, told.String(), c.reason)
			})
		})
	}
}

// of gives the objects of a sequence a UID, where they have none.
func (s *sequence) of(uid string) *sequence {
	named := func(object client.Object) client.Object {
		i, ok := object.(*v1beta1.ServiceInstance)
		if !ok || i.UID != "" {
			return object
		}
		i = i.DeepCopy()
		i.UID = "uid"
		return i
	}
	told := &sequence{}
	for _, l := range s.reads {
		told.reads = append(told.reads, result{named(l.object), l.err})
	}
	for _, events := range s.watches {
		var copied []watch.Event
		for _, event := range events {
			if object, ok := event.Object.(client.Object); ok {
				event.Object = named(object)
			}
			copied = append(copied, event)
		}
		told.watches = append(told.watches, copied)
	}
	return told
}

// Ctrl-C says what stands, and that it goes on.
func TestWaitInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		w := &wait{object: seen(), goal: ready, source: (&sequence{reads: []result{{begun, nil}}, watches: [][]watch.Event{{}}}), progress: &progress{out: &bytes.Buffer{}, started: time.Now()}, interval: time.Second}
		err := w.run(ctx)
		require.EqualError(t, err, `interrupted: instance "mydb" stands but is not ready: Ready=Unknown Provisioning; it goes on in the cluster: see svcat describe instance mydb -n dev`)
		assert.Equal(t, ExitInterrupted, ExitCode(err))
	})
}

// A held source answers nothing: neither reads, as an API server that hangs, nor
// watches, whose client tries again by itself for a while.
type held struct {
	*sequence

	reads bool
}

func (h *held) read(ctx context.Context) (client.Object, string, error) {
	if h.reads {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}
	return h.sequence.read(ctx)
}

func (h *held) watch(ctx context.Context, _ string) (watch.Interface, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// What could not be read is not reported as never seen.
func TestWaitBlind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		source held
		code   int
		took   time.Duration
		says   string
	}{
		"Held": {
			"the API server hangs", held{reads: true}, 4, 5 * time.Second,
			`it is not known what became of instance "mydb" after 5s: could not look: the API server has not answered for 5s; it goes on in the cluster: see svcat describe instance mydb -n dev`,
		},
		"Refused": {
			"it says why", held{sequence: &sequence{reads: []result{{nil, errors.New("come later")}}}}, 4, 5 * time.Second,
			`it is not known what became of instance "mydb" after 5s: could not look: come later; it goes on in the cluster: see svcat describe instance mydb -n dev`,
		},
		"Watchless": {
			"a watch that does not begin is looked past, twice --interval later",
			held{sequence: &sequence{reads: []result{{begun, nil}, {usable, nil}}}}, 0, 2 * time.Second, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, errTimeout)
				defer cancel()
				source, started := c.source, time.Now()
				w := &wait{object: seen(), goal: ready, source: &source, progress: &progress{out: &bytes.Buffer{}, started: started}, interval: time.Second, timeout: 5 * time.Second}
				err := w.run(ctx)
				assert.Equal(t, c.code, ExitCode(err), c.reason)
				assert.Equal(t, c.took, time.Since(started), c.reason)
				if c.says != "" {
					assert.EqualError(t, err, c.says, c.reason)
				}
			})
		})
	}
}

func TestWaitFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason, timeout, interval string
		want                      time.Duration
		wrong                     string
	}{
		"Times":       {"as they are", "1h", "2s", time.Hour, ""},
		"ForEver":     {"-1 as ever", "-1", "1s", 0, ""},
		"Negative":    {"only -1", "-2s", "1s", 0, "--timeout"},
		"Zero":        {"no time at all", "0s", "1s", 0, "--timeout"},
		"NoUnit":      {"what of?", "5", "1s", 0, "--timeout"},
		"BadInterval": {"the other flag", "1m", "often", time.Minute, "--interval"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := WaitFlags{rawTimeout: c.timeout, rawInterval: c.interval}
			err := w.Validate()
			if c.wrong != "" {
				assert.ErrorContains(t, err, c.wrong, c.reason)
				assert.Equal(t, ExitUsage, ExitCode(err))
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, c.want, w.timeout, c.reason)
		})
	}
}
