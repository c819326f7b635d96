package webhook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// A reader is a view of the cluster that writes down what is read, and can be made to fail.
type reader struct {
	name string
	mu   sync.Mutex
	// objects are what there is to read, and past what there was: a list of a
	// revision is of one of them.
	objects client.Reader
	past    []client.Reader
	// reads are what was asked, such as "get ClusterServicePlan db-small".
	reads []string
	// before is called before each read, if set; its error fails the read.
	before func(read string) error
	// shuffle puts lists in an order of its own, if set.
	shuffle *rand.Rand
	// policies has the policies among the objects.
	policies *policies.RuleSet
	followed []client.Object
}

// rules is the set that follows the reader's policies.
func (r *reader) rules() *policies.RuleSet { return r.policies }

// follow makes the set hold the policies among objects, and no others.
func (r *reader) follow(objects []client.Object) {
	for _, policy := range r.followed {
		r.policies.Remove(policy)
	}
	r.followed = nil
	for _, object := range objects {
		switch object.(type) {
		case *v1beta1.ProvisioningPolicy, *v1beta1.BindingPolicy:
			// One that cannot be compiled has no effect.
			_ = r.policies.Put(context.Background(), object)
			r.followed = append(r.followed, object)
		}
	}
}

func (r *reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if err := r.note(fmt.Sprintf("get %s %s", kindOf(object), key.String())); err != nil {
		return err
	}
	return r.now().Get(ctx, key, object, opts...)
}

func (r *reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	fields := ""
	if options.FieldSelector != nil {
		fields = " " + options.FieldSelector.String()
	}
	if err := r.note(fmt.Sprintf("list %s%s", kindOf(list), fields)); err != nil {
		return err
	}
	at, revision, err := r.at(options.Raw)
	if err != nil {
		return err
	}
	if err := at.List(ctx, list, opts...); err != nil {
		return err
	}
	list.SetResourceVersion(revision)
	if r.shuffle == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return shuffleList(list, r.shuffle)
}

func (r *reader) note(read string) error {
	r.mu.Lock()
	r.reads = append(r.reads, read)
	before := r.before
	r.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(read)
}

func (r *reader) now() client.Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects
}

// at is what there is, or was at the revision that a list asks for.
func (r *reader) at(asked *metav1.ListOptions) (client.Reader, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if asked == nil {
		return r.objects, strconv.Itoa(1 + len(r.past)), nil
	}
	revision, err := strconv.Atoi(asked.ResourceVersion)
	if err != nil || revision < 1 || asked.ResourceVersionMatch != metav1.ResourceVersionMatchExact {
		return nil, "", fmt.Errorf("no such revision: %q", asked.ResourceVersion)
	}
	if revision <= len(r.past) {
		return r.past[revision-1], asked.ResourceVersion, nil
	}
	return r.objects, asked.ResourceVersion, nil
}

// show makes a reader show another catalog, as it is seen from there.
func (r *reader) show(s *stock) {
	other := newReader(s.tb, r.name, s.objects).objects
	r.mu.Lock()
	defer r.mu.Unlock()
	r.past, r.objects = append(r.past, r.objects), other
	r.follow(s.objects)
}

// fail sets what is called before each read.
func (r *reader) fail(before func(read string) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = before
}

// taken returns what was read since it was last asked.
func (r *reader) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	reads := r.reads
	r.reads = nil
	return reads
}

func kindOf(object runtime.Object) string {
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", object), ".")
	return kind
}

// registry collects indexes for a fake client.
type registry struct{ builder *fake.ClientBuilder }

func (r registry) IndexField(_ context.Context, object client.Object, field string, value client.IndexerFunc) error {
	r.builder.WithIndex(object, field, value)
	return nil
}

// indexIDs lets external IDs of instances and bindings be selected by, which only the API server does.
func indexIDs(r registry) {
	for _, object := range []client.Object{&v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}} {
		r.builder.WithIndex(object, v1beta1.FieldExternalID, func(o client.Object) []string {
			switch o := o.(type) {
			case *v1beta1.ServiceInstance:
				return []string{o.Spec.ExternalID}
			case *v1beta1.ServiceBinding:
				return []string{o.Spec.ExternalID}
			}
			return nil
		})
		r.builder.WithIndex(object, v1beta1.FieldStatusExternalID, func(o client.Object) []string {
			switch o := o.(type) {
			case *v1beta1.ServiceInstance:
				return []string{o.Status.ExternalID}
			case *v1beta1.ServiceBinding:
				return []string{o.Status.ExternalID}
			}
			return nil
		})
	}
}

// envScheme is the scheme of all envs.
var envScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme))
})

// newReader serves objects by the catalog's indexes; a live one, like the API server, does not select by annotation.
func newReader(tb testing.TB, name string, objects []client.Object) *reader {
	tb.Helper()
	scheme, err := envScheme()
	require.NoError(tb, err)
	// With no converter given, Build makes a scheme of all of Kubernetes for each client.
	builder := fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(managedfields.NewDeducedTypeConverter())
	require.NoError(tb, Index(context.Background(), registry{builder}))
	if name == "live" {
		indexIDs(registry{builder})
	}
	for _, object := range objects {
		copied, ok := object.DeepCopyObject().(client.Object)
		require.True(tb, ok)
		if name == "cache" {
			_, err := catalog.Slim(copied)
			require.NoError(tb, err)
		}
		builder.WithObjects(copied)
	}
	r := &reader{name: name, objects: builder.Build(), policies: policies.NewRuleSet()}
	r.follow(objects)
	return r
}
