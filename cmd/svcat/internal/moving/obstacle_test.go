package moving

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// TestObstaclesOfInstances: only what is at rest is moved.
func TestObstaclesOfInstances(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	controls := true
	assert.Empty(t, Obstacle(instance(nil)))
	assert.Empty(t, Obstacle(instance(func(i *v1beta1.ServiceInstance) { i.Status.ObservedGeneration, i.Status.ReconciledGeneration = 1, 2 })), "either says so")
	for want, change := range map[string]func(*v1beta1.ServiceInstance){
		"it is being deleted": func(i *v1beta1.ServiceInstance) { i.DeletionTimestamp = &now },
		"what a failed request left at the broker is being removed": func(i *v1beta1.ServiceInstance) { i.Status.OrphanMitigationInProgress = true },
		"it is in the middle of an operation (Update)":              func(i *v1beta1.ServiceInstance) { i.Status.CurrentOperation = v1beta1.InstanceUpdate },
		"its broker works on an operation":                          func(i *v1beta1.ServiceInstance) { i.Status.AsyncOpInProgress = true },
		"it failed: ProvisionCallFailed": func(i *v1beta1.ServiceInstance) {
			i.Status.Conditions = append(i.Status.Conditions, v1beta1.Condition{Type: v1beta1.ConditionFailed, Status: v1beta1.ConditionTrue, Reason: "ProvisionCallFailed", Message: canary})
		},
		"it is the own instance of a binding": func(i *v1beta1.ServiceInstance) {
			i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Controller: &controls}}
		},
		"no plan was decided on":   func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = v1beta1.DecidedReference{} },
		"it was never provisioned": func(i *v1beta1.ServiceInstance) { i.Status.ProvisionStatus = v1beta1.NotProvisioned },
		"it has no ID at a broker": func(i *v1beta1.ServiceInstance) { i.Spec.ExternalID = "" },
		"it is not Ready: ":        func(i *v1beta1.ServiceInstance) { i.Status.Conditions = nil },
		"its spec changed":         func(i *v1beta1.ServiceInstance) { i.Status.ObservedGeneration = 1 },
	} {
		why := Obstacle(instance(change))
		assert.Contains(t, why, want)
		assert.NotContains(t, why, canary, "messages of brokers are not repeated")
	}
}

// TestObstaclesOfBindings: as of instances, and what a binding has of its own.
func TestObstaclesOfBindings(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Obstacle(binding(nil)))
	from := func(namespace string) func(*v1beta1.ServiceBinding) {
		return func(b *v1beta1.ServiceBinding) {
			b.Spec.SecretTransforms = []v1beta1.SecretTransform{{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: namespace, Name: "x"}}}}
		}
	}
	assert.Empty(t, Obstacle(binding(from("shop"))))
	assert.Empty(t, Obstacle(binding(from(""))))
	for want, change := range map[string]func(*v1beta1.ServiceBinding){
		"it is in the middle of an operation (Unbind)":                                   func(b *v1beta1.ServiceBinding) { b.Status.CurrentOperation = v1beta1.BindingUnbind },
		"it has an instance of its own":                                                  func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = nil },
		"its credentials are being replaced":                                             func(b *v1beta1.ServiceBinding) { b.Status.Rotation = &v1beta1.BindingRotation{} },
		"it has no ID at a broker":                                                       func(b *v1beta1.ServiceBinding) { b.Spec.ExternalID = "" },
		`spec.secretTransforms[0].addKeysFrom names a Secret of namespace "kube-system"`: from("kube-system"),
	} {
		assert.Contains(t, Obstacle(binding(change)), want)
	}
	assert.Equal(t, "of status", IDOf(instance(func(i *v1beta1.ServiceInstance) { i.Status.ExternalID = "of status" })))
}

// TestObstacleOfTwins: two objects of one ID cannot both own what is at the broker, and neither moves.
func TestObstacleOfTwins(t *testing.T) {
	t.Parallel()
	one, two := instance(nil), instance(func(i *v1beta1.ServiceInstance) { i.Namespace = "store" })
	contents := &Contents{Instances: []*v1beta1.ServiceInstance{one, two}, Bindings: []*v1beta1.ServiceBinding{binding(func(b *v1beta1.ServiceBinding) { b.Spec.ExternalID = "i-1" })}}
	assert.Equal(t, "ServiceInstance store/db has the same ID at the broker; let one of the two go on the old side, without a call to the broker, then export again", contents.Obstacle(one))
	assert.Contains(t, contents.Obstacle(two), "ServiceInstance shop/db has the same ID")
	assert.Empty(t, contents.Obstacle(contents.Bindings[0]), "it is of another kind")
	one.Status.AsyncOpInProgress = true
	assert.Contains(t, contents.Obstacle(one), "works on an operation")
	assert.Contains(t, contents.Obstacle(two), "has the same ID", "whatever keeps the other")
}

