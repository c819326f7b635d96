package simulate

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
	"github.com/defaultplan/defaultplan/osb/osbtest"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/offline/apiclient"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const broker = "bench"

// stateOf are the objects of a cluster of that size, as a snapshot has them.
func stateOf(ctx context.Context, size Size) ([]*unstructured.Unstructured, error) {
	cluster, err := offline.New(options.New()) //nolint:contextcheck // it makes something in memory, and waits for nothing
	if err != nil {
		return nil, fmt.Errorf("cannot make a cluster: %w", err)
	}
	s := state{cluster, size}
	for _, step := range []func(context.Context) error{s.list, s.populate} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	var all []*unstructured.Unstructured
	for _, object := range cluster.Objects() {
		if object.GetKind() != "ServiceInstance" {
			all = append(all, object)
			continue
		}
		for plan := range size.PlansEach {
			one, err := numbered(object, plan)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// A state is a cluster that is being filled.
type state struct {
	*offline.Cluster

	size Size
}

func (s *state) apply(ctx context.Context, object map[string]any) error {
	result, err := s.Apply(ctx, &unstructured.Unstructured{Object: object})
	if err == nil && result.Denied != nil {
		err = result.Denied
	}
	if err != nil {
		return fmt.Errorf("cannot make an object of the snapshot: %w", err)
	}
	return nil
}

// list has the controller's relist make the catalog.
func (s *state) list(ctx context.Context) error {
	at := &api.ClusterServiceBroker{}
	if err := s.apply(ctx, object("ClusterServiceBroker", "", broker, map[string]any{"url": "https://broker.example.com"})); err != nil {
		return err
	}
	if err := s.Reader().Get(ctx, client.ObjectKey{Name: broker}, at); err != nil {
		return fmt.Errorf("cannot read the broker: %w", err)
	}
	of, err := relist.BrokerOf(at)
	if err != nil {
		return fmt.Errorf("cannot read the broker: %w", err)
	}
	text, err := listing(s.size, 0)
	if err != nil {
		return err
	}
	listed := &osb.Catalog{}
	if err := json.Unmarshal(text, listed); err != nil {
		return fmt.Errorf("cannot read the catalog: %w", err)
	}
	writer := apiclient.New(s.Cluster, apiclient.Options{
		User: offline.Controller(), Manager: "controller", Reader: s.Reader(), Clock: clock.RealClock{}, Scheme: s.Scheme(),
	})
	engine := &relist.Engine{Client: writer, Reader: s.Reader(), Live: s.Reader(), Workers: 1}
	result, err := engine.Relist(ctx, of, listed, func(relist.Progress) error { return nil })
	if err == nil {
		err = result.Err()
	}
	if err != nil {
		return fmt.Errorf("cannot take the catalog over: %w", err)
	}
	return nil
}

// populate makes a default of each type, and a namespace with an instance of it.
func (s *state) populate(ctx context.Context) error {
	for i := range s.size.Services {
		namespace := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespaceOf(i), "labels": map[string]any{"team": fmt.Sprintf("t%d", i%10)}},
		}}
		if err := s.Load(namespace); err != nil { //nolint:contextcheck // it waits for nothing
			return fmt.Errorf("cannot make namespace %d: %w", i, err)
		}
		record := object("ClusterServiceType", "", typeOf(i), map[string]any{"defaultPlanRef": map[string]any{"name": planOf(i, 0)}})
		instance := object("ServiceInstance", namespaceOf(i), "instance", map[string]any{
			"serviceType": typeOf(i), "parameters": map[string]any{"size": api.Redacted},
		})
		for _, one := range []map[string]any{record, instance} {
			if err := s.apply(ctx, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbered is a copy of an instance that has the plan of that number and is Ready, as a snapshot has it.
func numbered(instance *unstructured.Unstructured, plan int) (*unstructured.Unstructured, error) {
	one := instance.DeepCopy()
	one.SetName(fmt.Sprintf("%s-%d", instance.GetName(), plan))
	one.SetUID(types.UID(catalog.ID(instance.GetNamespace(), one.GetName())))
	one.SetManagedFields(nil)
	unstructured.RemoveNestedField(one.Object, "spec", "userInfo")
	id, _, _ := unstructured.NestedString(one.Object, "spec", "clusterServicePlanRef", "name")
	name := id[:len(id)-len(planSuffix(0))] + planSuffix(plan)
	sent := map[string]any{"clusterServicePlanExternalID": name, "clusterServicePlanExternalName": planSuffix(plan)[1:]}
	status := map[string]any{
		"conditions":         []any{map[string]any{"type": "Ready", "status": "True", "reason": "ProvisionedSuccessfully", "message": "", "lastTransitionTime": "2026-11-28T10:00:00Z"}},
		"externalProperties": sent, "provisionStatus": "Provisioned", "deprovisionStatus": "Required", "observedGeneration": int64(1), "reconciledGeneration": int64(1),
		"asyncOpInProgress": false, "orphanMitigationInProgress": false, "lastConditionState": "Ready", "userSpecifiedClassName": "", "userSpecifiedPlanName": "",
	}
	for _, field := range []struct {
		value any
		path  []string
	}{
		{name, []string{"spec", "clusterServicePlanRef", "name"}},
		{catalog.ID("instance", string(one.GetUID())), []string{"spec", "externalID"}},
		{status, []string{"status"}},
	} {
		if err := unstructured.SetNestedField(one.Object, field.value, field.path...); err != nil {
			return nil, fmt.Errorf("cannot copy an instance: %w", err)
		}
	}
	return one, nil
}

func object(kind, namespace, name string, spec map[string]any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": api.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": spec}
}

// listing is the generated catalog, with a price for each plan; that of so many of each service is high.
func listing(size Size, changed int) ([]byte, error) {
	var all map[string][]map[string]any
	if err := json.Unmarshal(osbtest.GeneratedCatalog(size.Services, size.PlansEach), &all); err != nil {
		return nil, fmt.Errorf("cannot read the generated catalog: %w", err)
	}
	for _, service := range all["services"] {
		plans, _ := service["plans"].([]any)
		for i, plan := range plans {
			amount := 1 + i%high
			if i > 0 && i <= changed { // the first is the default
				amount += high
			}
			metadata, _ := plan.(map[string]any)["metadata"].(map[string]any)
			metadata["costs"] = []any{map[string]any{"amount": map[string]any{"usd": amount}, "unit": "MONTHLY"}}
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the catalog: %w", err)
	}
	return text, nil
}

// high is a price that the policy denies to be exceeded.
const high = 50

// The names in the generated catalog.
func serviceOf(i int) string   { return fmt.Sprintf("service-%05d", i) }
func typeOf(i int) string      { return fmt.Sprintf("type-%05d", i) }
func planSuffix(p int) string  { return fmt.Sprintf("-plan-%05d", p) }
func planOf(i, p int) string   { return serviceOf(i) + planSuffix(p) }
func namespaceOf(i int) string { return fmt.Sprintf("space-%05d", i) }
