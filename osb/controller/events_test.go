package controller

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A toldEvent is what a recorder was told.
type toldEvent struct{ kind, reason, note string }

type noteTaker struct{ told []toldEvent }

// Eventf notes an event as the API server would be sent it.
func (n *noteTaker) Eventf(_ runtime.Object, _ runtime.Object, kind, reason, _, note string, args ...any) {
	if note == "%s" && len(args) == 1 {
		note, _ = args[0].(string)
	}
	n.told = append(n.told, toldEvent{kind, reason, note})
}

func TestEventsTell(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		event  *lifecycle.Event
		want   []toldEvent
	}{
		"Nothing": {reason: "nothing happened"},
		"Normal":  {reason: "it went well", event: &lifecycle.Event{Reason: "Did", Message: "it was done"}, want: []toldEvent{{corev1.EventTypeNormal, "Did", "it was done"}}},
		"Warning": {reason: "it did not", event: &lifecycle.Event{Warning: true, Reason: "Failed", Message: "it failed"}, want: []toldEvent{{corev1.EventTypeWarning, "Failed", "it failed"}}},
		"PerCent": {reason: "a broker's text is no format", event: &lifecycle.Event{Reason: "Did", Message: "100%d"}, want: []toldEvent{{corev1.EventTypeNormal, "Did", "100%d"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taker := &noteTaker{}
			(&events{recorder: taker}).tell(&v1beta1.ServiceBinding{}, tc.event)
			assert.Equal(t, tc.want, taker.told)
		})
	}
}

// The API server refuses an event of more bytes, and one that is not UTF-8.
func TestEventsAreCut(t *testing.T) {
	t.Parallel()
	taker := &noteTaker{}
	(&events{recorder: taker}).tell(&v1beta1.ServiceBinding{}, &lifecycle.Event{Message: "a" + strings.Repeat("é", 1024)})
	note := taker.told[0].note
	assert.LessOrEqual(t, len(note), 1024)
	assert.Greater(t, len(note), 1020)
	assert.True(t, utf8.ValidString(note))
}
