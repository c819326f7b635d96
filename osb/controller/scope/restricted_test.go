package scope

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A guarded API server notes what is asked for, and forbids what rights within the
// namespaces a and b do not allow.
func guarded(t *testing.T, s Scope, policies bool) (restrictedReader, *[]string) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, where := range map[string]meta.RESTScope{
		"ServiceInstance": meta.RESTScopeNamespace, "ClusterServicePlan": meta.RESTScopeRoot, "ProvisioningPolicy": meta.RESTScopeRoot, "BindingPolicy": meta.RESTScopeRoot,
	} {
		mapper.Add(v1beta1.GroupVersion.WithKind(kind), where)
	}
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	asked := &[]string{}
	forbidden := apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("things").GroupResource(), "", errors.New("no right"))
	allowed := func(what, namespace string) error {
		*asked = append(*asked, what)
		if slices.Contains([]string{"a", "b"}, namespace) || strings.HasSuffix(what, " policies") && policies {
			return nil
		}
		return forbidden
	}
	in := func(namespace, name string) *v1beta1.ServiceInstance {
		return &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(
		in("a", "1"), in("b", "2"), in("b", "3"), in("c", "4"), &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
	).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			namespace := key.Namespace
			if _, is := o.(*corev1.Namespace); is { // as the API server sees it
				namespace = key.Name
			}
			if err := allowed("get "+key.String(), namespace); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(options)
			what := "list " + o.Namespace
			switch list.(type) {
			case *v1beta1.ProvisioningPolicyList:
				what = "list policies"
			case *v1beta1.BindingPolicyList:
				what = "list binding policies"
			}
			if err := allowed(what, o.Namespace); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
	return restrictedReader{s, server, server, scheme, mapper}, asked
}

var ofAB = Scope{Namespaces: []string{"a", "b"}}

// Nothing is asked for that rights within the namespaces do not allow: what is beyond them
// is told as such.
func TestRestrictedReads(t *testing.T) {
	t.Parallel()
	list := func(options ...client.ListOption) func(context.Context, client.Reader) error {
		return func(ctx context.Context, r client.Reader) error {
			return r.List(ctx, &v1beta1.ServiceInstanceList{}, options...)
		}
	}
	get := func(o client.Object, namespace, name string) func(context.Context, client.Reader) error {
		return func(ctx context.Context, r client.Reader) error {
			return r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
		}
	}
	for name, tc := range map[string]struct {
		reason string
		read   func(context.Context, client.Reader) error
		asks   []string
		beyond string
	}{
		"Inside":         {reason: "as ever", read: get(&v1beta1.ServiceInstance{}, "a", "1"), asks: []string{"get a/1"}},
		"Outside":        {reason: "another namespace", read: get(&v1beta1.ServiceInstance{}, "c", "4"), beyond: "ServiceInstance c/4"},
		"ClusterScoped":  {reason: "in no namespace", read: get(&v1beta1.ClusterServicePlan{}, "", "p"), beyond: `ClusterServicePlan "p"`},
		"Namespace":      {reason: "a right within it allows to get it", read: get(&corev1.Namespace{}, "", "a"), asks: []string{"get /a"}},
		"OtherNamespace": {reason: "not another", read: get(&corev1.Namespace{}, "", "c"), beyond: `Namespace "c"`},
		"ListAll":        {reason: "one by one", read: list(), asks: []string{"list a", "list b"}},
		"ListOne":        {reason: "as ever", read: list(client.InNamespace("b")), asks: []string{"list b"}},
		"ListOutside":    {reason: "another namespace", read: list(client.InNamespace("c")), beyond: `namespace "c"`},
		"ListCluster": {reason: "in no namespace", read: func(ctx context.Context, r client.Reader) error {
			return r.List(ctx, &v1beta1.ClusterServicePlanList{})
		}, beyond: "ClusterServicePlan objects"},
		"Policies": {reason: "limits hold in every namespace", read: func(ctx context.Context, r client.Reader) error {
			return r.List(ctx, &v1beta1.ProvisioningPolicyList{})
		}, asks: []string{"list policies"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, asked := guarded(t, ofAB, true)
			err := tc.read(t.Context(), reader)
			assert.Equal(t, tc.asks, append([]string(nil), *asked...), tc.reason)
			if tc.beyond == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.NotNil(t, Problem(err), tc.reason)
			assert.Contains(t, Problem(err).Message, tc.beyond)
			assert.Contains(t, Problem(err).Message, "namespaces a, b (--namespaces)")
		})
	}
}

// A list of all is that of the scope's namespaces, in their order.
func TestRestrictedListIsWhole(t *testing.T) {
	t.Parallel()
	reader, _ := guarded(t, ofAB, false)
	var all v1beta1.ServiceInstanceList
	require.NoError(t, reader.List(t.Context(), &all))
	var names []string
	for _, i := range all.Items {
		names = append(names, i.Namespace+"/"+i.Name)
	}
	assert.Equal(t, []string{"a/1", "b/2", "b/3"}, names)
}

// Limits hold, or the operator said that they need not: a controller that may not read them
// does not start.
func TestCheckPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		scope    Scope
		may      bool
		asks     []string
		says     string
		policies int
	}{
		"Whole":     {reason: "it has the right", scope: Scope{}, may: true, policies: 1, asks: []string{"list policies"}},
		"May":       {reason: "limits hold", scope: ofAB, may: true, policies: 1, asks: []string{"list policies", "list binding policies", "list policies"}},
		"MayNot":    {reason: "they would not hold", scope: ofAB, says: "--ignore-quotas", asks: []string{"list policies"}},
		"IgnoresIt": {reason: "so be it", scope: Scope{Namespaces: []string{"a"}, IgnoreQuotas: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, asked := guarded(t, tc.scope, tc.may)
			err := CheckPolicies(t.Context(), reader, tc.scope)
			if tc.says != "" {
				require.ErrorContains(t, err, tc.says, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			var found v1beta1.ProvisioningPolicyList
			require.NoError(t, reader.List(t.Context(), &found))
			assert.Len(t, found.Items, tc.policies)
			assert.Equal(t, tc.asks, append([]string(nil), *asked...))
		})
	}
}

// What is not beyond the scope is no such problem.
func TestBeyond(t *testing.T) {
	t.Parallel()
	assert.Nil(t, Problem(nil))
	assert.Nil(t, Problem(errors.New("away")))
	assert.True(t, Scope{}.Holds("any"))
	assert.False(t, ofAB.Holds("c"))
}
