package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// issuedAtEpoch is a binding whose credentials were issued at the epoch.
func issuedAtEpoch(edits ...func(*v1beta1.ServiceBinding)) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "uid", CreationTimestamp: metav1.Time{Time: epoch.Add(-time.Hour)}}}
	b.Spec.Rotation = &v1beta1.Rotation{}
	b.Status.Credentials = &v1beta1.CredentialsState{IssuedAt: &metav1.Time{Time: epoch}}
	b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{}
	for _, edit := range edits {
		edit(b)
	}
	return b
}

func after(d time.Duration) *metav1.Time { return &metav1.Time{Time: epoch.Add(d)} }

func expires(d time.Duration) func(*v1beta1.ServiceBinding) {
	return func(b *v1beta1.ServiceBinding) { b.Status.Credentials.ExpiresAt = after(d) }
}

func renews(d time.Duration) func(*v1beta1.ServiceBinding) {
	return func(b *v1beta1.ServiceBinding) { b.Status.Credentials.RenewBefore = after(d) }
}

func every(d time.Duration) func(*v1beta1.ServiceBinding) {
	return func(b *v1beta1.ServiceBinding) { b.Spec.Rotation.Every = &metav1.Duration{Duration: d} }
}

func requested(b *v1beta1.ServiceBinding) { b.Spec.Rotation.Requests++ }

func never(b *v1beta1.ServiceBinding) { b.Spec.Rotation.Policy = v1beta1.RotationNever }

func TestRotationDue(t *testing.T) {
	t.Parallel()
	const none = time.Duration(-1)
	// A quarter of the margin at most is taken away, by the binding.
	cases := map[string]struct {
		reason      string
		edits       []func(*v1beta1.ServiceBinding)
		least, most time.Duration
	}{
		"NoTimes":         {"they do not expire", nil, none, none},
		"NoRotation":      {"nothing is asked for", []func(*v1beta1.ServiceBinding){func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = nil }, expires(3 * time.Hour)}, 2 * time.Hour, 2*time.Hour + 15*time.Minute},
		"Expires":         {"a third of the lifetime before", []func(*v1beta1.ServiceBinding){expires(3 * time.Hour)}, 2 * time.Hour, 2*time.Hour + 15*time.Minute},
		"ExpiresLate":     {"no longer before than the margin", []func(*v1beta1.ServiceBinding){expires(3000 * time.Hour)}, 2999 * time.Hour, 2999*time.Hour + 15*time.Minute},
		"Renews":          {"shortly before the broker wants it", []func(*v1beta1.ServiceBinding){renews(100 * time.Minute), expires(1000 * time.Minute)}, 90 * time.Minute, 93 * time.Minute},
		"RenewsInThePast": {"that is no time: the expiry counts", []func(*v1beta1.ServiceBinding){renews(-time.Minute), expires(3 * time.Hour)}, 2 * time.Hour, 2*time.Hour + 15*time.Minute},
		"RenewsNow":       {"nor is that", []func(*v1beta1.ServiceBinding){renews(0)}, none, none},
		"Expired":         {"after a pause", []func(*v1beta1.ServiceBinding){expires(-time.Minute)}, 5 * time.Minute, 5 * time.Minute},
		"ExpiresAtOnce":   {"so is that", []func(*v1beta1.ServiceBinding){expires(0), renews(-time.Minute)}, 5 * time.Minute, 5 * time.Minute},
		"ExpiresSoon":     {"not before some seconds", []func(*v1beta1.ServiceBinding){expires(time.Second)}, 5 * time.Second, 5 * time.Second},
		"Every":           {"what the user wants, and not all at once", []func(*v1beta1.ServiceBinding){every(time.Hour)}, 54 * time.Minute, 55*time.Minute + 30*time.Second},
		"EverySecond":     {"but not all the time", []func(*v1beta1.ServiceBinding){every(time.Second)}, time.Minute, time.Minute},
		"EveryOrExpires":  {"the first of both", []func(*v1beta1.ServiceBinding){every(time.Hour), expires(30 * time.Minute)}, 20 * time.Minute, 22*time.Minute + 30*time.Second},
		"Requested":       {"now", []func(*v1beta1.ServiceBinding){requested, expires(time.Hour)}, 0, 0},
		"Served":          {"it was", []func(*v1beta1.ServiceBinding){requested, func(b *v1beta1.ServiceBinding) { b.Status.Credentials.Requests = 1 }}, none, none},
		"Lowered":         {"a counter that is lowered asks for nothing", []func(*v1beta1.ServiceBinding){func(b *v1beta1.ServiceBinding) { b.Status.Credentials.Requests = 1 }}, none, none},
		"Never":           {"whatever there is", []func(*v1beta1.ServiceBinding){never, requested, every(time.Hour), expires(time.Hour)}, none, none},
		"Unknown":         {"credentials of before there were records are as old as the binding", []func(*v1beta1.ServiceBinding){every(2 * time.Hour), func(b *v1beta1.ServiceBinding) { b.Status.Credentials = nil }}, 48 * time.Minute, 51 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			due := rotating.Due(issuedAtEpoch(tc.edits...))
			if tc.least == none {
				assert.True(t, due.IsZero(), tc.reason)
				return
			}
			assert.WithinRange(t, due, epoch.Add(tc.least), epoch.Add(tc.most), tc.reason)
		})
	}
}

