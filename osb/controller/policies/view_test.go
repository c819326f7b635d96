package policies

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// mysqlPolicy lets a namespace have one instance of mysql, and granted it to those.
func mysqlPolicy(granted ...types.UID) *v1beta1.ProvisioningPolicy {
	p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "few", UID: "few-uid", Generation: 1}}
	p.Spec.Action, p.Spec.MaxInstances = v1beta1.PolicyLimit, new(int32(1))
	p.Spec.Subjects = []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql"}}}
	p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "n", Instances: granted}}
	return p
}

// changed is a copy of a policy with another spec, in another generation.
func changed(p *v1beta1.ProvisioningPolicy, change func(*v1beta1.ProvisioningPolicy)) *v1beta1.ProvisioningPolicy {
	p = p.DeepCopy()
	p.Generation++
	change(p)
	return p
}

// store holds those policies beside a plan of mysql, and counts what is read of policies.
type store struct {
	client.WithWatch

	mutex sync.Mutex
	reads []string
}

func newStore(t *testing.T, policies ...*v1beta1.ProvisioningPolicy) *store {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	class.Spec.ServiceType = "mysql"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}}
	plan.Spec.ClusterServiceClassRef.Name = "class"
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(class, plan, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	for _, p := range policies {
		// The fake client writes to what it is given, and stores share policies.
		builder = builder.WithObjects(p.DeepCopy())
	}
	s := &store{}
	s.WithWatch = interceptor.NewClient(builder.Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.(type) {
			case *metav1.PartialObjectMetadataList:
				s.note("list metadata")
			case *v1beta1.ProvisioningPolicyList:
				s.note("list")
			}
			return c.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if _, is := o.(*v1beta1.ProvisioningPolicy); is {
				s.note("get " + at.Name)
			}
			return c.Get(ctx, at, o, options...)
		},
	})
	return s
}

func (s *store) note(read string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.reads = append(s.reads, read)
}

// mysqlInstance is an instance of the plan of mysql, with UID "mine".
func mysqlInstance() *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", UID: "mine"}}
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "class"}, &v1beta1.ClusterObjectReference{Name: "plan"}
	return i
}

// TestSlotsAfterTheIntent: whatever the cache has of the policies, what they are and granted when
// the intent is stored decides, and a policy is read by name only where it may matter.
func TestSlotsAfterTheIntent(t *testing.T) {
	t.Parallel()
	type policies []*v1beta1.ProvisioningPolicy
	ofOthers := func(p *v1beta1.ProvisioningPolicy) { p.Spec.Subjects[0].ServiceType = "redis" }
	recreated := mysqlPolicy("other")
	recreated.UID = "another-uid"
	others := changed(mysqlPolicy("other"), ofOthers)
	for name, tc := range map[string]struct {
		cached, live policies
		refused      bool
		reads        []string
	}{
		"NoPolicies":         {reads: []string{"list metadata"}},
		"Granted":            {cached: policies{mysqlPolicy("mine")}, live: policies{mysqlPolicy("mine")}, reads: []string{"list metadata", "get few"}},
		"Revoked":            {cached: policies{mysqlPolicy("mine")}, live: policies{mysqlPolicy("other")}, refused: true, reads: []string{"list metadata", "get few"}},
		"GrantedSince":       {cached: policies{mysqlPolicy()}, live: policies{mysqlPolicy("mine")}, reads: []string{"list metadata", "get few"}},
		"NotGranted":         {cached: policies{mysqlPolicy()}, live: policies{mysqlPolicy("other")}, refused: true, reads: []string{"list metadata", "get few"}},
		"New":                {live: policies{mysqlPolicy("other")}, refused: true, reads: []string{"list metadata", "get few", "get few"}},
		"Recreated":          {cached: policies{mysqlPolicy("mine")}, live: policies{recreated}, refused: true, reads: []string{"list metadata", "get few", "get few"}},
		"Deleted":            {cached: policies{mysqlPolicy()}, reads: []string{"list metadata"}},
		"OfOthers":           {cached: policies{others}, live: policies{others}, reads: []string{"list metadata"}},
		"OfOthersUntilNow":   {cached: policies{others}, live: policies{changed(others, func(p *v1beta1.ProvisioningPolicy) { p.Spec.Subjects[0].ServiceType = "mysql" })}, refused: true, reads: []string{"list metadata", "get few", "get few"}},
		"OfOthersNow":        {cached: policies{mysqlPolicy()}, live: policies{others}, reads: []string{"list metadata", "get few"}},
		"UnlimitedNow":       {cached: policies{mysqlPolicy()}, live: policies{changed(mysqlPolicy(), func(p *v1beta1.ProvisioningPolicy) { p.Spec.MaxInstances, p.Spec.MaxBindings = nil, new(int32(1)) })}, reads: []string{"list metadata", "get few"}},
		"LimitsBindingsOnly": {cached: policies{changed(mysqlPolicy(), func(p *v1beta1.ProvisioningPolicy) { p.Spec.MaxInstances, p.Spec.MaxBindings = nil, new(int32(0)) })}, live: policies{changed(mysqlPolicy(), func(p *v1beta1.ProvisioningPolicy) { p.Spec.MaxInstances, p.Spec.MaxBindings = nil, new(int32(0)) })}, reads: []string{"list metadata"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cached, live := newStore(t, tc.cached...), newStore(t, tc.live...)
			slots := &Slots{Cached: cached, Live: live}
			reply := slots.Withholds(t.Context(), InstanceRequest(mysqlInstance()))
			if tc.refused {
				require.ErrorIs(t, reply.Err, errNoSlot)
				assert.Contains(t, reply.Problem.Message, `ProvisioningPolicy "few"`)
			} else {
				require.NoError(t, reply.Err)
			}
			assert.Equal(t, tc.reads, live.reads)
			assert.NotContains(t, live.reads, "list", "what the policies granted is not listed")
		})
	}
}

// TestSlotsAreReadTogether: calls whose intents are stored while a read is under way share the
// next one, and none gets a read that began before its intent.
func TestSlotsAreReadTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cached, live := newStore(t), newStore(t)
		began, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		slots := &Slots{Cached: cached, Live: interceptor.NewClient(live, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				once.Do(func() { close(began); <-release })
				return c.List(ctx, list, options...)
			},
		})}
		var group sync.WaitGroup
		ask := func() { assert.NoError(t, slots.Withholds(t.Context(), InstanceRequest(mysqlInstance())).Err) }
		group.Go(ask)
		<-began
		for range 50 {
			group.Go(ask)
		}
		synctest.Wait()
		close(release)
		group.Wait()
		assert.Len(t, live.reads, 2, "they share one read, and not the one that was under way")
	})
}
