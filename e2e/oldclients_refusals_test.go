package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// An oldRefusal is something that the retired catalog's webhooks refused: in what
// its typed clients send, one thing changed.
type oldRefusal struct {
	// kind is the cluster-scoped one where there are two.
	kind string
	// patch is what is changed, a merge patch in YAML; of a stored object where
	// stored is set.
	patch  string
	stored bool
	// field is the one at fault: it is still refused.
	field string
	// dropped says why it is refused no more.
	dropped string
}

// TestWhatTheOldWebhooksRefused for a good reason is refused still. The keys are
// the words of the retired catalog.
func TestWhatTheOldWebhooksRefused(t *testing.T) {
	t.Parallel()
	all := map[string]oldRefusal{}
	for _, group := range []map[string]oldRefusal{oldBrokerRefusals, oldOfferingRefusals, oldInstanceRefusals, oldInstanceEdits, oldBindingRefusals} {
		maps.Copy(all, group)
	}
	for name, r := range all {
		kinds := []string{r.kind}
		if namespaced, ok := strings.CutPrefix(r.kind, "Cluster"); ok {
			kinds = append(kinds, namespaced)
		}
		for _, kind := range kinds {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				r := r
				if kind != r.kind {
					r.patch, r.field = local.Replace(r.patch), local.Replace(r.field)
				}
				w.refusesAsBefore(kind, r)
			})
		}
	}
}

func (w *world) refusesAsBefore(kind string, r oldRefusal) {
	w.Helper()
	var body *unstructured.Unstructured
	for _, old := range w.oldBodies() {
		if old.GetKind() == kind {
			body = old
		}
	}
	require.NotNil(w, body, kind)
	w.addPlans(class{name: w.name("old")}, plan{name: w.name("old")}, plan{name: w.name("older")})
	w.createInstance("decided", ofPlan(w.name("old"), w.name("old")))
	body.SetName(w.name("refused"))
	var err error
	if r.stored {
		w.create(body)
		body.SetManagedFields(nil)
		err = w.client.Update(w.Context(), w.patched(body, r.patch), client.DryRunAll)
	} else {
		err = w.client.Create(w.Context(), w.patched(body, r.patch), client.DryRunAll)
	}
	if r.dropped != "" {
		require.NoError(w, err, r.dropped)
		return
	}
	w.refusedAt(err, r.field, r.patch)
}

// patched is an object with a merge patch in YAML.
func (w *world) patched(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	w.Helper()
	content, err := object.MarshalJSON()
	require.NoError(w, err)
	change, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(w.spelled(patch), "LONG", strings.Repeat("a", 64))))
	require.NoError(w, err)
	content, err = jsonpatch.MergePatch(content, change)
	require.NoError(w, err)
	changed := &unstructured.Unstructured{}
	require.NoError(w, changed.UnmarshalJSON(content))
	return changed
}