// Bindings that were made together are not all replaced together.
func TestRotationIsSpread(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	for name, edit := range map[string]func(*v1beta1.ServiceBinding){"Expires": expires(month), "Renews": renews(month), "Every": every(month)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[time.Time]bool{}
			for _, uid := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				b := issuedAtEpoch(edit)
				b.UID = types.UID(uid)
				seen[rotating.Due(b)] = true
			}
			assert.Greater(t, len(seen), 4)
		})
	}
}

func TestRotationTurn(t *testing.T) {
	t.Parallel()
	predecessor := func(edit func(*v1beta1.BindingRotation)) func(*v1beta1.ServiceBinding) {
		return func(b *v1beta1.ServiceBinding) {
			b.Status.Rotation = &v1beta1.BindingRotation{Role: v1beta1.RotationPredecessor, RemoveAfter: after(time.Hour)}
			edit(b.Status.Rotation)
		}
	}
	as := func(*v1beta1.BindingRotation) {}
	overlap := func(d time.Duration) func(*v1beta1.ServiceBinding) {
		return func(b *v1beta1.ServiceBinding) { b.Spec.Rotation.Overlap = &metav1.Duration{Duration: d} }
	}
	long := overlap(2 * time.Hour)
	cases := map[string]struct {
		reason string
		edits  []func(*v1beta1.ServiceBinding)
		is     bool
		wait   time.Duration
	}{
		"Nothing":   {"no time is known", nil, false, 0},
		"Requested": {"now", []func(*v1beta1.ServiceBinding){requested}, true, 0},
		"Later":     {"when it is due", []func(*v1beta1.ServiceBinding){every(time.Hour)}, false, rotating.Due(issuedAtEpoch(every(time.Hour))).Sub(epoch.Add(time.Minute))},
		"Busy":      {"not while the one in force is called for", []func(*v1beta1.ServiceBinding){requested, func(b *v1beta1.ServiceBinding) { b.Status.CurrentOperation = v1beta1.BindingBind }}, false, 0},
		"Unbound":   {"nor while there is none", []func(*v1beta1.ServiceBinding){requested, func(b *v1beta1.ServiceBinding) { b.Status.ExternalProperties = nil }}, false, 0},
		"Successor": {"it is under way", []func(*v1beta1.ServiceBinding){func(b *v1beta1.ServiceBinding) {
			b.Status.Rotation = &v1beta1.BindingRotation{Role: v1beta1.RotationSuccessor}
		}}, true, 0},
		"Overlap":         {"until it is over", []func(*v1beta1.ServiceBinding){long, predecessor(as)}, false, 59 * time.Minute},
		"OverlapDefault":  {"the operator's", []func(*v1beta1.ServiceBinding){predecessor(as)}, false, 9 * time.Minute},
		"OverlapShorter":  {"it was shortened since", []func(*v1beta1.ServiceBinding){overlap(time.Second), predecessor(as)}, true, 0},
		"Removing":        {"what was begun is ended, although the overlap was made longer", []func(*v1beta1.ServiceBinding){long, predecessor(func(r *v1beta1.BindingRotation) { r.CurrentOperation = v1beta1.BindingUnbind })}, true, 0},
		"RequestedTwice":  {"a request waits for the overlap", []func(*v1beta1.ServiceBinding){long, requested, predecessor(as)}, false, 59 * time.Minute},
		"EveryIsShorter":  {"what is wished for more often than an overlap lasts ends that", []func(*v1beta1.ServiceBinding){long, every(time.Minute), predecessor(as)}, true, 0},
		"EveryIsLonger":   {"an overlap is not made longer", []func(*v1beta1.ServiceBinding){every(time.Hour), predecessor(as)}, false, 9 * time.Minute},
		"RenewsMeanwhile": {"an expiry does not", []func(*v1beta1.ServiceBinding){long, expires(time.Minute + 30*time.Second), predecessor(as)}, true, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := epoch.Add(time.Minute)
			if name == "RenewsMeanwhile" {
				now = epoch.Add(80 * time.Second)
			}
			is, wait := rotating.Turn(issuedAtEpoch(tc.edits...), now)
			assert.Equal(t, tc.is, is, tc.reason)
			assert.Equal(t, tc.wait, wait, tc.reason)
		})
	}
}

