package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A claim is decided as the instance that it asks for, and then as the binding to it.
func TestClaims(t *testing.T) {
	t.Parallel()
	checkBindings(t, claimCases())
}

func claimCases() map[string]bindingCase {
	all := decidedClaims()
	for _, cases := range []map[string]bindingCase{deniedClaims(), waitingClaims(), restoredClaims(), policedClaims()} {
		maps.Copy(all, cases)
	}
	return all
}

// A decided claim says by whom and by what it was decided: both for its instance and for itself.
func TestClaimRecord(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, claimDefaults("")...).env()
	o := w.bindTo(`{"serviceType":"mysql","provisionParameters":{"zone":null}}`)
	stored := o.admitted()
	assert.Equal(t, map[string]string{"rule": "cluster-default", "plan": "db/small"}, o.mutate.AuditAnnotations)
	applied, err := v1beta1.ParseAppliedDefaults(annotationOf(t, stored, v1beta1.AnnotationAppliedDefaults))
	require.NoError(t, err)
	assert.Equal(t, v1beta1.AppliedDefaults{
		Rule: "cluster-default", Class: "db", Plan: "small", From: map[string]string{"/user": "plan"}, Transforms: []string{"plan"},
		Provision: &v1beta1.AppliedProvision{From: map[string]string{"/net": "class", "/size": "plan"}, Removed: []string{"/zone"}},
	}, applied)
	assert.JSONEq(t, `{"zone":null,"net":{"mtu":1400},"size":1}`, at(t, stored, "/spec/provisionParameters"))
	assert.JSONEq(t, `["kubernetes-incubator/service-catalog"]`, at(t, stored, "/metadata/finalizers"))
	assert.Equal(t, at(t, stored, "/spec/externalID"), fmt.Sprintf("%q", annotationOf(t, stored, v1beta1.AnnotationMintedExternalID)))
}

// Of a generated name there is none yet: the Secret is called as the claim will be.
func TestClaimOfGeneratedName(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	stored := w.write(bindingWith(`{"generateName":"creds-","namespace":"dev"}`, byType), nil).admitted()
	assert.Equal(t, "absent", at(t, stored, "/spec/secretName"))
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, stored, "/spec/clusterServicePlanRef"))
}

// A settled claim is applied again, replaced by its manifest or by what an old client knows of it: nothing changes.
func TestSettledClaimReplaced(t *testing.T) {
	t.Parallel()
	const manifest = `{"serviceType":"mysql","provisionParameters":{"zone":null,"net":{"vlan":7}},"parameters":{"tls":true},"secretTransforms":[{"removeKey":{"key":"own"}}]}`
	w := stocked(t, db, claimDefaults("")...).env()
	stored := w.bindTo(manifest).admitted()
	for name, tc := range map[string]struct{ reason, spec string }{
		"Manifest":    {"What was written in the first place lacks just the defaults.", manifest},
		"Reordered":   {"In another order of keys.", `{"provisionParameters":{"net":{"vlan":7},"zone":null},"serviceType":"mysql"}`},
		"TypedClient": {"It knows of no claims.", `{"instanceRef":null,"secretName":"creds","externalID":"","userInfo":null}`},
		"Nothing":     {"Less than that.", `{}`},
	} {
		for state, status := range map[string]string{"Decided": "", "Bound": boundStatus} {
			t.Run(name+"/"+state, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db).env()
				w.user.Username = "bob"
				old := changed(t, stored, status)
				o := w.write(changed(t, bindingOf(tc.spec), status), old)
				assert.Equal(t, meant(t, old), meant(t, o.admitted()), tc.reason)
				assert.Empty(t, o.warnings())
			})
		}
	}
}

// Nothing of a settled claim changes: neither what is asked of its instance, nor that it has one of its own.
func TestSettledClaimEdits(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, append(claimDefaults(""), hasInstance("mydb", "db-small"))...).env()
	stored := w.bindTo(byType).admitted()
	for field, value := range map[string]string{
		"instanceRef": `{"name":"mydb"}`, "provisionParameters": `{"size":2}`, "serviceType": `"redis"`, "planSelector": `{"matchLabels":{"a":"b"}}`,
		"clusterServiceClassExternalName": `"db"`, "clusterServicePlanRef": `{"name":"db-large"}`, "secretName": `"other"`,
	} {
		o := w.write(changed(t, stored, fmt.Sprintf(`{"spec":{%q:%s}}`, field, value)), stored)
		require.NotNil(t, o.denied(), field)
		assert.Equal(t, "Immutable", o.label(), field)
		assert.Equal(t, "spec."+field, o.denied().Details.Causes[0].Field)
	}
}

// When credentials are replaced may change at any time; who asks is the binding's user from then on. A client that does
// not know of it leaves it as it is.
func TestRotationMayChange(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"Binding": toMydb, "Claim": byType} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, hasInstance("mydb", "db-small")).env()
			stored := changed(t, w.bindTo(spec).admitted(), boundStatus)
			w.user.Username = "bob"
			asked := w.write(changed(t, stored, `{"spec":{"rotation":{"every":"720h0m0s","requests":1}}}`), stored).admitted()
			assert.JSONEq(t, `{"spec":{"rotation":{"every":"720h0m0s","requests":1}}}`, change(t, stored, asked), "who asks lends no rights: userInfo stays")
			w.user.Username = "carol"
			kept := w.write(changed(t, bindingOf(spec), boundStatus), asked).admitted()
			assert.Equal(t, meant(t, asked), meant(t, kept), "an old client does not clear it")
			cleared := w.write(changed(t, bindingOf(strings.TrimSuffix(spec, "}")+`,"rotation":{}}`), boundStatus), asked).admitted()
			assert.JSONEq(t, `{"requests":1}`, at(t, cleared, "/spec/rotation"), "an explicit empty one does, but for the count")
			back := w.write(changed(t, asked, `{"spec":{"rotation":{"requests":0,"every":"10s"}}}`), asked)
			assert.JSONEq(t, `{"requests":1,"every":"10s"}`, at(t, back.admitted(), "/spec/rotation"))
			assert.Contains(t, back.mutate.Warnings, "kept spec.rotation.requests: it counts requests and does not go back")
			assert.Contains(t, back.mutate.Warnings, "spec.rotation.every is 10s, and credentials are kept for a minute at least")
			both := w.write(changed(t, asked, `{"spec":{"rotation":{"requests":2},"secretName":"other"}}`), asked)
			require.NotNil(t, both.denied(), "beside it, nothing changes")
			require.Len(t, both.denied().Details.Causes, 1)
		})
	}
}

// What is for an instance of the binding's own is changed at the instance that it names, where that is.
func TestNotDedicatedNamesTheInstance(t *testing.T) {
	t.Parallel()
	o := stocked(t, db).env().bindTo(`{"instanceRef":{"name":"mydb","namespace":"infra"},"provisionParameters":{"a":1}}`)
	require.NotNil(t, o.denied())
	assert.Contains(t, o.denied().Message, "kubectl edit -n infra serviceinstance mydb")
}

// annotationOf is an annotation of a stored object.
func annotationOf(t *testing.T, object []byte, name string) string {
	t.Helper()
	var stored struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal(object, &stored))
	return stored.Metadata.Annotations[name]
}
