package tree

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// cluster is a namespace shop with two instances, one of them a claim's own, and a binding to
// the other in namespace billing.
func cluster() []client.Object {
	isReady := []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue, Reason: "Provisioned", Message: "s3cr3t"}}
	instance := func(name string, conditions ...v1beta1.Condition) *v1beta1.ServiceInstance {
		i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		i.Spec.ServiceType, i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = "mysql", "azure-mysql", "small"
		i.Status.Conditions = conditions
		return i
	}
	binding := func(namespace, name string, of *v1beta1.InstanceReference) *v1beta1.ServiceBinding {
		b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		b.Spec.InstanceRef, b.Status.Conditions = of, isReady
		return b
	}
	shared := instance("db", isReady...)
	shared.Spec.Sharing = &v1beta1.Sharing{Namespaces: []string{"billing"}}
	named := binding("shop", "app", &v1beta1.InstanceReference{Name: "db"})
	named.Spec.SecretName = "credentials"
	claim := binding("shop", "claim", nil)
	claim.Status.InstanceRef = &v1beta1.LocalObjectReference{Name: "claim-1"}
	mysql := &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "mysql"}}
	mysql.Status.DefaultPlan = "azure-mysql/small"
	redis := &v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "redis"}}
	lost := binding("shop", "lost", &v1beta1.InstanceReference{Name: "gone"})
	return []client.Object{
		shared, instance("claim-1"), named, claim, lost, mysql, redis,
		binding("billing", "consumer", &v1beta1.InstanceReference{Namespace: "shop", Name: "db"}),
		binding("shop", "young", nil),
	}
}

func gathererOf(t *testing.T, readsAll bool) *gatherer {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster()...).Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			asked := (&client.ListOptions{}).ApplyOptions(options)
			if !readsAll && asked.Namespace != "shop" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("no"))
			}
			return c.List(ctx, list, options...)
		},
	})
	return &gatherer{reader: reader, namespace: "shop"}
}

func TestTree(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, of string
		little     bool
		want       string
	}{
		"Instance": {
			reason: "its plan, bindings and their Secrets, those of other namespaces last", of: "instance/db", want: `
OBJECT                            READY   REASON        NOTE
instance db                       True    Provisioned
├─ plan azure-mysql/small
├─ binding app                    True    Provisioned
│  └─ secret credentials
└─ binding billing/consumer       True    Provisioned   in another namespace
   └─ secret billing/consumer
`,
		},
		"Limited": {
			reason: "it says what it does not show", of: "inst/db", little: true, want: `
OBJECT                     READY   REASON        NOTE
instance db                True    Provisioned   its bindings in other namespaces are not shown: you may not list them
├─ plan azure-mysql/small
└─ binding app             True    Provisioned
   └─ secret credentials
`,
		},
		"Claim": {
			reason: "with the instance of its own", of: "binding/claim", want: `
OBJECT                        READY     REASON        NOTE
binding claim                 True      Provisioned
├─ secret claim
└─ instance claim-1           Unknown   Pending       its own
   └─ plan azure-mysql/small
`,
		},
		"Young": {reason: "nothing is made yet", of: "binding/young", want: `
OBJECT            READY   REASON        NOTE
binding young     True    Provisioned   its own instance is not there yet
└─ secret young
`},
		"Lost": {reason: "its instance is gone", of: "binding/lost", want: `
OBJECT             READY   REASON        NOTE
binding lost       True    Provisioned
├─ secret lost
└─ instance gone                         is not there
`},
		"Type": {reason: "its default and who asks for it", of: "type/mysql", want: `
OBJECT                        READY     REASON        NOTE
type mysql
├─ plan azure-mysql/small                             default
├─ instance claim-1           Unknown   Pending
│  └─ plan azure-mysql/small
└─ instance db                True      Provisioned
   └─ plan azure-mysql/small
`},
		"OwnType": {reason: "one of the namespace that nothing asks for", of: "type/redis", want: `
OBJECT       READY   REASON   NOTE
type redis                    it has no default plan
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roots, err := gathererOf(t, !tc.little).named(t.Context(), tc.of)
			require.NoError(t, err)
			var out strings.Builder
			require.NoError(t, write(&out, roots, "shop", cli.ScopeOf("shop")))
			assert.Equal(t, lines(tc.want), lines("\n"+out.String()), tc.reason)
		})
	}
}

// lines are those of a text, without what ends them in blanks.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = strings.Join(strings.Fields(all[i]), " ")
	}
	return all
}

func TestTreeOfAll(t *testing.T) {
	t.Parallel()
	roots, err := gathererOf(t, true).instances(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, roots, 2)
	assert.Equal(t, "claim-1", roots[0].Name)
	assert.Equal(t, "the instance is its own", roots[0].Children[1].Note)
}

// TestTreeOfNone: it says where it looked.
func TestTreeOfNone(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(kubeconfig, nil, 0o600))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstanceList","items":[]}`))
	}))
	t.Cleanup(server.Close)
	for where, args := range map[string][]string{`namespace "shop"`: {}, "any namespace": {"-A"}} {
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		env := cli.NewEnv(streams)
		*env.Flags.KubeConfig, *env.Flags.APIServer, *env.Flags.Namespace = kubeconfig, server.URL, "shop"
		cmd := New(env)
		cmd.SetArgs(args)
		require.NoError(t, cmd.ExecuteContext(t.Context()))
		assert.Equal(t, "no instances in "+where+"\n", out.String())
	}
}

