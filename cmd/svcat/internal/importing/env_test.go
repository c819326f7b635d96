package importing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// canary is in every value that no report may have.
const canary = "s3cret-canary"

// errCut is what a client gives that was killed.
var errCut = errors.New("cut")

func ready(reason string) []v1beta1.Condition {
	return []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue, Reason: reason}}
}

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func bearer(namespace, name string) *v1beta1.ClusterServiceBrokerAuthInfo {
	return &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: namespace, Name: name}}}
}

func clusterBroker(name, url string) *v1beta1.ClusterServiceBroker {
	b := &v1beta1.ClusterServiceBroker{ObjectMeta: meta("", name)}
	b.Spec.URL = url
	return b
}

// offering is a class and a plan of a broker, called by a suffix on this side.
func offering(broker, suffix string, retrievable bool) (*v1beta1.ClusterServiceClass, *v1beta1.ClusterServicePlan) {
	class := &v1beta1.ClusterServiceClass{ObjectMeta: meta("", "class"+suffix)}
	class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.ClusterServiceBrokerName = "class-id", "mysql"+suffix, broker
	class.Spec.BindingRetrievable = retrievable
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: meta("", "plan"+suffix)}
	plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.ClusterServiceBrokerName = "plan-id", "small"+suffix, broker
	plan.Spec.ClusterServiceClassRef.Name = class.Name
	return class, plan
}

