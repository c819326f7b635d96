package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/webhook"
)

const (
	// The memory limits of the chart, in MB of 10^6 bytes.
	webhookLimit, controllerLimit = 537, 1074
	hostileGoal                   = 3
	attackers                     = 4
)

// An attack is one step of a hostile tenant, which is repeated; n counts the steps. What it is answered is nothing to us.
type attack struct {
	name string
	step func(ctx context.Context, f *fair, n int64)
}

var attacks = []attack{
	{"large schemas", attackBySchemas},
	{"growing credentials", attackByTransforms},
	{"large selectors", attackBySelectors},
	{"slow bodies at the hooks' port", attackBySlowBodies},
	{"large reviews at the hooks' port", attackByReviews},
}

// measureHostile measures how long another tenant's creates take while a tenant attacks, beside those of a quiet time,
// and how much memory the attacks took.
func measureHostile(ctx context.Context, b *bench) error {
	return onFair(ctx, b, func(f *fair) error {
		if _, err := f.provisions(ctx, "first", b.size.fair.good); err != nil { // caches, connections
			return err
		}
		if err := f.toAttack(ctx); err != nil {
			return err
		}
		var quiet times
		alone, err := f.sharesOf(func() (err error) {
			quiet, err = f.creates(ctx, "quiet", b.size.hostile)
			return err
		})
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{What: "p99 of a create, in a quiet time", Value: milliseconds(quiet.p99()), Unit: "ms", Detail: "shares of one core: " + alone})
		for i, a := range attacks {
			var beside times
			taken, err := f.sharesOf(func() (err error) {
				beside, err = f.under(ctx, a, fmt.Sprintf("attack-%d", i), b.size.hostile)
				return err
			})
			if err != nil {
				return err
			}
			b.table.Add(measure.Row{
				What: "p99 of a create, beside " + a.name, Value: beside.p99().Seconds() / quiet.p99().Seconds(), Unit: "×", Bound: measure.AtMost, Goal: hostileGoal,
				Detail: fmt.Sprintf("%.0f ms against %.0f ms of a quiet time; median %.0f ms against %.0f ms; %d attackers on the same cores; shares of one core: %s",
					milliseconds(beside.p99()), milliseconds(quiet.p99()), milliseconds(beside.median()), milliseconds(quiet.median()), attackers, taken),
			})
		}
		return f.peaks(b)
	})
}

// sharesOf does work, and says what share of one core each process took meanwhile.
func (f *fair) sharesOf(work func() error) (string, error) {
	before, err := f.used()
	if err != nil {
		return "", err
	}
	began := time.Now()
	if err := work(); err != nil {
		return "", err
	}
	took := time.Since(began)
	now, err := f.used()
	if err != nil {
		return "", err
	}
	return shares(now.Since(before), took), nil
}

// peaks tells the most memory that the processes had, against the chart's limits.
func (f *fair) peaks(b *bench) error {
	for _, process := range []struct {
		name  string
		limit float64
	}{{webhookProcess, webhookLimit}, {controllerProcess, controllerLimit}} {
		pid, err := f.Pid(process.name)
		if err != nil {
			return err //nolint:wrapcheck // it says what failed
		}
		peak, err := measure.Memory(pid, measure.ResidentPeak)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: "  memory of the " + strings.TrimSuffix(process.name, "-0"), Value: peak, Unit: "MB", Bound: measure.AtMost, Goal: process.limit,
			Detail: "resident, at its peak; the goal is the chart's limit",
		})
	}
	return nil
}

// under is how long creates take beside an attack.
func (f *fair) under(ctx context.Context, a attack, round string, count int) (times, error) {
	attacking, end := context.WithCancel(ctx)
	group, attacking := errgroup.WithContext(attacking)
	var steps atomic.Int64
	for range attackers {
		group.Go(func() error {
			for attacking.Err() == nil {
				a.step(attacking, f, steps.Add(1))
			}
			return nil
		})
	}
	taken, err := f.creates(ctx, round, count)
	end()
	return taken, errors.Join(err, group.Wait())
}

// creates makes the other tenant's instances, one after the other, and says how long each request took.
func (f *fair) creates(ctx context.Context, round string, count int) (times, error) {
	taken := make(times, 0, count)
	for n := range count {
		instance := f.instance(otherTenant, fmt.Sprintf("%s-%d", round, n), "")
		instance.Spec.ClusterServiceClassExternalName, instance.Spec.ClusterServicePlanExternalName = servingService(sharedBroker), goodPlan
		began := time.Now()
		if err := f.Client().Create(ctx, instance); err != nil {
			return nil, fmt.Errorf("cannot create an instance: %w", err)
		}
		taken = append(taken, time.Since(began))
	}
	return taken, nil
}

