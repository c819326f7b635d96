package webhook

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An instance whose plan is gone before a broker was asked may find its next plan in the other scope, and then its way back.
func TestPlanGoneToTheOtherScope(t *testing.T) {
	t.Parallel()
	const cluster, own = "mysql/db: small*", "dev|mysql/own: tiny*"
	for name, catalogs := range map[string][2]string{"ClusterToNamespace": {cluster, own}, "NamespaceToCluster": {own, cluster}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, catalogs[0]).env()
			stored := w.created(byType)
			fresh := map[string]string{}
			for _, catalog := range []string{catalogs[0], catalogs[1]} {
				fresh[catalog] = decidedOn(t, stocked(t, catalog).env().created(byType))
			}
			for i, catalog := range []string{catalogs[1], catalogs[0]} {
				w.restock(stocked(t, catalog))
				assert.Equal(t, string(stored), string(w.write(stored, stored).admitted()), "the old reference stays until spec changes")
				stored = w.write(changed(t, stored, []string{`{"spec":{"updateRequests":1}}`, `{"spec":{"updateRequests":2}}`}[i]), stored).admitted()
				assert.Equal(t, fresh[catalog], decidedOn(t, stored), "it is decided like a new one")
				assert.Empty(t, w.write(stored, stored).mutate.Patch)
			}
		})
	}
}

// While its plan is gone and no broker was asked, an instance may also name another class.
func TestPlanGoneAndAnotherClassNamed(t *testing.T) {
	t.Parallel()
	w := stocked(t, "db: small").env()
	stored := w.created(`{"clusterServiceClassName":"db"}`)
	rename := `{"spec":{"clusterServiceClassName":"other","clusterServicePlanName":null}}`
	w.restock(stocked(t, "db: small;other: tiny"))
	assert.NotNil(t, w.write(changed(t, stored, rename), stored).denied(), "while the plan stands, the class does too")
	w.restock(stocked(t, "other: tiny"))
	moved := w.write(changed(t, stored, rename), stored).admitted()
	assert.JSONEq(t, `{"name":"other-tiny"}`, at(t, moved, "/spec/clusterServicePlanRef"))
	assert.Equal(t, `"other-tiny"`, at(t, moved, "/spec/clusterServicePlanName"))
	nowhere := `{"spec":{"clusterServiceClassName":"nowhere","clusterServicePlanName":null}}`
	assert.NotNil(t, w.write(changed(t, stored, nowhere), stored).denied(), "a class that is not there is told")
}

// decidedOn are the references that an object has, and the labels that it is found by.
func decidedOn(t *testing.T, object []byte) string {
	t.Helper()
	decided := ""
	for i, field := range refFields {
		name := at(t, object, "/spec/"+field+"/name")
		label := at(t, object, "/metadata/labels/"+jsonPointer.Replace(refLabels[i]))
		if label == `""` {
			label = "absent"
		}
		decided += field + "=" + name + " " + label + "\n"
	}
	return decided
}

// refFields are the references of a spec, and refLabels the labels by which old clients look for them.
var (
	refFields = [4]string{"clusterServiceClassRef", "clusterServicePlanRef", "serviceClassRef", "servicePlanRef"}
	refLabels = [4]string{
		v1beta1.LabelClusterServiceClassRefName, v1beta1.LabelClusterServicePlanRefName,
		v1beta1.LabelServiceClassRefName, v1beta1.LabelServicePlanRefName,
	}
)