// TestNamespaces: --map, and what it refuses.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	n := &Names{given: []string{"shop=store", "a=b", "shop=store"}}
	require.NoError(t, n.Validate())
	assert.Equal(t, "store", n.New("shop"))
	assert.Equal(t, "other", n.New("other"))
	assert.Empty(t, n.New(""))
	require.NoError(t, (&Names{namespaces: map[string]string{"shop": "x", "brokers": "y"}}).Unused(whole()))
	require.EqualError(t, (&Names{namespaces: map[string]string{"shpo": "x"}}).Unused(whole()), `--map names namespace "shpo", and the file has nothing of it`)
	for _, wrong := range []string{"shop", "=x", "shop=", "shop=../x", "a b=c"} {
		require.ErrorContains(t, (&Names{given: []string{wrong}}).Validate(), "write it as OLD=NEW", wrong)
	}
	require.ErrorContains(t, (&Names{given: []string{"shop=a", "shop=b"}}).Validate(), "two names")
}

// TestNamesOfObjects: --map of an instance or binding.
func TestNamesOfObjects(t *testing.T) {
	t.Parallel()
	n := &Names{given: []string{"shop=store", "instance/shop/db=orders", "binding/shop/db=reader"}}
	require.NoError(t, n.Validate())
	old := types.NamespacedName{Namespace: "shop", Name: "db"}
	assert.Equal(t, "store/orders", n.Instance(old).String())
	assert.Equal(t, "store/db", n.Key(old).String(), "a Secret keeps its name")
	bound := binding(nil)
	bound.Name = "db"
	assert.Equal(t, "store/reader", n.Place(bound).String())
	bound.Name = "other"
	assert.Equal(t, "store/other", n.Place(bound).String())
	for _, wrong := range []string{"instance/shop/db", "instance/db=x", "instance/shop/=x", "plan/shop/db=x", "instance/shop/db=x/y", "instance/Shop/db=x", "binding/shop/db="} {
		require.ErrorContains(t, (&Names{given: []string{wrong}}).Validate(), "or as instance/NAMESPACE/OLD=NEW", wrong)
	}
	require.EqualError(t, (&Names{given: []string{"binding/shop/db=a", "binding/shop/db=b"}}).Validate(), `--map gives "binding/shop/db" two names, "a" and "b": give one of them`)
	require.EqualError(t, (&Names{objects: map[string]string{"ServiceInstance shop/bd": "x"}}).Unused(whole()), "--map names ServiceInstance shop/bd, which is not in the file")
	here := instance(nil)
	require.NoError(t, (&Names{objects: map[string]string{Title(here): "x"}}).Unused(whole()))
}

// TestReport: as a table and as JSON, and how the command ends.
func TestReport(t *testing.T) {
	t.Parallel()
	names := &Names{namespaces: map[string]string{"shop": "store"}}
	report := &Report{DryRun: true}
	report.Add(broker(), names, Unchanged, "at https://user:"+canary+"@broker.example.com")
	report.Add(instance(nil), names, Moved, "Adopted")
	require.NoError(t, report.Failure())
	report.Add(binding(nil), names, NotMoved, "why\x1b[2J")
	require.Error(t, report.Failure())
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(report.Failure()))
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	env := cli.NewEnv(streams)
	require.NoError(t, report.Print(env, "table"))
	assert.NotContains(t, out.String(), canary)
	assert.NotContains(t, out.String(), "\x1b")
	assert.Contains(t, out.String(), "shop → store")
	assert.Contains(t, out.String(), "1 unchanged, 1 moved, 1 not moved (dry run: nothing was written)\n")
	out.Reset()
	require.NoError(t, report.Print(env, "json"))
	assert.True(t, bytes.Contains(out.Bytes(), []byte(`"newNamespace": "store"`)), out.String())
}
