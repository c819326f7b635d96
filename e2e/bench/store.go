package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/audit"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	// The first instance and its binding have names that are found wherever they are written.
	firstNamespace, firstName = "bench-first-namespace", "bench-first-name"

	largeBroker  = "large"
	storeWriters = 16
	elected      = "--leader-elect=true"
)

// storedNamespaces have half of the copies each. No hooks admit there: the copies were admitted already.
var storedNamespaces = []string{"bench-stored-0", "bench-stored-1"}

// A store is a market with many instances and bindings that are Ready. One of each became so; the
// others are copies of them with names and IDs of their own, written with their status: to make
// tens of thousands by broker takes too long. Their hooks are not called, and the controller does
// not run meanwhile.
type store struct {
	fair

	instance *api.ServiceInstance
	binding  *api.ServiceBinding
	secret   *corev1.Secret
	// instances and bindings are how many are stored.
	instances, bindings int
	auditLog            string
}

// startStore starts a stack that logs the requests of webhook, keeper and controller, as shipped:
// the controller is elected.
func startStore(ctx context.Context, bin string, services int) (*store, ending, error) {
	dir, err := newFolder()
	if err != nil {
		return nil, nil, err
	}
	policy, log := filepath.Join(dir, "audit-policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(audit.Policy), 0o600); err != nil {
		return nil, nil, fmt.Errorf("cannot write the audit policy: %w", err)
	}
	f, end, err := startFair(ctx, stack.Options{Dir: dir, Bin: bin, Webhooks: 1, ReadyWithin: marketPatience, ControlPlaneArgs: []string{
		"--", "--audit-policy-file=" + policy, "--audit-log-path=" + log,
	}}, elected)
	if err != nil {
		return nil, nil, err
	}
	s := &store{fair: *f, auditLog: log}
	if err := s.furnish(ctx, services); err != nil {
		return nil, nil, end(err)
	}
	return s, end, nil
}

// furnish makes the first instance and its binding, and has no hooks admit where copies are stored.
func (s *store) furnish(ctx context.Context, services int) error {
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: largeBroker}}
	broker.Spec.URL = s.brokers.large(services)
	if err := s.registers(ctx, broker); err != nil {
		return err
	}
	if err := s.choose(ctx); err != nil {
		return err
	}
	first := metav1.ObjectMeta{Namespace: firstNamespace, Name: firstName}
	s.instance, s.binding, s.secret = byType(firstNamespace, firstName), &api.ServiceBinding{ObjectMeta: first}, &corev1.Secret{ObjectMeta: first}
	s.binding.Spec.InstanceRef = &api.InstanceReference{Name: firstName}
	for _, name := range append([]string{firstNamespace}, storedNamespaces...) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hooksLabel: name}}}
		if err := s.Client().Create(ctx, namespace); err != nil {
			return fmt.Errorf("cannot create namespace %q: %w", name, err)
		}
	}
	for _, object := range []client.Object{s.instance, s.binding} {
		if err := s.Client().Create(ctx, object); err != nil {
			return fmt.Errorf("cannot create %T: %w", object, err)
		}
		if err := s.becomesReady(ctx, object); err != nil {
			return err
		}
	}
	if err := s.Client().Get(ctx, client.ObjectKeyFromObject(s.secret), s.secret); err != nil {
		return fmt.Errorf("cannot read the first Secret: %w", err)
	}
	shipped, err := shippedHooks(ctx, s.Client())
	if err != nil {
		return err
	}
	return shipped.notIn(storedNamespaces...).update(ctx, s.Client())
}

func byType(namespace, name string) *api.ServiceInstance {
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	instance.Spec.ServiceType = marketType
	return instance
}

func (s *store) becomesReady(ctx context.Context, object client.Object) error {
	return wait.Eventually(ctx, func() (bool, error) {
		if err := s.Client().Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, fmt.Errorf("cannot read %T %q: %w", object, object.GetName(), err)
		}
		return isReady(object), nil
	})
}

// fill stores instances and bindings until there are so many, while the controller is stopped.
func (s *store) fill(ctx context.Context, instances, bindings int) error {
	if err := s.controller.Stop(ctx, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	if err := storing(ctx, s.instances, instances, s.storeInstance); err != nil {
		return err
	}
	if err := storing(ctx, s.bindings, bindings, s.storeBinding); err != nil {
		return err
	}
	s.instances, s.bindings = max(s.instances, instances), max(s.bindings, bindings)
	return nil
}

// storing calls store for each number of a range, several at a time.
func storing(ctx context.Context, from, to int, store func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(storeWriters)
	for n := from; n < to && ctx.Err() == nil; n++ {
		group.Go(func() error { return store(ctx, n) })
	}
	return group.Wait() //nolint:wrapcheck // it is our own
}

// rewrite is a copy of an object of the first ones, with the names and IDs of copy n in all places.
func rewrite[T client.Object](s *store, from T, n int, uids ...string) (T, error) {
	name := fmt.Sprintf("stored-%06d", n)
	var to T
	text, err := json.Marshal(from)
	if err != nil {
		return to, fmt.Errorf("cannot encode %T: %w", from, err)
	}
	replaced := slices.Concat(uids, []string{firstNamespace, storedNamespaces[n%len(storedNamespaces)], firstName, name,
		s.instance.Spec.ExternalID, catalog.ID("instance", name), s.binding.Spec.ExternalID, catalog.ID("binding", name)})
	if err := json.Unmarshal([]byte(strings.NewReplacer(replaced...).Replace(string(text))), &to); err != nil {
		return to, fmt.Errorf("cannot decode %T: %w", from, err)
	}
	to.SetUID("")
	to.SetResourceVersion("")
	to.SetManagedFields(nil)
	return to, nil
}

// storeWithStatus creates an object, calls then, and writes the status that the object had.
func (s *store) storeWithStatus(ctx context.Context, object client.Object, then func(stored client.Object) error) error {
	stored, _ := object.DeepCopyObject().(client.Object)
	if err := s.Client().Create(ctx, stored); err != nil {
		return fmt.Errorf("cannot store %T: %w", object, err)
	}
	if err := then(stored); err != nil {
		return err
	}
	object.SetResourceVersion(stored.GetResourceVersion())
	if err := s.Client().Status().Update(ctx, object); err != nil {
		return fmt.Errorf("cannot store the status of %T: %w", object, err)
	}
	return nil
}

func (s *store) storeInstance(ctx context.Context, n int) error {
	instance, err := rewrite(s, s.instance, n)
	if err != nil {
		return err
	}
	return s.storeWithStatus(ctx, instance, func(client.Object) error { return nil })
}

// storeBinding stores the binding's Secret before its status: at no time are credentials missing
// that status tells of.
func (s *store) storeBinding(ctx context.Context, n int) error {
	binding, err := rewrite(s, s.binding, n)
	if err != nil {
		return err
	}
	return s.storeWithStatus(ctx, binding, func(stored client.Object) error {
		secret, err := rewrite(s, s.secret, n, string(s.binding.UID), string(stored.GetUID()))
		if err != nil {
			return err
		}
		if err := s.Client().Create(ctx, secret); err != nil {
			return fmt.Errorf("cannot store a Secret: %w", err)
		}
		return nil
	})
}