// TestTreeOfKubectlsWords: kinds are called as everywhere, and as kubectl prints them.
func TestTreeOfKubectlsWords(t *testing.T) {
	t.Parallel()
	for of, kind := range map[string]string{
		"si/db": kindInstance, "ServiceInstances/db": kindInstance, "serviceinstance.servicecatalog.k8s.io/db": kindInstance, "inst/db": kindInstance,
		"sb/app": kindBinding, "servicebinding.servicecatalog.k8s.io/app": kindBinding, "bnd/app": kindBinding,
		"cst/mysql": kindType, "sty/redis": kindType, "clusterservicetype.servicecatalog.k8s.io/mysql": kindType,
	} {
		roots, err := gathererOf(t, true).named(t.Context(), of)
		require.NoError(t, err, of)
		assert.Equal(t, kind, roots[0].Kind, of)
	}
}

func TestTreeArgument(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ of, wrong string }{
		"NoKind":  {"db", "svcat tree takes KIND/NAME"},
		"NoName":  {"instance/", "svcat tree takes KIND/NAME"},
		"Twice":   {"instance/shop/db", "svcat tree takes KIND/NAME"},
		"Near":    {"bindign/db", `there is no tree of a "bindign"; did you mean binding? kinds: instance, binding, type`},
		"NoTree":  {"plan/db", `there is no tree of a "plan"`},
		"Unknown": {"pod/db", `there is no tree of a "pod"; kinds: instance, binding, type`},
		"Absent":  {"instance/dbx", `did you mean db?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := gathererOf(t, true).named(t.Context(), tc.of)
			require.ErrorContains(t, err, tc.wrong)
		})
	}
}

// TestNodesAreNotForged: what a broker calls its plan makes neither a node nor a cell, and steers
// no terminal.
func TestNodesAreNotForged(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	root := &Node{Kind: kindInstance, Namespace: "shop", Name: "db", Ready: "True", Reason: "Provisioned", Children: []*Node{{
		Kind: kindPlan, Name: "small\tTrue\nsecret forged\x1b[2J\u009b\u202e", Reason: "a\tb", Note: "c\nd",
	}}}
	require.NoError(t, write(&out, []*Node{root}, "shop", cli.Scope{}))
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 4, "a header, two nodes, and the end")
	assert.Regexp(t, `^└─ plan small True secret forged\x{fffd}\[2J\x{fffd}\x{fffd} +a b +c d$`, lines[2])
}
