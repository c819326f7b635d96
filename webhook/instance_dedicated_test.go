package webhook

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const goldenDedicatedDenials = "testdata/denials_dedicated.golden"

// A claimEnv has a stored claim, creds, of UID uid-creds.
type claimEnv struct {
	*env

	claim *v1beta1.ServiceBinding
}

// claimed stores a claim of alice's, less what edits change of it; the env is then the controller's.
func newClaimEnv(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *claimEnv {
	t.Helper()
	w := stocked(t, db, claimDefaults("")...).env()
	w.user.Groups = []string{"devs"}
	stored := w.bindTo(`{"serviceType":"mysql","provisionParameters":{"zone":null}}`).admitted()
	claim := &v1beta1.ServiceBinding{}
	require.NoError(t, json.Unmarshal(stored, claim))
	claim.UID = "uid-creds"
	for _, edit := range edits {
		edit(claim)
	}
	w.restock(stocked(t, db, append(claimDefaults(""), func(s *stock) { s.objects = append(s.objects, claim) }, ruled("deny x type=mysql", "bind-deny y type=mysql"))...))
	w.user.Username, w.user.Groups = options.New().Controllers[0], nil
	return &claimEnv{w, claim}
}

// own is the instance that the controller creates for the claim, less what edits change of it.
func (w *claimEnv) own(edits ...func(*v1beta1.ServiceInstance)) []byte {
	w.tb.Helper()
	instance, err := v1beta1.DedicatedInstance(w.claim)
	require.NoError(w.tb, err)
	for _, edit := range edits {
		edit(instance)
	}
	raw, err := json.Marshal(instance)
	require.NoError(w.tb, err)
	return raw
}

// The controller's instance is taken as it is: no default is merged, no policy judged, and its user is the claim's. It has
// an ID that was minted for it, and what every instance gets.
func TestDedicatedInstance(t *testing.T) {
	t.Parallel()
	w := newClaimEnv(t)
	given := w.own()
	o := w.write(given, nil)
	stored := o.admitted()
	assert.Empty(t, o.warnings())
	assert.Equal(t, map[string]string{"rule": "cluster-default", "plan": "db/small", "own-of": "creds"}, o.mutate.AuditAnnotations)
	instance := &v1beta1.ServiceInstance{}
	require.NoError(t, json.Unmarshal(stored, instance))
	assert.Equal(t, w.claim.Spec.UserInfo, instance.Spec.UserInfo)
	assert.Equal(t, []string{"devs"}, instance.Spec.UserInfo.Groups)
	assert.JSONEq(t, `{"zone":null,"net":{"mtu":1400},"size":1}`, string(instance.Spec.Parameters.Raw))
	assert.Equal(t, []string{v1beta1.FinalizerServiceCatalog}, instance.Finalizers)
	assert.Equal(t, instance.Spec.ExternalID, instance.Annotations[v1beta1.AnnotationMintedExternalID])
	assert.NotEmpty(t, instance.Spec.ExternalID)
	assert.NotEqual(t, w.claim.Spec.ExternalID, instance.Spec.ExternalID)
	assert.Equal(t, v1beta1.HashLabelValue("db-small"), instance.Labels[v1beta1.LabelClusterServicePlanRefName])
	applied, err := v1beta1.ParseAppliedDefaults(instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	require.NoError(t, err)
	assert.Equal(t, []string{"/zone"}, applied.Removed, "a broker is not sent what a null took away")
	assert.Nil(t, applied.Provision)

	again := w.write(given, nil).admitted()
	assert.NotEqual(t, at(t, stored, "/spec/externalID"), at(t, again, "/spec/externalID"), "each object has an ID of its own")
	assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is settled")
}

// Where the claim was written by hand in another order of keys, it is the same still.
func TestDedicatedInstanceIsComparedAsJSON(t *testing.T) {
	t.Parallel()
	w := newClaimEnv(t)
	w.write(w.own(func(i *v1beta1.ServiceInstance) {
		i.Spec.Parameters.Raw = []byte(`{"size":1, "net":{"mtu":1400},"zone":null}`)
	}), nil).admitted()
}

type forgedCase struct {
	reason string
	user   string
	claim  func(*v1beta1.ServiceBinding)
	own    func(*v1beta1.ServiceInstance)
	denied string
}

func forgedInstances() map[string]forgedCase {
	edit := func(reason string, own func(*v1beta1.ServiceInstance)) forgedCase {
		return forgedCase{reason: reason, own: own, denied: "DedicatedForged"}
	}
	of := func(reason string, claim func(*v1beta1.ServiceBinding)) forgedCase {
		return forgedCase{reason: reason, claim: claim, own: func(i *v1beta1.ServiceInstance) { i.OwnerReferences[0].UID = "uid-creds" }, denied: "DedicatedForged"}
	}
	unowned := func(i *v1beta1.ServiceInstance) {
		i.OwnerReferences, i.Annotations, i.Spec.DecidedReference, i.Spec.UserInfo = nil, nil, v1beta1.DecidedReference{}, nil
	}
	return map[string]forgedCase{
		"ByUser":        {reason: "Attack: a user makes it.", user: "alice", denied: "DedicatedForged"},
		"ByOtherSystem": {reason: "Or another account of the system.", user: "system:serviceaccount:defaultplan-system:defaultplan-webhook", denied: "DedicatedForged"},
		"NameTaken":     {reason: "Attack: the name is taken before the controller can.", user: "alice", own: unowned, denied: "DedicatedForged"},
		"OtherParameters": edit("Even the controller makes what was decided.", func(i *v1beta1.ServiceInstance) {
			i.Spec.Parameters.Raw = []byte(`{"size":"` + canary + `"}`)
		}),
		"OtherPlan": edit("No other plan.", func(i *v1beta1.ServiceInstance) { i.Spec.ClusterServicePlanRef.Name = "db-large" }),
		"OtherUser": edit("In no other name.", func(i *v1beta1.ServiceInstance) { i.Spec.UserInfo.Username = "bob" }),
		"ChosenID":  edit("With no ID of its choosing.", func(i *v1beta1.ServiceInstance) { i.Spec.ExternalID = "e-1" }),
		"Shared":    edit("Shared with no namespace.", func(i *v1beta1.ServiceInstance) { i.Spec.Sharing = &v1beta1.Sharing{Namespaces: []string{"prod"}} }),
		"OtherName": edit("By no other name.", func(i *v1beta1.ServiceInstance) { i.Name = "creds" }),
		"OtherRecord": edit("With no other record.", func(i *v1beta1.ServiceInstance) {
			i.Annotations[v1beta1.AnnotationAppliedDefaults] = `{"rule":"named"}`
		}),
		"Recordless":    edit("Nor without.", func(i *v1beta1.ServiceInstance) { i.Annotations = nil }),
		"OtherUID":      edit("Of a claim that there is.", func(i *v1beta1.ServiceInstance) { i.OwnerReferences[0].UID = "uid-former" }),
		"NoClaim":       edit("Of that name.", func(i *v1beta1.ServiceInstance) { i.OwnerReferences[0].Name = "other" }),
		"NamesInstance": of("Of one that asks for it.", func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "mydb"} }),
		"Undecided":     of("And is decided.", func(b *v1beta1.ServiceBinding) { b.Spec.ClusterServicePlanRef = nil }),
		"Deleting": of("And is not going.", func(b *v1beta1.ServiceBinding) {
			b.DeletionTimestamp = &metav1.Time{Time: founded}
		}),
	}
}