// The retired catalog: pkg/apis/servicecatalog/validation/broker.go. That
// relistRequests cannot go back is among TestRulesOfBrokers, and that a broker's
// Secret takes a right among TestRightsThatAWriteTakes.
var oldBrokerRefusals = map[string]oldRefusal{
	"brokers must have a remote url to contact": {kind: "ClusterServiceBroker", patch: "{spec: {url: null}}", field: "spec.url"},
	"an empty url":                                               {kind: "ClusterServiceBroker", patch: "{spec: {url: ''}}", field: "spec.url"},
	"name is not a DNS-1123 subdomain":                           {kind: "ClusterServiceBroker", patch: "{metadata: {name: A_1}}", field: "metadata.name"},
	"cannot be used when insecureSkipTLSVerify is true":          {kind: "ClusterServiceBroker", patch: "{spec: {insecureSkipTLSVerify: true, caBundle: aGVsbG8=}}", field: "spec.caBundle"},
	"relist behavior must be one of the two":                     {kind: "ClusterServiceBroker", patch: "{spec: {relistBehavior: Junk}}", field: "spec.relistBehavior"},
	"relistRequests must be non-negative":                        {kind: "ClusterServiceBroker", patch: "{spec: {relistRequests: -1}}", field: "spec.relistRequests"},
	"relistDuration must be greater than zero":                   {kind: "ClusterServiceBroker", patch: "{spec: {relistDuration: '0s'}}", field: "spec.relistDuration"},
	"relistDuration must not be negative":                        {kind: "ClusterServiceBroker", patch: "{spec: {relistDuration: '-15m0s'}}", field: "spec.relistDuration"},
	"auth config is required":                                    {kind: "ClusterServiceBroker", patch: "{spec: {authInfo: {basic: null}}}", field: "spec.authInfo"},
	"a basic auth secret is required":                            {kind: "ClusterServiceBroker", patch: "{spec: {authInfo: {basic: {secretRef: null}}}}", field: "spec.authInfo.basic"},
	"a bearer secret is required":                                {kind: "ClusterServiceBroker", patch: "{spec: {authInfo: {basic: null, bearer: {}}}}", field: "spec.authInfo.bearer"},
	"Invalid property":                                           {kind: "ClusterServiceBroker", patch: "{spec: {catalogRestrictions: {serviceClass: ['a=b']}}}", field: "spec.catalogRestrictions.serviceClass[0]"},
	"Invalid property of a plan":                                 {kind: "ClusterServiceBroker", patch: "{spec: {catalogRestrictions: {servicePlan: ['a=b']}}}", field: "spec.catalogRestrictions.servicePlan[0]"},
	"a restriction that does not parse":                          {kind: "ClusterServiceBroker", patch: "{spec: {catalogRestrictions: {servicePlan: ['name in']}}}", field: "spec.catalogRestrictions.servicePlan[0]"},
	"status: the spec of a status update is validated once more": {kind: "ClusterServiceBroker", patch: "{status: {reconciledGeneration: 5}}", dropped: "the status of a main write is dropped by the API server"},
}

// validation/serviceclass.go and serviceplan.go.
var oldOfferingRefusals = map[string]oldRefusal{
	"class: externalID is required":                {kind: "ClusterServiceClass", patch: "{spec: {externalID: ''}}", field: "spec.externalID"},
	"class: externalID is too long":                {kind: "ClusterServiceClass", patch: "{spec: {externalID: LONG}}", field: "spec.externalID"},
	"class: externalName is too long":              {kind: "ClusterServiceClass", patch: "{spec: {externalName: LONG}}", field: "spec.externalName"},
	"class: description is required":               {kind: "ClusterServiceClass", patch: "{spec: {description: ''}}", dropped: "a partial class is admitted, and a broker without descriptions lists"},
	"class: clusterServiceBrokerName is required":  {kind: "ClusterServiceClass", patch: "{spec: {clusterServiceBrokerName: ''}}", dropped: "a partial class is admitted"},
	"class: externalName is required":              {kind: "ClusterServiceClass", patch: "{spec: {externalName: ''}}", dropped: "a partial class is admitted"},
	"class: name is longer than 63":                {kind: "ClusterServiceClass", patch: "{metadata: {name: LONG}}", dropped: "labels have the name's hash, and so any name of an object"},
	"class: externalID changes, never looked at":   {kind: "ClusterServiceClass", patch: "{spec: {externalID: other}}", stored: true, field: "spec.externalID"},
	"class: broker changes, silently reverted":     {kind: "ClusterServiceClass", patch: "{spec: {clusterServiceBrokerName: other}}", stored: true, field: "spec.clusterServiceBrokerName"},
	"plan: externalID is required":                 {kind: "ClusterServicePlan", patch: "{spec: {externalID: ''}}", field: "spec.externalID"},
	"plan: externalID is too long":                 {kind: "ClusterServicePlan", patch: "{spec: {externalID: LONG}}", field: "spec.externalID"},
	"plan: externalName is too long":               {kind: "ClusterServicePlan", patch: "{spec: {externalName: LONG}}", field: "spec.externalName"},
	"plan: an owning serviceclass is required":     {kind: "ClusterServicePlan", patch: "{spec: {clusterServiceClassRef: {name: ''}}}", field: "spec.clusterServiceClassRef"},
	"plan: description is required":                {kind: "ClusterServicePlan", patch: "{spec: {description: ''}}", dropped: "a partial plan is admitted"},
	"plan: externalID cannot change when updating": {kind: "ClusterServicePlan", patch: "{spec: {externalID: other}}", stored: true, field: "spec.externalID"},
	"plan: class changes, silently reverted":       {kind: "ClusterServicePlan", patch: "{spec: {clusterServiceClassRef: {name: other}}}", stored: true, field: "spec.clusterServiceClassRef"},
	"plan: broker changes, silently reverted":      {kind: "ClusterServicePlan", patch: "{spec: {clusterServiceBrokerName: other}}", stored: true, field: "spec.clusterServiceBrokerName"},
}

