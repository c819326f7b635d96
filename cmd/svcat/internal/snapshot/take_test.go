package snapshot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A cluster answers lists; before may refuse one.
func cluster(t *testing.T, before func(kind string, at *client.ListOptions) error, objects ...client.Object) client.Reader {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	require.NoError(t, appsv1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, given ...client.ListOption) error {
			at := (&client.ListOptions{}).ApplyOptions(given)
			if err := before(list.GetObjectKind().GroupVersionKind().Kind, at); err != nil {
				return err
			}
			err := c.List(ctx, list, given...)
			list.SetResourceVersion("7")
			return err
		},
	}).Build()
}

func anything(string, *client.ListOptions) error { return nil }

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: v1beta1.GroupName, Resource: resource}, "", nil)
}

func shop() []client.Object {
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "cluster-uid"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "dev", Labels: map[string]string{"env": "dev"}}},
		&v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}},
		&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "dev"}},
		&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "prod"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "dev"}},
	}
}

func take(t *testing.T, reader client.Reader) (*Snapshot, error) {
	t.Helper()
	return Take(t.Context(), Request{Reader: reader, Namespace: "dev", Now: time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)})
}

// titles are what a snapshot has.
func titles(s *Snapshot) []string {
	var all []string
	for _, text := range s.Objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			panic(err)
		}
		all = append(all, title(object))
	}
	return all
}

// TestTakeReadsAllKinds: and no Secret, at one moment.
func TestTakeReadsAllKinds(t *testing.T) {
	t.Parallel()
	moments := map[string]int{}
	s, err := take(t, cluster(t, func(kind string, at *client.ListOptions) error {
		if kind == "SecretList" {
			return fmt.Errorf("a Secret is never read")
		}
		if raw := at.Raw; raw != nil {
			moments[raw.ResourceVersion+" "+string(raw.ResourceVersionMatch)]++
		}
		return nil
	}, shop()...))
	require.NoError(t, err)
	assert.Equal(t, []string{"Namespace dev", "Namespace kube-system", "ClusterServicePlan small", "ServiceInstance dev/db", "ServiceInstance prod/db"}, titles(s))
	assert.Equal(t, map[string]int{"7 Exact": len(kinds) - 1}, moments, "all but the first are of its moment")
	assert.Equal(t, "cluster-uid", s.Cluster)
	assert.Contains(t, s.Lists, List{Kind: "ServiceInstance", Count: 2, ResourceVersion: "7"})
	assert.Equal(t, []string{
		"the options of the webhook: no Deployment of namespace defaultplan-system tells them, so they are taken to be the defaults; give others with --unresolved, --schema-check and --feature-gates, or another namespace with --system-namespace",
		withheldNote, appliedNote,
	}, s.Unknown)
}

// TestTakeTellsWhatItMayNotRead: as far as a user's rights go.
func TestTakeTellsWhatItMayNotRead(t *testing.T) {
	t.Parallel()
	s, err := take(t, cluster(t, func(kind string, at *client.ListOptions) error {
		switch {
		case kind == "NamespaceList":
			return forbidden("namespaces")
		case kind == "ServiceInstanceList" && at.Namespace == "":
			return forbidden("serviceinstances")
		case kind == "ServiceBindingList":
			return forbidden("servicebindings")
		}
		return nil
	}, shop()...))
	require.NoError(t, err)
	assert.Equal(t, []string{"ClusterServicePlan small", "ServiceInstance dev/db"}, titles(s))
	assert.Equal(t, []string{
		"namespaces: there is no right to list them",
		"serviceinstances of namespaces other than dev: there is no right to list them",
		"servicebindings: there is no right to list them",
	}, s.Unknown[:3])
	_, err = take(t, cluster(t, func(string, *client.ListOptions) error { return forbidden("all") }))
	require.ErrorContains(t, err, "cannot list clusterservicebrokers")
	_, err = take(t, cluster(t, func(kind string, _ *client.ListOptions) error {
		if kind == "ServicePlanList" {
			return apierrors.NewInternalError(fmt.Errorf("etcd"))
		}
		return nil
	}))
	require.ErrorContains(t, err, "cannot list serviceplans")
}