// Only the controller creates the dedicated instance of a claim, and exactly
// the one that was decided.
func TestForgedDedicatedInstance(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	cases := forgedInstances()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		var edits []func(*v1beta1.ServiceBinding)
		if tc.claim != nil {
			edits = append(edits, tc.claim)
		}
		w := newClaimEnv(t, edits...)
		if tc.user != "" {
			w.user.Username = tc.user
			w.restock(stocked(t, db, append(claimDefaults(""), func(s *stock) { s.objects = append(s.objects, w.claim) })...))
		}
		own := func(*v1beta1.ServiceInstance) {}
		if tc.own != nil {
			own = tc.own
		}
		o := w.write(w.own(own), nil)
		require.NotNil(t, o.denied(), "%s: %s", name, tc.reason)
		assert.Equal(t, tc.denied, o.label(), name)
		all.WriteString(o.render(name))
	}
	for name, o := range boundToDedicated(t) {
		require.NotNil(t, o.denied(), name)
		all.WriteString(o.render(name))
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenDedicatedDenials, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(goldenDedicatedDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String(), "run the test with -update and read the difference")
}

// boundToDedicated is what becomes of a binding by someone else to an instance of a claim's own.
func boundToDedicated(t *testing.T) map[string]*outcome {
	t.Helper()
	w := newClaimEnv(t)
	own := &v1beta1.ServiceInstance{}
	require.NoError(t, json.Unmarshal(w.write(w.own(), nil).admitted(), own))
	has := func(s *stock) { s.objects = append(s.objects, w.claim, own) }
	w.restock(stocked(t, db, has))
	w.user.Username = "bob"
	return map[string]*outcome{
		"ZBoundByAnother": w.write(bindingWith(`{"name":"theirs","namespace":"dev"}`, `{"instanceRef":{"name":"`+own.Name+`"}}`), nil),
	}
}