// validation/instance.go, for an instance that names class and plan.
var oldInstanceRefusals = map[string]oldRefusal{
	"instances can only refer to a cluster or namespaced class":  {kind: "ServiceInstance", patch: "{spec: {serviceClassExternalName: a, servicePlanExternalName: b}}", field: "spec.serviceClassExternalName"},
	"plan references must have a class reference set":            {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassExternalName: null, clusterServicePlanExternalName: null}}", field: "spec"},
	"a plan without a class":                                     {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassExternalName: null}}", field: "spec.clusterServicePlanExternalName"},
	"exactly one of the names of a class":                        {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassName: a}}", field: "spec.clusterServiceClassExternalName"},
	"exactly one of the names of a plan":                         {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanExternalID: a}}", field: "spec.clusterServicePlanExternalID"},
	"must specify clusterServicePlanExternalName with the class": {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanExternalName: null, clusterServicePlanName: NAME(old)}}", dropped: "both names are understood"},
	"a class's name is too long":                                 {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassExternalName: LONG}}", field: "spec.clusterServiceClassExternalName"},
	"a plan's name is too long":                                  {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanExternalName: LONG}}", field: "spec.clusterServicePlanExternalName"},
	"a source needs a Secret":                                    {kind: "ServiceInstance", patch: "{spec: {parametersFrom: [{}]}}", field: "spec.parametersFrom[0].secretKeyRef"},
	"a source needs a name":                                      {kind: "ServiceInstance", patch: "{spec: {parametersFrom: [{secretKeyRef: {name: '', key: a}}]}}", field: "spec.parametersFrom[0].secretKeyRef.name"},
	"a source needs a key":                                       {kind: "ServiceInstance", patch: "{spec: {parametersFrom: [{secretKeyRef: {name: a, key: ''}}]}}", field: "spec.parametersFrom[0].secretKeyRef.key"},
	"invalid inline parameters":                                  {kind: "ServiceInstance", patch: "{spec: {parameters: [1]}}", field: "spec.parameters"},
	"updateRequests must be non-negative":                        {kind: "ServiceInstance", patch: "{spec: {updateRequests: -1}}", field: "spec.updateRequests"},
	"clusterServiceClassRef must not be present on create":       {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassRef: {name: NAME(old)}}}", field: "spec.clusterServiceClassRef"},
	"clusterServicePlanRef must not be present on create":        {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanRef: {name: NAME(old)}}}", field: "spec.clusterServicePlanRef"},
	"servicePlanRef must not be present on create":               {kind: "ServiceInstance", patch: "{spec: {servicePlanRef: {name: NAME(old)}}}", field: "spec.servicePlanRef"},
	"instance: name is not a DNS-1123 subdomain":                 {kind: "ServiceInstance", patch: "{metadata: {name: A_1}}", field: "metadata.name"},
	"reconciledGeneration must be less than generation":          {kind: "ServiceInstance", patch: "{status: {reconciledGeneration: 5}}", dropped: "a new object has no status, whatever it says"},
	"a plan's class that is absent, without a plan":              {kind: "ServiceInstance", patch: "{spec: {clusterServiceClassExternalName: absent, clusterServicePlanExternalName: null}}", field: "spec.clusterServiceClassExternalName"},
	"has more than one plan, PlanName must be specified":         {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanExternalName: null}}", field: "spec.clusterServiceClassExternalName"},
	"an instance of an absent plan is admitted":                  {kind: "ServiceInstance", patch: "{spec: {clusterServicePlanExternalName: absent}}", dropped: "it never was refused"},
}

