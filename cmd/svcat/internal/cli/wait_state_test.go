package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// seen is an instance of generation 2 with conditions.
func seen(conditions ...v1beta1.Condition) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb", Generation: 2}}
	i.Status.Conditions = conditions
	return i
}

// at is a condition that was observed at a generation.
func at(generation int64, c v1beta1.Condition) v1beta1.Condition {
	c.ObservedGeneration = generation
	return c
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	deleted := seen(at(2, v1beta1.Ready("Done", "")))
	deleted.DeletionTimestamp = new(metav1.Now())
	for name, c := range map[string]struct {
		reason   string
		instance *v1beta1.ServiceInstance
		done     bool
		failure  string
	}{
		"Nothing":      {"the controller has not seen it", seen(), false, ""},
		"Ready":        {"done", seen(at(2, v1beta1.Ready("Done", ""))), true, ""},
		"ReadyBefore":  {"the spec has changed since", seen(at(1, v1beta1.Ready("Done", ""))), false, ""},
		"Waiting":      {"Unknown is wait", seen(at(2, v1beta1.Waiting("Provisioning", ""))), false, ""},
		"Missed":       {"it is tried again", seen(at(2, v1beta1.NotReady("ProvisionCallFailed", "no")), at(2, v1beta1.Reconciling("", ""))), false, ""},
		"Failed":       {"for good", seen(at(2, v1beta1.Failed("ProvisionCallFailed", "no such size"))), false, "failed: ProvisionCallFailed: no such size"},
		"FailedBefore": {"another spec", seen(at(1, v1beta1.Failed("ProvisionCallFailed", "")), at(2, v1beta1.Ready("Done", ""))), true, ""},
		"Stalled":      {"a user must act", seen(at(2, v1beta1.Stalled("Undecided", "no plan"))), false, "failed: Undecided: no plan"},
		"Deleted":      {"it will never be used", deleted, false, "is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done, failure := readiness(c.instance)
			assert.Equal(t, c.done, done, c.reason)
			assert.Equal(t, c.failure, failure, c.reason)
		})
	}
}

func TestStateTold(t *testing.T) {
	t.Parallel()
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure", Generation: 1}}
	broker.Status.Conditions = []v1beta1.Condition{
		at(1, v1beta1.CatalogShrank("CatalogShrank", "3 of 3")), at(1, v1beta1.CatalogComplete(false, "PartsSkipped", "a line\nand another")), at(1, v1beta1.Ready("FetchedCatalog", "")), at(0, v1beta1.OrphanMitigation("Old", "")),
	}
	var told []string
	for _, c := range stateOf(broker).current() {
		told = append(told, textOf(c))
	}
	assert.Equal(t, []string{"Ready=True FetchedCatalog", "CatalogComplete=False PartsSkipped: a line and another", "CatalogShrank=True CatalogShrank: 3 of 3"}, told)
	broker.Status.Conditions = []v1beta1.Condition{at(1, v1beta1.CatalogComplete(true, "FetchedCatalog", ""))}
	assert.Empty(t, stateOf(broker).current(), "that all is well is not told twice")
	assert.Contains(t, stateOf(broker).text(), "is the controller running?")
	assert.Equal(t, "svcat describe broker azure", describing(broker))
	assert.Equal(t, "svcat describe instance mydb -n dev", describing(seen()))
	assert.Equal(t, "binding", stateOf(&v1beta1.ServiceBinding{}).kind)
	assert.Equal(t, "broker", stateOf(&v1beta1.ServiceBroker{}).kind)
}
