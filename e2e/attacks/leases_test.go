package attacks_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestStolenTokenAndTheLeases: keeper and controllers make no Lease but their own, so that
// nothing is elected by one of theirs, which no role can say; a ServiceAccount of another
// product is not meant.
func TestStolenTokenAndTheLeases(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	lease := func(name string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: name}}
	}
	const east, dashboard = controllerUser + "-east", "system:serviceaccount:defaultplan-system:defaultplan-dashboard"
	for _, user := range []string{east, dashboard} { // The others have what is shipped.
		e.GrantClusterRole(user, "cluster-admin")
	}
	for user, own := range map[string]string{
		keeperUser: "defaultplan-keeper", controllerUser: "defaultplan-controller", east: "defaultplan-controller-east",
	} {
		thief := e.As(user).Client()
		for _, other := range []string{"defaultplan-keeper", "defaultplan-controller", own + "-2", "kube-scheduler"} {
			if other != own {
				forbidden(t, thief.Create(t.Context(), lease(other), client.DryRunAll), "the only Lease to create is "+own, other)
			}
		}
		err := thief.Create(t.Context(), lease(own), client.DryRunAll)
		assert.NoError(t, client.IgnoreAlreadyExists(err), own)
	}
	assert.NoError(t, e.As(dashboard).Client().Create(t.Context(), lease("dashboard-lock"), client.DryRunAll))
}

// firstRun is the annotation of the keeper's Lease.
const firstRun = "servicecatalog.k8s.io/first-run"

// A leaseEdit changes a Lease.
type leaseEdit = func(*coordinationv1.Lease)

// owned has the garbage collector delete a Lease: there is no such owner.
func owned(l *coordinationv1.Lease) {
	l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "gone", UID: "gone"}}
}

// runsFirst writes when a keeper first ran.
func runsFirst(text string) leaseEdit {
	return func(l *coordinationv1.Lease) { l.Annotations = map[string]string{firstRun: text} }
}

// leaseCreations are Leases of its own name that a leader does not create.
var leaseCreations = map[string]leaseEdit{
	"a first run":        runsFirst("2099-01-01T00:00:00Z"),
	"a label":            func(l *coordinationv1.Lease) { l.Labels = map[string]string{"a": "b"} },
	"an owner":           owned,
	"two leaders":        func(l *coordinationv1.Lease) { l.Spec.LeaseTransitions = new(int32(2)) },
	"more than a minute": func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = new(int32(61)) },
}

// firstRuns are first runs that are written where there is none, and whether they may be.
var firstRuns = map[string]bool{"9999-99-99T99:99:99Z": false, "2026-02-31T00:00:00Z": false, "0001-01-01T00:00:00Z": false, "": true, "2026-11-25T18:45:11Z": true}

// leaseUpdates are changes of a Lease that a user has labelled and annotated,
// and what is said of those that are refused.
var leaseUpdates = map[string]struct {
	edit leaseEdit
	says string
}{
	"Renewed":       {edit: func(l *coordinationv1.Lease) { l.Spec.RenewTime = new(metav1.NowMicro()) }},
	"Released":      {edit: func(l *coordinationv1.Lease) { l.Spec = coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(1))} }},
	"NextLeader":    {edit: func(l *coordinationv1.Lease) { *l.Spec.LeaseTransitions++ }},
	"LastLeader":    {edit: func(l *coordinationv1.Lease) { l.Spec.LeaseTransitions = new(int32(math.MaxInt32)) }, says: "spec.leaseTransitions grows by one"},
	"For68Years":    {edit: func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = new(int32(math.MaxInt32)) }, says: "spec.leaseDurationSeconds of a leader is at most 60"},
	"LongName":      {edit: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new(strings.Repeat("x", 301)) }, says: "at most 300 characters"},
	"Owned":         {edit: owned, says: "gives its Lease no owner and no finalizer"},
	"NeverDeleted":  {edit: func(l *coordinationv1.Lease) { l.Finalizers = []string{"example.com/stays"} }, says: "gives its Lease no owner and no finalizer"},
	"Label":         {edit: func(l *coordinationv1.Lease) { l.Labels["filling"] = "" }, says: "no label and no annotation"},
	"LabelChanged":  {edit: func(l *coordinationv1.Lease) { l.Labels["a"] = "c" }, says: "no label and no annotation"},
	"Annotation":    {edit: func(l *coordinationv1.Lease) { l.Annotations["filling"] = "x" }, says: "no label and no annotation"},
	"FirstRunLater": {edit: func(l *coordinationv1.Lease) { l.Annotations[firstRun] = "2099-01-01T00:00:00Z" }, says: "is a time, and written once"},
	"FirstRunGone":  {edit: func(l *coordinationv1.Lease) { delete(l.Annotations, firstRun) }, says: "is a time, and written once"},
}

// TestStolenTokenAndItsLease: what a leader's token writes to the Lease of its name does not
// outlive the token; what others put there is in no leader's way.
func TestStolenTokenAndItsLease(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	own := "defaultplan-controller-" + e.Namespace
	user := "system:serviceaccount:defaultplan-system:" + own
	e.GrantClusterRole(user, "cluster-admin")
	thief := e.As(user).Client()
	stored := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: own}}
	stored.Spec.LeaseDurationSeconds, stored.Spec.LeaseTransitions = new(int32(60)), new(int32(1))
	changed := func(edit leaseEdit) *coordinationv1.Lease {
		l := stored.DeepCopy()
		edit(l)
		return l
	}
	for what, edit := range leaseCreations {
		assert.True(t, apierrors.IsForbidden(thief.Create(t.Context(), changed(edit), client.DryRunAll)), what)
	}
	require.NoError(t, thief.Create(t.Context(), stored))
	defer e.Delete(stored)
	for text, allowed := range firstRuns {
		err := thief.Update(t.Context(), changed(runsFirst(text)), client.DryRunAll)
		assert.Equal(t, allowed, err == nil, "%q: %v", text, err)
	}

	stored.Annotations = map[string]string{firstRun: "2026-11-25T18:45:11Z", "argocd.argoproj.io/tracking-id": "a"}
	stored.Labels, stored.Finalizers = map[string]string{"a": "b"}, []string{"example.com/kept"}
	require.NoError(t, e.Client().Update(t.Context(), stored))
	defer func() {
		stored.Finalizers = nil
		require.NoError(t, e.Client().Update(t.Context(), stored))
	}()
	for name, tc := range leaseUpdates {
		err := thief.Update(t.Context(), changed(tc.edit), client.DryRunAll)
		if tc.says == "" {
			assert.NoError(t, err, name)
			continue
		}
		forbidden(t, err, tc.says, name)
	}

	stored.Annotations[firstRun] = "no time"
	require.NoError(t, e.Client().Update(t.Context(), stored))
	mended := changed(func(l *coordinationv1.Lease) { l.Annotations[firstRun] = "2026-11-25T19:00:00Z" })
	assert.NoError(t, thief.Update(t.Context(), mended, client.DryRunAll), "a keeper replaces what is no time")
}