// Updates of an instance. That updateRequests cannot go back, nor the plan change
// where its class says no, is among TestKubectlShowsWhyAnUpdateIsRefused. The
// update lock is not kept: see TestAnEditDuringAnOperation.
var oldInstanceEdits = map[string]oldRefusal{
	"field is immutable: class":                         {kind: "ServiceInstance", stored: true, patch: "{spec: {clusterServiceClassExternalName: other}}", field: "spec.clusterServiceClassExternalName"},
	"field is immutable: externalID":                    {kind: "ServiceInstance", stored: true, patch: "{spec: {externalID: other}}", field: "spec.externalID"},
	"servicePlanRef must not be present on plan change": {kind: "ServiceInstance", stored: true, patch: "{spec: {clusterServicePlanExternalName: NAME(older), clusterServicePlanRef: {name: NAME(old)}}}", dropped: "the plan's name is the wish, and the stored reference none"},
}

// validation/binding.go. That an instance which is being deleted is not bound to
// is TestBindingIsForgottenWithItsInstance.
var oldBindingRefusals = map[string]oldRefusal{
	"instanceRef.name is required":              {kind: "ServiceBinding", patch: "{spec: {instanceRef: {name: ''}}}", field: "spec.instanceRef.name"},
	"instanceRef.name is no DNS-1123 subdomain": {kind: "ServiceBinding", patch: "{spec: {instanceRef: {name: A_1}}}", field: "spec.instanceRef.name"},
	"secretName is no DNS-1123 subdomain":       {kind: "ServiceBinding", patch: "{spec: {secretName: A_1}}", field: "spec.secretName"},
	"binding: a source needs a Secret":          {kind: "ServiceBinding", patch: "{spec: {parametersFrom: [{}]}}", field: "spec.parametersFrom[0].secretKeyRef"},
	"binding: a source needs a key":             {kind: "ServiceBinding", patch: "{spec: {parametersFrom: [{secretKeyRef: {name: a, key: ''}}]}}", field: "spec.parametersFrom[0].secretKeyRef.key"},
	"binding: name is no DNS-1123 subdomain":    {kind: "ServiceBinding", patch: "{metadata: {name: A_1}}", field: "metadata.name"},
	"a missing instance is allowed":             {kind: "ServiceBinding", patch: "{spec: {instanceRef: {name: absent}}}", dropped: "it never was refused"},
	"an edit of the spec, silently reverted":    {kind: "ServiceBinding", stored: true, patch: "{spec: {instanceRef: {name: other}}}", field: "spec.instanceRef"},
}

// TestAnEditDuringAnOperation: the one refusal that is not kept. An edit is
// accepted while an operation runs, and its editor is on record.
func TestAnEditDuringAnOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"Provision", "Update"} {
		w := newWorld(t)
		w.grant()
		w.addPlans(class{name: w.name("c")}, plan{name: w.name("p")})
		w.as(alice).createInstance("db", ofPlan(w.name("c"), w.name("p")))
		status := fmt.Sprintf(`{"status":{"currentOperation":%q,"asyncOpInProgress":true,"operationStartTime":%q,"observedGeneration":1}}`,
			operation, metav1.Now().UTC().Format("2006-01-02T15:04:05Z"))
		require.NoError(t, w.client.Status().Patch(t.Context(), w.instance("db"), rawMerge(status)))
		require.NoError(t, w.as(bob).send("db", `{"spec":{"parameters":{"size":2}}}`), operation)
		assert.JSONEq(t, `{"size":2}`, parametersOf(w.stored("db")))
		assert.Equal(t, bob, w.holdingOf("db").User, "the last editor's identity counts")
	}
}