// toAttack makes what the attacks are for: a class of the tenant's own, and an instance.
func (f *fair) toAttack(ctx context.Context) error {
	if err := f.registers(ctx, f.local(hostileTenant, ownBroker, f.brokers.serving(hostileTenant))); err != nil {
		return err
	}
	class := &api.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: hostileTenant, Name: "mine"}}
	class.Spec.ServiceBrokerName, class.Spec.ExternalName, class.Spec.ExternalID, class.Spec.Description = ownBroker, "mine", "mine-id", "mine"
	instance := f.instance(hostileTenant, "mine", "")
	instance.Spec.ServiceClassExternalName, instance.Spec.ServicePlanExternalName = servingService(hostileTenant), goodPlan
	for _, object := range []client.Object{class, instance} {
		if err := f.Client().Create(ctx, object); err != nil {
			return fmt.Errorf("cannot create %T: %w", object, err)
		}
	}
	return nil
}

// attackBySchemas has a new schema compiled, just within the bounds.
func attackBySchemas(ctx context.Context, f *fair, n int64) {
	name := fmt.Sprintf("schema-%d", n)
	properties := make([]string, 3000)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	plan := &api.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: hostileTenant, Name: name}}
	plan.Spec.ServiceBrokerName, plan.Spec.ExternalName, plan.Spec.ExternalID, plan.Spec.Description = ownBroker, name, name, "mine"
	plan.Spec.ServiceClassRef.Name = "mine"
	plan.Spec.InstanceCreateParameterSchema = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"title":%q,"properties":{%s}}`, name, strings.Join(properties, ","))}
	_ = f.Client().Create(ctx, plan)
	instance := f.instance(hostileTenant, name, "")
	instance.Spec.ServiceClassExternalName, instance.Spec.ServicePlanExternalName = "mine", name
	instance.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"p0":"x"}`)}
	_ = f.Client().Create(ctx, instance, client.DryRunAll)
}

// attackByTransforms makes a binding whose transforms multiply its credentials.
func attackByTransforms(ctx context.Context, f *fair, n int64) {
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: hostileTenant, Name: fmt.Sprintf("grows-%d", n)}}
	binding.Spec.InstanceRef = &api.InstanceReference{Name: "mine"}
	everything := strings.Repeat("{$}", 1000)
	for k := range 256 {
		binding.Spec.SecretTransforms = append(binding.Spec.SecretTransforms, api.SecretTransform{
			AddKey: &api.AddKeyTransform{Key: fmt.Sprintf("k%d", k), JSONPathExpression: &everything},
		})
	}
	_ = f.Client().Create(ctx, binding)
}

// attackBySelectors asks for a plan by as many labels as are allowed.
func attackBySelectors(ctx context.Context, f *fair, n int64) {
	instance := f.instance(hostileTenant, fmt.Sprintf("selects-%d", n), "")
	instance.Spec.PlanSelector = &metav1.LabelSelector{}
	for k := range 64 {
		instance.Spec.PlanSelector.MatchExpressions = append(instance.Spec.PlanSelector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: fmt.Sprintf("k%d", k), Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a", "b", "c", "d"},
		})
	}
	_ = f.Client().Create(ctx, instance, client.DryRunAll)
}

// attackBySlowBodies opens connections that say nothing, or begin a review and leave it at that.
func attackBySlowBodies(ctx context.Context, f *fair, _ int64) {
	var conns []net.Conn
	for range 500 {
		conn, err := f.connect(ctx)
		if err != nil {
			break
		}
		conns = append(conns, conn)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
}

// attackByReviews sends a review of 7 MB.
func attackByReviews(ctx context.Context, f *fair, _ int64) {
	conn, err := f.connect(ctx)
	if err != nil {
		return
	}
	secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // an attacker looks at no certificate
	defer func() { _ = secured.Close() }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.WebhookURL(webhook.MutateInstances), bytes.NewReader(largeReview))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if request.Write(secured) != nil {
		return
	}
	response, err := http.ReadResponse(bufio.NewReader(secured), request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// largeReview is a review of an object with 7 MB of parameters, in many small pieces.
var largeReview = fmt.Appendf(nil, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",`+
	`"kind":{"group":"servicecatalog.k8s.io","version":"v1beta1","kind":"ServiceInstance"},`+
	`"operation":"CREATE","object":{"spec":{"parameters":{"a":[%s0]}}}}}`, strings.Repeat(`{},`, 7<<20/3))

func (f *fair) connect(ctx context.Context) (net.Conn, error) {
	to, err := url.Parse(f.WebhookURL("/"))
	if err != nil {
		return nil, fmt.Errorf("cannot find the hooks: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the hooks: %w", err)
	}
	return conn, nil
}