// TestTakeGoesOnWithoutTheMoment: an API server that has compacted it gives what is there now, also
// where it does so between two pages of the first list.
func TestTakeGoesOnWithoutTheMoment(t *testing.T) {
	t.Parallel()
	first := true
	for name, compacted := range map[string]func(at *client.ListOptions) bool{
		"Moment": func(at *client.ListOptions) bool { return at.Raw != nil },
		"Page":   func(*client.ListOptions) (was bool) { was, first = first, false; return was },
	} {
		s, err := take(t, cluster(t, func(_ string, at *client.ListOptions) error {
			if compacted(at) {
				return apierrors.NewResourceExpired("compacted")
			}
			return nil
		}, shop()...))
		require.NoError(t, err, name)
		assert.Len(t, s.Objects, 5, name)
	}
}

// TestPages: all of a long list are read, the later pages by the mark alone.
func TestPages(t *testing.T) {
	t.Parallel()
	var asked []string
	reader := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, given ...client.ListOption) error {
			at := (&client.ListOptions{}).ApplyOptions(given)
			asked = append(asked, fmt.Sprint(at.Namespace, " ", at.Limit, " ", at.Continue, " ", at.Raw != nil))
			answer, _ := list.(*unstructured.UnstructuredList)
			answer.Items = make([]unstructured.Unstructured, page)
			answer.SetResourceVersion("7")
			if at.Continue == "" {
				answer.SetContinue("mark")
			}
			return nil
		},
	})
	found, version, err := (&taker{reader: reader}).list(t.Context(), kinds[1], "dev", "7")
	require.NoError(t, err)
	assert.Len(t, found, 2*page)
	assert.Equal(t, "7", version)
	assert.Equal(t, []string{"dev 500  true", "dev 500 mark false"}, asked)
}

func webhookDeployment(arguments ...string) client.Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "webhook", Namespace: "defaultplan-system", Labels: map[string]string{"app.kubernetes.io/component": "webhook"}}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "sidecar", Args: []string{"--unresolved=reject"}}, {Name: "webhook", Args: arguments}}
	return d
}

// TestOptionsOfTheWebhook: read from its Deployment, but for what the user gives.
func TestOptionsOfTheWebhook(t *testing.T) {
	t.Parallel()
	shipped := []string{"--certs=managed", "--namespace=$(NAMESPACE)", "--controller-user=system:serviceaccount:$(NAMESPACE):c", "--unresolved=wait", "--feature-gates=SuggestedPlans=false", "--log-level", "info"}
	for name, tc := range map[string]struct {
		reason           string
		deployed, given  []string
		unresolved       string
		suggested, noted bool
	}{
		"Deployed":  {"as it runs", shipped, nil, options.UnresolvedWait, false, false},
		"Given":     {"what is said in the command counts", shipped, []string{"--unresolved=reject"}, options.UnresolvedReject, false, false},
		"Nonsense":  {"what cannot be understood is told", []string{"--unresolved=maybe"}, nil, options.UnresolvedReject, true, true},
		"GivenOnly": {"and not where the user says it", []string{"--unresolved=maybe"}, []string{"--feature-gates=SuggestedPlans=false"}, options.UnresolvedReject, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given Flags
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			given.Bind(flags)
			require.NoError(t, flags.Parse(tc.given))
			require.NoError(t, given.Validate())
			found, note, err := given.find(t.Context(), cluster(t, anything, webhookDeployment(tc.deployed...)))
			require.NoError(t, err)
			assert.Equal(t, tc.unresolved, found.Unresolved, tc.reason)
			assert.Equal(t, tc.suggested, found.Gates.Enabled(options.SuggestedPlans), tc.reason)
			assert.Equal(t, tc.noted, note != "", tc.reason)
			if name == "Deployed" {
				assert.Equal(t, []string{"system:serviceaccount:defaultplan-system:c"}, found.Controllers)
			}
		})
	}
}