// What a clock ahead of this one stored is corrected by the next pass, and the time that it
// leads to comes.
func TestRotationByAnotherClock(t *testing.T) {
	t.Parallel()
	const far = 300 * 24 * time.Hour
	ahead := func(b *v1beta1.ServiceBinding) { b.Status.Credentials.IssuedAt = after(far) }
	former := func(b *v1beta1.ServiceBinding) {
		b.Status.Rotation = &v1beta1.BindingRotation{Role: v1beta1.RotationPredecessor, RemoveAfter: after(far)}
	}
	cases := map[string]struct {
		reason string
		edits  []func(*v1beta1.ServiceBinding)
		most   time.Duration
	}{
		"Every":         {"they are not younger than now", []func(*v1beta1.ServiceBinding){ahead, every(time.Hour)}, time.Hour},
		"Expires":       {"their own time counts", []func(*v1beta1.ServiceBinding){ahead, expires(3 * time.Hour)}, 3 * time.Hour},
		"ExpiresBefore": {"that is no time, and there is a pause", []func(*v1beta1.ServiceBinding){ahead, expires(-time.Hour)}, rotating.Pause},
		"Requested":     {"a request is for now", []func(*v1beta1.ServiceBinding){ahead, requested}, 0},
		"Predecessor":   {"it stays for the overlap", []func(*v1beta1.ServiceBinding){ahead, former}, rotating.Overlap},
		"RemoveAfter":   {"it stays for the overlap", []func(*v1beta1.ServiceBinding){former}, rotating.Overlap},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := issuedAtEpoch(tc.edits...)
			read := b.DeepCopy()
			b.Status = rotating.Dated(read, epoch)
			assert.Equal(t, issuedAtEpoch(tc.edits...), read, "what was read stays as it was")
			assert.Equal(t, epoch, b.Status.Credentials.IssuedAt.Time)
			is, wait := rotating.Turn(b, epoch)
			assert.LessOrEqual(t, wait, tc.most, tc.reason)
			now := epoch.Add(wait)
			if b.Status = rotating.Dated(b, now); !is {
				is, _ = rotating.Turn(b, now)
			}
			assert.True(t, is, "the time came: %s", tc.reason)
		})
	}
}

