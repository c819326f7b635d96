package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	// relistWriters is how many of a broker's classes and plans are written at once.
	relistWriters = 16
	relistGoal    = 1.7
	// markGoal is how much longer than their first relist it may take to mark them all as removed.
	markGoal = 2
)

// measureRelist compares the first relist of a large catalog with a bare server-side
// apply of the same objects through the same hooks, counts what a relist of the unchanged
// catalog writes, tells what the controller then holds, and in the end has all of it be listed
// no more.
func measureRelist(ctx context.Context, b *bench) error {
	size := b.size.relist
	return onMarket(ctx, b.bin, size.services, size.plansEach, func(m *market) error {
		began := time.Now()
		if err := m.register(ctx); err != nil {
			return err
		}
		relisted := time.Since(began)
		if err := m.relistAgain(ctx, b); err != nil {
			return err
		}
		if err := m.tellMemory(ctx, b, fmt.Sprintf("memory of the controller with %d plans", size.plans())); err != nil {
			return err
		}
		bare, err := m.applyBare(ctx)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: fmt.Sprintf("first relist of %d plans", size.plans()), Value: relisted.Seconds() / bare.Seconds(), Unit: "×", Bound: measure.AtMost, Goal: relistGoal,
			Detail: fmt.Sprintf("%.1f s against %.1f s for applying as many classes and plans, %d at once", relisted.Seconds(), bare.Seconds(), relistWriters),
		})
		if err := m.fillUp(ctx, b); err != nil {
			return err
		}
		return m.unlist(ctx, b, relisted)
	})
}

// unlist keeps all plans out of what is taken of the catalog, waits until they are marked, and
// compares that with how long they took to be listed, and counts how often status tells how far it
// is.
func (m *market) unlist(ctx context.Context, b *bench, relisted time.Duration) error {
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}}
	began := time.Now()
	if err := m.Client().Patch(ctx, broker, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"catalogRestrictions":{"servicePlan":["spec.externalName=none"]}}}`))); err != nil {
		return fmt.Errorf("cannot restrict the catalog: %w", err)
	}
	told := map[string]bool{}
	err := wait.Eventually(ctx, func() (bool, error) {
		if err := m.Client().Get(ctx, client.ObjectKeyFromObject(broker), broker); err != nil {
			return false, fmt.Errorf("cannot read the broker: %w", err)
		}
		progress, _ := api.FindCondition(broker.Status.Conditions, api.ConditionReconciling)
		if progress.Reason == "MarkingRemoved" {
			told[progress.Message] = true
		}
		if broker.Status.ReconciledGeneration == broker.Generation {
			return true, nil
		}
		return false, fmt.Errorf("the plans are not marked: %s", progress.Message)
	})
	if err != nil {
		return fmt.Errorf("cannot have the plans marked: %w", err)
	}
	took := time.Since(began)
	b.table.Add(measure.Row{
		What: fmt.Sprintf("marking of %d plans that are listed no more", b.size.relist.plans()), Value: took.Seconds() / relisted.Seconds(), Unit: "×", Bound: measure.AtMost, Goal: markGoal,
		Detail: fmt.Sprintf("%.1f s against %.1f s of their first relist", took.Seconds(), relisted.Seconds()),
	})
	b.table.Add(measure.Row{
		What: "  times that status told how far it was", Value: float64(len(told)), Bound: measure.AtLeast, Goal: 1, Detail: "different messages of condition Reconciling",
	})
	return nil
}

// relistAgain asks for a relist, and counts what it writes.
func (m *market) relistAgain(ctx context.Context, b *bench) error {
	before, err := m.requests(ctx)
	if err != nil {
		return err
	}
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}}
	if err := m.Client().Get(ctx, client.ObjectKeyFromObject(broker), broker); err != nil {
		return fmt.Errorf("cannot read the broker: %w", err)
	}
	began := time.Now()
	if err := m.Client().Patch(ctx, broker, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"relistRequests":1}}`))); err != nil {
		return fmt.Errorf("cannot ask for a relist: %w", err)
	}
	if err := m.listed(ctx, broker); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := m.requests(ctx)
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: "writes of an unchanged relist", Value: after.since(before).writes("clusterserviceclasses", "clusterserviceplans"),
		Bound: measure.AtMost, Goal: 0, Detail: fmt.Sprintf("of classes and plans; it took %.2f s", took.Seconds()),
	})
	return nil
}