func instance(name string) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: meta("shop", name)}
	i.Spec.ExternalID = "id-of-" + name
	i.Spec.ClusterServiceClassName, i.Spec.ClusterServicePlanExternalName = "class", "small"
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "class"}, &v1beta1.ClusterObjectReference{Name: "plan"}
	i.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"password":"` + canary + `"}`)}
	i.Status.ProvisionStatus, i.Status.Conditions = v1beta1.Provisioned, ready("ProvisionedSuccessfully")
	return i
}

func binding(name, of string) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: meta("shop", name)}
	b.Spec.ExternalID, b.Spec.InstanceRef = "id-of-"+name, &v1beta1.InstanceReference{Name: of}
	b.Status.Conditions = ready("InjectedBindResult")
	return b
}

func secret(namespace, name, key string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta(namespace, name), Data: map[string][]byte{key: []byte(canary)}}
}

// exported is a file with a broker, an instance and its binding, and the Secrets of both.
func exported() *moving.Contents {
	broker := clusterBroker("azure", "https://broker.example.com/")
	broker.Spec.AuthInfo = bearer("brokers", "token")
	class, plan := offering("azure", "", false)
	return &moving.Contents{
		Brokers: []v1beta1.BrokerObject{broker}, Classes: []v1beta1.ClassObject{class}, Plans: []v1beta1.PlanObject{plan},
		Instances: []*v1beta1.ServiceInstance{instance("db")}, Bindings: []*v1beta1.ServiceBinding{binding("app", "db")},
		Secrets: []*corev1.Secret{secret("brokers", "token", "token"), secret("shop", "app", "password")},
	}
}

// A cluster is the new side: a broker that is registered gets its catalog, and what is adopted is
// Ready, or what becomes says.
type cluster struct {
	*testing.T
	client.WithWatch

	// controller writes what admission and the controller do.
	controller client.WithWatch

	// creates are those that were made, as KIND NAMESPACE/NAME.
	creates []string
	// left is how many more are made; -1: all.
	left int
	// becomes are the conditions of what is created, by name; others are Ready.
	becomes map[string][]v1beta1.Condition
	// told is what the last run printed to standard error.
	told string
	// interrupt, if set, is called when a command waits.
	interrupt context.CancelFunc
	// retrievable says that the broker gives bindings again.
	retrievable bool
	// rival says that another client creates each namespace first.
	rival bool
}

func namespaces(names ...string) []client.Object {
	all := make([]client.Object, len(names))
	for i, name := range names {
		all[i] = &corev1.Namespace{ObjectMeta: meta("", name)}
	}
	return all
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	c := &cluster{T: t, left: -1, becomes: map[string][]v1beta1.Condition{}}
	forbid := func() error { t.Error("nothing is changed or deleted"); return nil }
	c.controller = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	c.WithWatch = interceptor.NewClient(c.controller, interceptor.Funcs{
		Create: c.create,
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return forbid() },
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return forbid() },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return forbid()
		},
	})
	return c
}

func (c *cluster) create(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.CreateOption) error {
	how := &client.CreateOptions{}
	how.ApplyOptions(options)
	if len(how.DryRun) > 0 {
		return inner.Create(ctx, object, options...)
	}
	if c.left == 0 {
		return errCut
	}
	kind := moving.KindOf(object)
	if kind == "" {
		kind = fmt.Sprintf("%T", object)
	}
	require.Empty(c, moving.ConditionsOf(object), "its status is the controller's")
	if _, is := object.(*corev1.Namespace); is && c.rival {
		require.NoError(c, inner.Create(ctx, &corev1.Namespace{ObjectMeta: meta("", object.GetName())}))
	}
	if err := inner.Create(ctx, object, options...); err != nil {
		return err
	}
	c.left--
	c.creates = append(c.creates, kind+" "+cli.Qualified(object.GetNamespace(), object.GetName()))
	return nil
}

// settle is what the controller makes of objects, and as far as a command waits for it.
func (c *cluster) settle(ctx context.Context, _ time.Duration, objects ...client.Object) error {
	if c.left == 0 {
		return errCut
	}
	if c.interrupt != nil {
		c.interrupt()
		return ctx.Err()
	}
	for _, object := range objects {
		conditions, is := c.becomes[object.GetName()]
		if !is {
			conditions = ready("Adopted")
		}
		switch o := object.(type) {
		case *v1beta1.ClusterServiceBroker:
			o.Status.Conditions = conditions
			if class, plan := offering(o.Name, "-here", c.retrievable); !is {
				require.NoError(c, client.IgnoreAlreadyExists(c.controller.Create(ctx, class)))
				require.NoError(c, client.IgnoreAlreadyExists(c.controller.Create(ctx, plan)))
			}
		case *v1beta1.ServiceInstance:
			o.Status.Conditions = conditions
		case *v1beta1.ServiceBinding:
			o.Status.Conditions = conditions
		}
		require.NoError(c, c.controller.Update(ctx, object))
	}
	return nil
}

// A trial is one run of the command on a cluster.
type trial struct {
	contents *moving.Contents
	flags    []string
	dryRun   bool
	create   bool
	in       string
}

// run is what the command reports, a line per object, and the error that ended it.
func (c *cluster) run(ctx context.Context, tr *trial) (string, error) {
	c.Helper()
	streams, in, _, told := genericiooptions.NewTestIOStreams()
	in.WriteString(tr.in)
	command := &importing{env: cli.NewEnv(streams)}
	set := pflag.NewFlagSet("import", pflag.ContinueOnError)
	command.names.Bind(set)
	command.secrets.bind(set)
	require.NoError(c, set.Parse(tr.flags))
	require.NoError(c, command.names.Validate())
	require.NoError(c, command.secrets.validate())
	s := &side{
		env: command.env, client: c.WithWatch, names: &command.names, wait: time.Minute, dryRun: tr.dryRun,
		report: &moving.Report{}, ready: c.settle,
	}
	err := s.namespaces(ctx, tr.contents, tr.create)
	if err == nil {
		err = move(ctx, s, tr.contents, &command.secrets)
	}
	c.told = told.String()
	var text strings.Builder
	for _, row := range s.report.Objects {
		text.WriteString(strings.TrimSpace(row.Kind+" "+row.Name+": "+string(row.Result)+" "+row.Reason) + "\n")
	}
	require.NotContains(c, text.String(), canary)
	return text.String(), errors.Join(err, s.report.Failure())
}