func TestCredentialsCurrent(t *testing.T) {
	t.Parallel()
	successor := func(edit func(*v1beta1.BindingRotation)) func(*v1beta1.ServiceBinding) {
		return func(b *v1beta1.ServiceBinding) {
			b.Status.Rotation = &v1beta1.BindingRotation{Role: v1beta1.RotationSuccessor, Message: "the broker says no", ExternalID: "new"}
			edit(b.Status.Rotation)
		}
	}
	tried := func(n int32) func(*v1beta1.ServiceBinding) {
		return successor(func(r *v1beta1.BindingRotation) { r.Retries = n })
	}
	cases := map[string]struct {
		reason string
		edits  []func(*v1beta1.ServiceBinding)
		status v1beta1.ConditionStatus
		want   string
	}{
		"NoTimes":    {"there is nothing to say", nil, "", ""},
		"Valid":      {"and replaced before", []func(*v1beta1.ServiceBinding){expires(time.Hour)}, v1beta1.ConditionTrue, ReasonCredentialsCurrent},
		"Renewed":    {"they do not expire", []func(*v1beta1.ServiceBinding){renews(time.Hour)}, v1beta1.ConditionTrue, ReasonCredentialsCurrent},
		"Never":      {"and said so", []func(*v1beta1.ServiceBinding){never, expires(time.Hour)}, v1beta1.ConditionTrue, ReasonCredentialsCurrent},
		"NeverLate":  {"no rotation is wanted", []func(*v1beta1.ServiceBinding){never, renews(time.Second), expires(time.Hour)}, v1beta1.ConditionTrue, ReasonCredentialsCurrent},
		"Late":       {"the broker's time has passed", []func(*v1beta1.ServiceBinding){renews(time.Second), expires(time.Hour)}, v1beta1.ConditionFalse, ReasonRotationLate},
		"Expired":    {"that is worst", []func(*v1beta1.ServiceBinding){tried(9), renews(time.Second), expires(time.Minute)}, v1beta1.ConditionFalse, ReasonCredentialsExpired},
		"Failing":    {"after some tries", []func(*v1beta1.ServiceBinding){tried(triesToRotate)}, v1beta1.ConditionFalse, ReasonRotationFailed},
		"TriedOnce":  {"which is nothing yet", []func(*v1beta1.ServiceBinding){tried(1)}, "", ""},
		"Waiting":    {"and why", []func(*v1beta1.ServiceBinding){successor(func(*v1beta1.BindingRotation) {})}, v1beta1.ConditionUnknown, ReasonRotationWaiting},
		"InProgress": {"nothing is wrong", []func(*v1beta1.ServiceBinding){expires(time.Hour), successor(func(r *v1beta1.BindingRotation) { r.CurrentOperation = v1beta1.BindingBind })}, v1beta1.ConditionTrue, ReasonCredentialsCurrent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := issuedAtEpoch(tc.edits...)
			b.Status.ObservedGeneration = 3
			now := epoch.Add(time.Minute)
			b.Status = rotating.Dated(b, now)
			found, has := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionCredentialsCurrent)
			assert.Equal(t, tc.want != "", has, tc.reason)
			assert.Equal(t, tc.status, found.Status, tc.reason)
			assert.Equal(t, tc.want, found.Reason, tc.reason)
			if tc.status == v1beta1.ConditionUnknown || tc.status == v1beta1.ConditionFalse && b.Status.Rotation != nil {
				assert.Contains(t, found.Message, "the broker says no", "why it is not done")
			}
			if has {
				assert.EqualValues(t, 3, found.ObservedGeneration)
			}
			b.Status.ExternalProperties = nil
			status := rotating.Dated(b, now)
			_, has = v1beta1.FindCondition(status.Conditions, v1beta1.ConditionCredentialsCurrent)
			assert.False(t, has, "nothing is said of credentials that there are not")
		})
	}
}

// What is fetched again, or asked for again, is as old as it was.
func TestNewCredentials(t *testing.T) {
	t.Parallel()
	b := issuedAtEpoch(requested, expires(time.Hour))
	b.Spec.ExternalID = "now"
	b.Status.Credentials.Predecessor = "former"
	fresh := NewCredentials(b, "next", 1, epoch.Add(time.Minute+time.Millisecond), epoch.Add(2*time.Hour+time.Millisecond), time.Time{})
	require.Equal(t, after(time.Minute), fresh.IssuedAt)
	require.Equal(t, after(2*time.Hour), fresh.ExpiresAt, "no later than it is")
	require.EqualValues(t, 1, fresh.Requests)
	require.Empty(t, fresh.Predecessor)
	again := NewCredentials(b, "now", 1, epoch.Add(time.Minute), time.Time{}, time.Time{})
	require.Equal(t, b.Status.Credentials, again)
}
