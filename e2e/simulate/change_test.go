package simulate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// A change is one that svcat simulate is told, and how it is made for real.
type change struct {
	// args are those of svcat simulate, and content that of their file.
	args    []string
	content string
	// make makes it, and returns what refused it.
	make func() (refusal string)
}

// change is a random one.
func (w *world) change(n int) change {
	w.Helper()
	switch w.random.IntN(10) {
	case 0, 1:
		return w.switchDefault()
	case 2, 3:
		return w.apply(n, w.newPolicy(n))
	case 4:
		name := fmt.Sprintf("x%d", n)
		w.instances = append(w.instances, name)
		return w.apply(n, w.instance(name))
	case 5:
		return w.remove(n)
	case 6:
		return w.edit(n)
	case 7:
		return w.resize(n)
	}
	return w.relist(n)
}

// newPolicy is a policy, sometimes of the name of another.
func (w *world) newPolicy(n int) *api.ProvisioningPolicy {
	policy := w.policy(fmt.Sprintf("new%d", n))
	if len(w.policies) > 0 && w.chance(40) {
		policy.Name = w.policies[w.random.IntN(len(w.policies))].Name
		return policy
	}
	w.policies = append(w.policies, policy)
	return policy
}

// edit changes a plan, a class or the plan of an instance.
func (w *world) edit(n int) change {
	w.Helper()
	s, p := w.anyPlan()
	if len(w.instances) > 0 && w.chance(40) {
		return w.set(n, "ServiceInstance", w.Namespace, w.instances[0], "clusterServicePlanExternalName", p.name)
	}
	switch w.random.IntN(4) {
	case 0, 1:
		return w.set(n, "ClusterServicePlan", "", w.Name(p.name), "weight", int64(w.random.IntN(5)))
	case 2:
		return w.set(n, "ClusterServicePlan", "", w.Name(p.name), "serviceType", w.Name(w.oneOf(types)))
	}
	return w.set(n, "ClusterServiceClass", "", w.Name(s.name), "serviceType", w.Name(w.oneOf(types)))
}

// resize changes the parameters of an instance.
func (w *world) resize(n int) change {
	w.Helper()
	if len(w.instances) == 0 {
		return w.edit(n)
	}
	return w.set(n, "ServiceInstance", w.Namespace, w.instances[w.random.IntN(len(w.instances))], "parameters", map[string]any{"size": int64(n)})
}

// set applies a manifest that has no more than one field of a spec.
func (w *world) set(n int, kind, namespace, name, field string, value any) change {
	w.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{field: value}}}
	object.SetGroupVersionKind(api.GroupVersion.WithKind(kind))
	object.SetNamespace(namespace)
	object.SetName(name)
	return w.apply(n, object)
}

// switchDefault makes a plan the default of its type.
func (w *world) switchDefault() change {
	s, p := w.anyPlan()
	named := w.Name(s.name) + "/" + p.name
	return change{args: []string{"--default", named}, make: func() string {
		return w.command("svcat", "set", "plan", named, "--default", "--cluster")
	}}
}

// apply applies a manifest, as kubectl apply does the first time.
func (w *world) apply(n int, object client.Object) change {
	w.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(w, err)
	delete(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	if id, _, _ := unstructured.NestedString(fields, "spec", "externalID"); id == "" {
		unstructured.RemoveNestedField(fields, "spec", "externalID")
	}
	text, err := yaml.Marshal(fields)
	require.NoError(w, err)
	return change{content: string(text), args: []string{"-f", w.file(fmt.Sprintf("%d.yaml", n), text)}, make: func() string {
		w.Helper()
		written := &unstructured.Unstructured{Object: fields}
		stored := written.DeepCopy()
		if w.Absent(stored) {
			return w.refusalOf(w.Client().Create(w.Context(), written))
		}
		text, err := written.MarshalJSON()
		require.NoError(w, err)
		return w.refusalOf(w.TryPatch(stored, string(text)))
	}}
}

// refusalOf is what admission says of a write, empty if it is stored.
func (w *world) refusalOf(err error) string {
	w.Helper()
	if refused(err) {
		return env.Said(err)
	}
	require.NoError(w, err)
	return ""
}

// remove deletes a policy, an instance, a binding, or the object of a type that has one: as the first
// change, because others may have left the type without plans, and then the keeper deletes its object.
func (w *world) remove(n int) change {
	w.Helper()
	var objects []client.Object
	for _, p := range w.policies {
		objects = append(objects, &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: p.Name}})
	}
	for _, t := range w.typed() {
		if n == 0 {
			objects = append(objects, &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: t}})
		}
	}
	for _, name := range w.instances {
		objects = append(objects, w.Instance(name))
	}
	for _, name := range w.bindings {
		objects = append(objects, w.Binding(name, name))
	}
	objects = slices.DeleteFunc(objects, w.Absent)
	if len(objects) == 0 || w.removed {
		return w.switchDefault()
	}
	w.removed = true
	object := objects[w.random.IntN(len(objects))]
	word := "policy/"
	switch object.(type) {
	case *api.ClusterServiceType:
		word = "type/"
	case *api.ServiceInstance:
		word = "instance/" + w.Namespace + "/"
	case *api.ServiceBinding:
		word = "binding/" + w.Namespace + "/"
	}
	return change{args: []string{"--delete", word + object.GetName()}, make: func() string {
		w.Helper()
		return w.refusalOf(client.IgnoreNotFound(w.Client().Delete(w.Context(), object)))
	}}
}

// relist has the broker list something else.
func (w *world) relist(n int) change {
	w.Helper()
	w.services = slices.Clone(w.services)
	at := w.random.IntN(len(w.services))
	s := w.services[at]
	s.plans = slices.Clone(s.plans)
	switch w.random.IntN(4) {
	case 0:
		if len(s.plans) > 1 {
			s.plans = slices.Delete(s.plans, 0, 1)
		}
	case 1:
		s.plans = append(s.plans, w.newPlan(fmt.Sprintf("%s-new%d", s.name, n)))
	case 2:
		s.plans[0].cost, s.plans[0].weight = 10+w.random.IntN(10)*10, w.random.IntN(4)
	default:
		s.serviceType = w.oneOf(types)
	}
	w.services[at] = s
	catalog := w.catalog()
	return change{content: string(catalog) + "\n", args: []string{"--catalog", w.registered.Name + "=" + w.file(fmt.Sprintf("%d.json", n), catalog)}, make: func() string {
		w.Helper()
		require.NoError(w, w.broker.SetCatalog(catalog))
		w.Change(w.registered, func() { w.registered.Spec.RelistRequests++ })
		w.Ready(w.registered)
		return ""
	}}
}

// command runs a command, which may be refused.
func (w *world) command(binary string, args ...string) string {
	w.Helper()
	got := w.Exec(env.Command{Binary: binary, Args: args})
	if got.Code == 0 {
		return ""
	}
	return got.Stderr
}

// path is a file of the world.
func (w *world) path(name string) string { return filepath.Join(w.folder, name) }

// file writes a file of a change.
func (w *world) file(name string, content []byte) string {
	w.Helper()
	require.NoError(w, os.WriteFile(w.path(name), content, 0o600))
	return w.path(name)
}