// applyBare applies copies of all classes and plans under other names, by the same way,
// as many at once.
func (m *market) applyBare(ctx context.Context) (time.Duration, error) {
	var classes api.ClusterServiceClassList
	var plans api.ClusterServicePlanList
	if err := m.Client().List(ctx, &classes); err != nil {
		return 0, fmt.Errorf("cannot list classes: %w", err)
	}
	if err := m.Client().List(ctx, &plans); err != nil {
		return 0, fmt.Errorf("cannot list plans: %w", err)
	}
	objects := make([]client.Object, 0, len(classes.Items)+len(plans.Items))
	for i := range plans.Items {
		p := plans.Items[i].DeepCopy()
		p.Spec.ExternalID, p.Spec.ClusterServiceClassRef.Name, p.Spec.ClusterServiceBrokerName = bare(p.Spec.ExternalID), bare(p.Spec.ClusterServiceClassRef.Name), "bare"
		p.Status = api.ClusterServicePlanStatus{}
		objects = append(objects, p)
	}
	for i := range classes.Items {
		c := classes.Items[i].DeepCopy()
		c.Spec.ExternalID, c.Spec.ClusterServiceBrokerName = bare(c.Spec.ExternalID), "bare"
		c.Status = api.ClusterServiceClassStatus{}
		objects = append(objects, c)
	}
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(relistWriters)
	for _, object := range objects {
		group.Go(func() error { return m.apply(ctx, object) })
	}
	err := group.Wait()
	return time.Since(began), err
}

// bare is another name, as long as the first.
func bare(name string) string { return "b" + name[1:] }

func (m *market) apply(ctx context.Context, object client.Object) error {
	object.SetName(bare(object.GetName()))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("cannot encode %q: %w", object.GetName(), err)
	}
	kind := "ClusterServicePlan"
	if _, is := object.(*api.ClusterServiceClass); is {
		kind = "ClusterServiceClass"
	}
	metadata := map[string]any{"name": object.GetName()}
	if annotations := object.GetAnnotations(); annotations != nil {
		metadata["annotations"] = content["metadata"].(map[string]any)["annotations"] //nolint:forcetypeassert // as they were just encoded
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": api.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": content["spec"],
	}}
	if err := m.Client().Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner("bare"), client.ForceOwnership); err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", kind, object.GetName(), err)
	}
	return nil
}

// fillUp makes a crowd of instances, and tells what the controller then holds.
func (m *market) fillUp(ctx context.Context, b *bench) error {
	size := b.size.relist
	began := time.Now()
	err := m.readyAll(ctx, size.crowd, func(i int) client.Object {
		instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: marketNamespace, Name: fmt.Sprintf("instance-%05d", i)}}
		instance.Spec.ClusterServicePlanName = fmt.Sprintf("service-%05d-plan-%05d", i%size.services, i%size.plansEach)
		instance.Spec.ClusterServiceClassName = fmt.Sprintf("service-%05d", i%size.services)
		return instance
	})
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{What: fmt.Sprintf("%d instances of named plans to Ready", size.crowd), Value: float64(size.crowd) / time.Since(began).Seconds(), Unit: "/s"})
	return m.tellMemory(ctx, b, fmt.Sprintf("memory of the controller with %d plans and %d instances", 2*size.plans(), size.crowd))
}

// tellMemory tells what the controller's own metrics say.
func (m *market) tellMemory(ctx context.Context, b *bench, what string) error {
	text, err := m.Scrape(ctx, m.controller.Metrics())
	if err != nil {
		return err
	}
	value := func(name string) float64 {
		for line := range strings.SplitSeq(text, "\n") {
			if rest, is := strings.CutPrefix(line, name+" "); is {
				if v, err := strconv.ParseFloat(rest, 64); err == nil {
					return v
				}
			}
		}
		return -1
	}
	const mega = 1e6
	b.table.Add(measure.Row{
		What: what, Value: value("process_resident_memory_bytes") / mega, Unit: "MB",
		Detail: fmt.Sprintf("resident; %.0f MB in use on the heap", value("go_memstats_heap_inuse_bytes")/mega),
	})
	return nil
}