// Who takes the owner away may not bind to it either, while the claim is there; once that is gone, the instance is as any.
func TestDedicatedInstanceStaysSo(t *testing.T) {
	t.Parallel()
	w := newClaimEnv(t)
	own := &v1beta1.ServiceInstance{}
	require.NoError(t, json.Unmarshal(w.write(w.own(), nil).admitted(), own))
	own.OwnerReferences = nil
	mine := bindingWith(`{"name":"theirs","namespace":"dev"}`, `{"instanceRef":{"name":"`+own.Name+`"}}`)
	w.restock(stocked(t, db, func(s *stock) { s.objects = append(s.objects, w.claim, own) }))
	o := w.write(mine, nil)
	require.NotNil(t, o.denied())
	assert.Equal(t, "Dedicated", o.label())
	w.restock(stocked(t, db, func(s *stock) { s.objects = append(s.objects, own) }))
	w.write(mine, nil).admitted()
}

// A stored instance cannot become dedicated, and a dedicated one cannot be
// shared. Otherwise it may change as any instance.
func TestDedicatedInstanceUpdates(t *testing.T) {
	t.Parallel()
	const toCreds = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceBinding","name":"creds","uid":"uid-creds","controller":true}`
	owned := `{"metadata":{"ownerReferences":[` + toCreds + `]}}`
	w := newClaimEnv(t)
	own := w.write(w.own(), nil).admitted()
	w.restock(stocked(t, db, func(s *stock) { s.objects = append(s.objects, w.claim) }))
	w.user.Username = "alice"
	plain := w.created(byType)
	for name, tc := range map[string]struct {
		reason      string
		stored      []byte
		edit, label string
	}{
		"Adopted":    {"Attack: an instance is made a claim's, so that its credentials are others'.", plain, owned, "DedicatedForged"},
		"OtherOwner": {"Or another's.", own, strings.Replace(owned, "uid-creds", "uid-other", 1), "DedicatedForged"},
		"Shared":     {"No other binds to it, from wherever.", own, `{"spec":{"sharing":{"namespaces":["prod"]}}}`, "Dedicated"},
		"SharedAll":  {"Nor do all.", own, `{"spec":{"sharing":{"namespaceSelector":{}}}}`, "Dedicated"},
		"NotOwner":   {"Who is not its controller may own it.", plain, strings.Replace(owned, `"controller":true`, `"controller":false`, 1), ""},
		"Foreign":    {"So may who is of another group.", plain, strings.Replace(owned, "servicecatalog.k8s.io/v1beta1", "example.org/v1", 1), ""},
		"Orphaned":   {"The garbage collector takes the owner away.", own, `{"metadata":{"ownerReferences":null}}`, ""},
		"Edited":     {"The user may change it as any instance.", own, `{"spec":{"parameters":{"size":2}}}`, ""},
		"Unshared":   {"An empty sharing shares nothing.", own, `{"spec":{"sharing":{}}}`, ""},
	} {
		o := w.write(changed(t, tc.stored, tc.edit), tc.stored)
		if tc.label == "" {
			o.admitted()
			continue
		}
		require.NotNil(t, o.denied(), "%s: %s", name, tc.reason)
		assert.Equal(t, tc.label, o.label(), name)
	}
}

// What cannot be read is a failure, never a refusal.
func TestDedicatedInstanceReadsFail(t *testing.T) {
	t.Parallel()
	w := newClaimEnv(t)
	w.live.fail(func(string) error { return assert.AnError })
	body, err := json.Marshal(w.review(w.own(), nil))
	require.NoError(t, err)
	assert.Equal(t, http.StatusInternalServerError, w.post(MutateInstances, body).Code)
}
