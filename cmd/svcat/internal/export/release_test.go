package export

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// errCut is what a client gives that was killed.
var errCut = errors.New("cut")

// A cluster is one side; it is cut after some writes.
type cluster struct {
	client.Client

	// writes are those that were made, as VERB KIND NAME.
	writes []string
	// left is how many more are made; -1: all.
	left int
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	c := &cluster{left: -1}
	write := func(verb string, object client.Object) error {
		if c.left == 0 {
			return errCut
		}
		c.left--
		kind := moving.KindOf(object)
		if kind == "" {
			kind = object.GetObjectKind().GroupVersionKind().Kind
		}
		c.writes = append(c.writes, verb+" "+kind+" "+object.GetName())
		return nil
	}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, inner client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := write("patch", object); err != nil {
				return err
			}
			return inner.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := write("delete", object); err != nil {
				return err
			}
			return inner.Delete(ctx, object, options...)
		},
	}).Build()
	return c
}

// onNewSide is an object as the new side has it: with the same ID and another UID.
func onNewSide[T client.Object](object T) T {
	object.SetUID(object.GetUID() + "-new")
	return object
}

func ownedBy(b *v1beta1.ServiceBinding, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: b.Namespace, Name: name,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Name: b.Name, UID: b.UID}},
	}, Data: map[string][]byte{"password": []byte("s3cret")}}
}

// A releaseCase is a file, and both sides.
type releaseCase struct {
	contents   *moving.Contents
	old, fresh *cluster
	names      moving.Names
	// unsure says that the old side may be another cluster than that of the file.
	unsure bool
}

func newReleaseCase(t *testing.T) *releaseCase {
	t.Helper()
	app := bindingOf("shop", "app", "db")
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	class.Spec.ExternalID = "class-id"
	return &releaseCase{
		&moving.Contents{Classes: []v1beta1.ClassObject{class}, Instances: []*v1beta1.ServiceInstance{instanceOf("shop", "db")}, Bindings: []*v1beta1.ServiceBinding{bindingOf("shop", "app", "db")}},
		newCluster(t, instanceOf("shop", "db"), app, ownedBy(app, "app")),
		newCluster(t, onNewSide(instanceOf("shop", "db")), onNewSide(bindingOf("shop", "app", "db"))),
		moving.Names{}, false,
	}
}

// release lets the objects of the file go, and returns the report in words.
func (c *releaseCase) release(ctx context.Context, dryRun bool) string {
	r := newReleaser(c.old, c.fresh, c.contents, &releaseFlags{names: c.names, dryRun: dryRun})
	r.sure = !c.unsure
	r.all(ctx)
	var text strings.Builder
	for _, row := range r.report.Objects {
		text.WriteString(strings.TrimSpace(row.Name+": "+string(row.Result)+" "+row.Reason) + "\n")
	}
	return text.String()
}

// TestRelease: bindings first, their Secrets stay, and each duty to deprovision passes on once
// the old object is gone.
func TestRelease(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	assert.Equal(t, "app: would release\ndb: would release\n", c.release(t.Context(), true))
	assert.Empty(t, append(c.old.writes, c.fresh.writes...), "a dry run writes nothing")
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
	assert.Equal(t, []string{"patch Secret app", "patch ServiceBinding app", "delete ServiceBinding app", "patch ServiceInstance db", "delete ServiceInstance db"}, c.old.writes)
	assert.Equal(t, []string{"patch ServiceBinding app", "patch ServiceInstance db"}, c.fresh.writes)
	secret := &corev1.Secret{}
	require.NoError(t, c.old.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "app"}, secret))
	assert.Empty(t, secret.OwnerReferences)
	assert.Equal(t, map[string][]byte{"password": []byte("s3cret")}, secret.Data)
	for _, object := range []client.Object{&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "db"}}, &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: "app"}}} {
		key := client.ObjectKey{Namespace: "shop", Name: object.GetName()}
		assert.True(t, apierrors.IsNotFound(c.old.Get(t.Context(), key, object)))
		require.NoError(t, c.fresh.Get(t.Context(), key, object))
		assert.Equal(t, "true", object.GetAnnotations()[v1beta1.AnnotationDeprovisionAdopted])
	}
	assert.Equal(t, "app: released before\ndb: released before\n", c.release(t.Context(), false))
	c = newReleaseCase(t)
	c.old = newCluster(t)
	assert.Equal(t, "app: released before\ndb: released before\n", c.release(t.Context(), true))
	assert.Empty(t, c.fresh.writes, "nor does a dry run of what is gone")
}

// TestReleaseResumes: cut after any number of writes on either side, it ends as if it had not been,
// and no new object has the duty to deprovision while the old one is there.
func TestReleaseResumes(t *testing.T) {
	t.Parallel()
	for cutOld := range 6 {
		for cutNew := range 3 {
			c := newReleaseCase(t)
			c.old.left, c.fresh.left = cutOld, cutNew
			c.release(t.Context(), false)
			c.old.left, c.fresh.left = -1, -1
			for _, name := range []string{"app", "db"} {
				key := client.ObjectKey{Namespace: "shop", Name: name}
				old, fresh := client.Object(&v1beta1.ServiceInstance{}), client.Object(&v1beta1.ServiceInstance{})
				if name == "app" {
					old, fresh = &v1beta1.ServiceBinding{}, &v1beta1.ServiceBinding{}
				}
				require.NoError(t, c.fresh.Get(t.Context(), key, fresh))
				if c.old.Get(t.Context(), key, old) == nil {
					assert.Empty(t, fresh.GetAnnotations(), "%s: both own it after %d and %d writes", name, cutOld, cutNew)
				}
			}
			got := c.release(t.Context(), false)
			assert.NotContains(t, got, "not released", "after %d and %d writes", cutOld, cutNew)
			var left v1beta1.ServiceInstanceList
			require.NoError(t, c.old.List(t.Context(), &left))
			assert.Empty(t, left.Items)
			fresh := &v1beta1.ServiceInstance{}
			require.NoError(t, c.fresh.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "db"}, fresh))
			assert.Equal(t, "true", fresh.Annotations[v1beta1.AnnotationDeprovisionAdopted])
		}
	}
}

// TestReleaseCutAtEachWrite: each run makes one write, and there are no more than without a cut.
func TestReleaseCutAtEachWrite(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	for runs, left := 0, true; left; runs++ {
		require.Less(t, runs, 20, "it makes no progress")
		c.old.left, c.fresh.left = 1, 1
		left = strings.Contains(c.release(t.Context(), false), "not released")
	}
	assert.Len(t, c.old.writes, 5)
	assert.Len(t, c.fresh.writes, 2)
}

// TestReleaseHoldsBack: what the new side does not have, and what changed on the old one, stays
// untouched.
func TestReleaseHoldsBack(t *testing.T) {
	t.Parallel()
	key := client.ObjectKey{Namespace: "shop", Name: "db"}
	edit := func(of func(*releaseCase) *cluster, change func(*v1beta1.ServiceInstance)) func(*testing.T, *releaseCase) {
		return func(t *testing.T, c *releaseCase) {
			t.Helper()
			live := &v1beta1.ServiceInstance{}
			require.NoError(t, of(c).Get(t.Context(), key, live))
			change(live)
			require.NoError(t, of(c).Update(t.Context(), live))
		}
	}
	fresh := func(c *releaseCase) *cluster { return c.fresh }
	old := func(c *releaseCase) *cluster { return c.old }
	for name, tc := range map[string]struct {
		reason string
		change func(*testing.T, *releaseCase)
		want   string
	}{
		"NotThere": {"it was not imported", func(t *testing.T, c *releaseCase) {
			t.Helper()
			c.fresh = newCluster(t, onNewSide(bindingOf("shop", "app", "db")))
		}, "the new side has no shop/db: import it first"},
		"Mapped": {"it is looked for under the new name", func(t *testing.T, c *releaseCase) {
			t.Helper()
			c.names = mapped(t, "shop=store")
			c.fresh = newCluster(t, onNewSide(bindingOf("store", "app", "db")))
		}, "the new side has no store/db"},
		"MappedName": {"it is looked for under its own new name", func(t *testing.T, c *releaseCase) {
			t.Helper()
			c.names = mapped(t, "instance/shop/db=orders")
			c.fresh = newCluster(t, onNewSide(bindingOf("shop", "app", "orders")))
		}, "the new side has no shop/orders"},
		"OtherID": {"another database", edit(fresh, func(i *v1beta1.ServiceInstance) { i.Spec.ExternalID = "x" }), "has another ID at the broker"},
		"OtherClass": {"the ID is one of another broker, too", edit(fresh, func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClassExternalID: "other"}}
		}), "shop/db of the new side has the same ID, and is of another class or instance"},
		"Twin": {"another one of the old side has its ID", func(_ *testing.T, c *releaseCase) {
			twin := instanceOf("dev", "db")
			c.contents.Instances = append(c.contents.Instances, twin)
		}, "ServiceInstance dev/db has the same ID"},
		"NoID": {"there is nothing to compare", func(t *testing.T, c *releaseCase) {
			t.Helper()
			for _, side := range []*cluster{c.old, c.fresh} {
				edit(func(*releaseCase) *cluster { return side }, func(i *v1beta1.ServiceInstance) { i.Spec.ExternalID = "" })(t, c)
			}
			c.contents.Instances[0].Spec.ExternalID = ""
		}, "has another ID at the broker"},
		"NewDeleting": {"it is no one's soon", func(t *testing.T, c *releaseCase) {
			t.Helper()
			require.NoError(t, c.fresh.Delete(t.Context(), instanceOf("shop", "db")))
			c.fresh.writes = nil
		}, "of the new side is being deleted"},
		"NotReady": {"not adopted yet", edit(fresh, func(i *v1beta1.ServiceInstance) { i.Status.Conditions = nil }), "is not Ready"},
		"Stale":    {"of an earlier spec", edit(fresh, func(i *v1beta1.ServiceInstance) { i.Generation = 3 }), "is not Ready"},
		"Changed":  {"the new side does not know of it", edit(old, func(i *v1beta1.ServiceInstance) { i.Generation = 7 }), "its spec changed since the export"},
		"Busy":     {"an operation goes on", edit(old, func(i *v1beta1.ServiceInstance) { i.Status.CurrentOperation = "Update" }), "in the middle of an operation"},
		"OldID":    {"it was made again", edit(old, func(i *v1beta1.ServiceInstance) { i.Spec.ExternalID = "y" }), "it is another object than the one that was exported"},
		"OldUID":   {"it was made again, with the same ID", edit(old, func(i *v1beta1.ServiceInstance) { i.UID = "another" }), "it is another object than the one that was exported"},
		"SameSide": {"both are one cluster", func(_ *testing.T, c *releaseCase) { c.fresh = c.old }, "the new side is the old one"},
		"SameSideMapped": {"both are the new cluster, which has it under the new name alone", func(t *testing.T, c *releaseCase) {
			t.Helper()
			c.names = mapped(t, "shop=store")
			c.fresh = newCluster(t, onNewSide(instanceOf("store", "db")), onNewSide(bindingOf("store", "app", "db")))
			c.old = c.fresh
		}, "the new side is the old one"},
		"Deleting": {"a user deleted it", func(t *testing.T, c *releaseCase) {
			t.Helper()
			require.NoError(t, c.old.Delete(t.Context(), instanceOf("shop", "db")))
			c.old.writes = nil
		}, "it is being deleted on the old side, by someone else"},
		"Bound": {"a binding that was made since", func(t *testing.T, c *releaseCase) {
			t.Helper()
			require.NoError(t, c.old.Create(t.Context(), bindingOf("shop", "late", "db")))
		}, "binding shop/late still uses it on the old side"},
		"BoundBefore": {"from another namespace, since it was shared", func(t *testing.T, c *releaseCase) {
			t.Helper()
			left := bindingOf("dev", "left", "db")
			left.Spec.InstanceRef.Namespace = "shop"
			require.NoError(t, c.old.Create(t.Context(), left))
		}, "binding dev/left still uses it on the old side"},
		"BoundUnseen": {"nor is one let go that is shared and may have bindings where the user may not look", func(t *testing.T, c *releaseCase) {
			t.Helper()
			edit(old, func(i *v1beta1.ServiceInstance) { i.Spec.Sharing = &v1beta1.Sharing{} })(t, c)
			onlyIn(t, c.old, "shop")
		}, "is forbidden: "},
		"BoundElsewhere": {"from another namespace, since it is shared", func(t *testing.T, c *releaseCase) {
			t.Helper()
			edit(old, func(i *v1beta1.ServiceInstance) { i.Spec.Sharing = &v1beta1.Sharing{} })(t, c)
			late := bindingOf("dev", "late", "db")
			late.Spec.InstanceRef.Namespace = "shop"
			require.NoError(t, c.old.Create(t.Context(), late))
		}, "binding dev/late still uses it on the old side"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newReleaseCase(t)
			tc.change(t, c)
			got := c.release(t.Context(), false)
			assert.Contains(t, got, "db: not released ", tc.reason)
			assert.Contains(t, got, tc.want, tc.reason)
			for _, write := range append(c.old.writes, c.fresh.writes...) {
				assert.NotContains(t, write, "ServiceInstance db", tc.reason)
			}
		})
	}
}

// onlyIn has a user list one namespace only. It counts the lists that are asked for.
func onlyIn(t *testing.T, c *cluster, namespace string) (lists *int) {
	t.Helper()
	lists = new(int)
	inner, _ := c.Client.(client.WithWatch)
	c.Client = interceptor.NewClient(inner, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			*lists++
			asked := &client.ListOptions{}
			if asked.ApplyOptions(options); asked.Namespace != namespace {
				return apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("servicebindings").GroupResource(), "", errors.New("no right"))
			}
			return inner.List(ctx, list, options...)
		},
	})
	return lists
}

// TestReleaseInOneNamespace: with the rights of one, and its bindings keep what they use.
func TestReleaseInOneNamespace(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	require.NoError(t, c.old.Create(t.Context(), bindingOf("shop", "late", "db")))
	onlyIn(t, c.old, "shop")
	const note = "db: note it cannot be seen whether bindings of other namespaces use it: there is no right to list them\n"
	assert.Equal(t, "app: released\n"+note+"db: not released binding shop/late still uses it on the old side\n", c.release(t.Context(), false))
	c = newReleaseCase(t)
	lists := onlyIn(t, c.old, "shop")
	assert.Equal(t, "app: released\n"+note+"db: released\n", c.release(t.Context(), false))
	*lists = 0
	r := newReleaser(c.old, c.fresh, &moving.Contents{}, &releaseFlags{})
	for _, name := range []string{"db", "other", "another"} {
		why, err := r.bound(t.Context(), instanceOf("shop", name))
		require.NoError(t, err)
		assert.Empty(t, why)
	}
	assert.Equal(t, 2, *lists, "what is refused is asked for once")
}

// TestReleaseOfAnotherInstance: a binding of the same ID that is of another instance stays.
func TestReleaseOfAnotherInstance(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	c.fresh = newCluster(t, onNewSide(instanceOf("shop", "db")), onNewSide(bindingOf("shop", "app", "other")))
	assert.Contains(t, c.release(t.Context(), false), "app: not released shop/app of the new side has the same ID, and is of another class or instance")
	assert.Empty(t, append(c.old.writes, c.fresh.writes...))
}

// TestReleaseOfReplacedCredentials: the old side has the former ones, which the new side does not remove.
func TestReleaseOfReplacedCredentials(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	rotated := onNewSide(bindingOf("shop", "app", "db"))
	rotated.Status.ExternalID = "id-of-the-next"
	c.fresh = newCluster(t, onNewSide(instanceOf("shop", "db")), rotated)
	assert.Equal(t, "app: not released the credentials of shop/app were replaced on the new side: unbind this one on the old side when nothing uses it\n"+
		"db: not released binding shop/app still uses it on the old side\n", c.release(t.Context(), false))
	assert.Empty(t, append(c.old.writes, c.fresh.writes...))
}

// TestReleaseInAnotherCluster: where that cannot be told, what is not there may be elsewhere, where it
// still has the duty to deprovision.
func TestReleaseInAnotherCluster(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	c.old, c.unsure = newCluster(t), true
	assert.Contains(t, c.release(t.Context(), false), "db: released before it cannot be seen whether this is the cluster of the file")
	assert.Empty(t, c.fresh.writes)
	c.unsure = false
	assert.Equal(t, "app: released before\ndb: released before\n", c.release(t.Context(), false))
	c.unsure = true
	assert.Equal(t, "app: released before\ndb: released before\n", c.release(t.Context(), false), "it has the duty already")
}

// TestReleaseOfAnEdit: what is edited between the look and the deletion is not let go.
func TestReleaseOfAnEdit(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	c.old.Client = interceptor.NewClient(c.old.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if db, is := object.(*v1beta1.ServiceInstance); is {
				edited := db.DeepCopy()
				edited.Generation++
				require.NoError(t, inner.Update(ctx, edited))
			}
			return inner.Delete(ctx, object, options...)
		},
	})
	assert.Contains(t, c.release(t.Context(), false), "db: not released ")
	c.old.Client = interceptor.NewClient(c.old.Client.(client.WithWatch), interceptor.Funcs{})
	assert.Contains(t, c.release(t.Context(), false), "db: not released its spec changed since the export")
}

// TestReleaseOwnership: only where the old side would have removed it, and not against what was
// said on the new side.
func TestReleaseOwnership(t *testing.T) {
	t.Parallel()
	adopted := instanceOf("shop", "db")
	adopted.Status.DeprovisionStatus = v1beta1.DeprovisionNotRequired
	assert.False(t, owes(adopted))
	adopted.Annotations = map[string]string{v1beta1.AnnotationDeprovisionAdopted: "true"}
	assert.True(t, owes(adopted))
	c := newReleaseCase(t)
	live := instanceOf("shop", "db")
	live.Status.DeprovisionStatus = v1beta1.DeprovisionNotRequired
	c.old = newCluster(t, live, bindingOf("shop", "app", "db"))
	c.contents.Instances[0].Status.DeprovisionStatus = v1beta1.DeprovisionNotRequired
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
	assert.Equal(t, []string{"patch ServiceBinding app"}, c.fresh.writes, "what the old side had adopted has no owner")
	c = newReleaseCase(t)
	kept := onNewSide(instanceOf("shop", "db"))
	kept.Annotations = map[string]string{v1beta1.AnnotationDeprovisionAdopted: "false"}
	c.fresh = newCluster(t, kept, onNewSide(bindingOf("shop", "app", "db")))
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
	assert.Equal(t, []string{"patch ServiceBinding app"}, c.fresh.writes)
}

// TestReleaseOwnershipChanges: what the user said on the old side since the export counts.
func TestReleaseOwnershipChanges(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	adopted := &c.contents.Instances[0].Status
	adopted.DeprovisionStatus = v1beta1.DeprovisionNotRequired
	c.contents.Instances[0].Annotations = map[string]string{v1beta1.AnnotationDeprovisionAdopted: "true"}
	live := instanceOf("shop", "db")
	live.Status.DeprovisionStatus = v1beta1.DeprovisionNotRequired
	c.old = newCluster(t, live)
	assert.Equal(t, "app: released before\ndb: released\n", c.release(t.Context(), false))
	assert.NotContains(t, c.fresh.writes, "patch ServiceInstance db", "the old side leaves it at the broker")
}

// TestReleaseKeeps: applications of the old side use what they used before: all Secrets and ConfigMaps,
// and the Service with its EndpointSlices. Other owners of them stay.
func TestReleaseKeeps(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	app := bindingOf("shop", "app", "db")
	app.Status.Service, app.Status.Secrets, app.Status.ConfigMaps = "db", []string{"app", "more"}, []string{"app"}
	other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "app", UID: "uid-of-deployment"}
	owned := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "shop", Name: name, OwnerReferences: append(ownedBy(app, name).OwnerReferences, other), Labels: map[string]string{discoveryv1.LabelServiceName: "db"},
		}
	}
	all := []client.Object{
		&corev1.Secret{ObjectMeta: owned("app")}, &corev1.Secret{ObjectMeta: owned("more")}, &corev1.ConfigMap{ObjectMeta: owned("app")},
		&corev1.Service{ObjectMeta: owned("db")}, &discoveryv1.EndpointSlice{ObjectMeta: owned("db-ipv4")},
	}
	c.old = newCluster(t, append(all, instanceOf("shop", "db"), app)...)
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
	for _, kept := range all {
		require.NoError(t, c.old.Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
		assert.Equal(t, []metav1.OwnerReference{other}, kept.GetOwnerReferences(), "%T %s", kept, kept.GetName())
	}
}

// TestReleaseOfWhatIsWritten: what another writes meanwhile is not overwritten.
func TestReleaseOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	once := true
	c.old.Client = interceptor.NewClient(c.old.Client.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, inner client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == "db" && once {
				once = false
				live := &v1beta1.ServiceInstance{}
				require.NoError(t, inner.Get(ctx, client.ObjectKeyFromObject(object), live))
				live.Finalizers = append(live.Finalizers, "example.com/other")
				require.NoError(t, inner.Update(ctx, live))
			}
			return inner.Patch(ctx, object, patch, options...)
		},
	})
	assert.Contains(t, c.release(t.Context(), false), "db: not released cannot take the finalizer off it on the old side")
	assert.Equal(t, "app: released before\ndb: not released it waits on the old side for its finalizers: example.com/other\n", c.release(t.Context(), false))
}

// TestReleaseProtected: of what the old side does not let be deleted nothing is written.
func TestReleaseProtected(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	app := bindingOf("shop", "app", "db")
	app.Annotations = map[string]string{v1beta1.AnnotationPreventDeletion: "true"}
	c.old = newCluster(t, instanceOf("shop", "db"), app, ownedBy(app, "app"))
	for _, dryRun := range []bool{true, false} {
		assert.Contains(t, c.release(t.Context(), dryRun), "app: not released the annotation servicecatalog.kubernetes.io/prevent-deletion protects it on the old side")
		assert.Empty(t, append(c.old.writes, c.fresh.writes...))
	}
}

// TestReleaseInterrupted: an object whose release was begun is released, and no other is begun.
func TestReleaseInterrupted(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	ctx, cancel := context.WithCancel(t.Context())
	c.old.Client = interceptor.NewClient(c.old.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			cancel()
			asked := (&client.DeleteOptions{}).ApplyOptions(options)
			assert.Equal(t, &metav1.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())}, asked.Preconditions, "no other object of that name, and no other version")
			return errors.Join(ctx.Err(), inner.Delete(ctx, object, options...))
		},
	})
	assert.Equal(t, "app: released\ndb: not released interrupted before it\n", c.release(ctx, false))
	assert.Equal(t, []string{"patch ServiceBinding app"}, c.fresh.writes)
}

// TestReleaseMadeAgain: an object that something makes again at once is another one.
func TestReleaseMadeAgain(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	inner := c.old.Client
	again := instanceOf("shop", "db")
	again.UID = "uid-of-another"
	c.old.Client = interceptor.NewClient(inner.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			err := inner.Delete(ctx, object, options...)
			if object.GetName() == "db" {
				return errors.Join(err, inner.Create(ctx, again.DeepCopy()))
			}
			return err
		},
	})
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
	has := &v1beta1.ServiceInstance{}
	require.NoError(t, c.old.Get(t.Context(), client.ObjectKeyFromObject(again), has))
	assert.Equal(t, []string{v1beta1.FinalizerServiceCatalog}, has.Finalizers)
	assert.Empty(t, has.Annotations)
}

// TestReleaseOfOurs: a webhook of today puts the finalizer back on what is not being deleted; other
// finalizers are waited for, and told.
func TestReleaseOfOurs(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	held := instanceOf("shop", "held")
	held.Finalizers = append(held.Finalizers, "example.com/other")
	ours := fake.NewClientBuilder().WithScheme(scheme).WithObjects(instanceOf("shop", "db"), held).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, inner client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetDeletionTimestamp() == nil {
				object.SetFinalizers(append(object.GetFinalizers(), v1beta1.FinalizerServiceCatalog))
			}
			return inner.Patch(ctx, object, patch, options...)
		},
	}).Build()
	c.old.Client = ours
	for name, want := range map[string]string{"db": "", "held": "it waits on the old side for its finalizers: example.com/other"} {
		object := &v1beta1.ServiceInstance{}
		require.NoError(t, ours.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, object))
		why, err := letGo(t.Context(), ours, object)
		require.NoError(t, err)
		assert.Equal(t, want, why)
	}
}

// TestReleaseGoesOn: what a release has begun to delete is not another's deletion.
func TestReleaseGoesOn(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	begun := instanceOf("shop", "db")
	begun.Annotations = map[string]string{v1beta1.AnnotationAbandon: "true"}
	c.old = newCluster(t, begun)
	require.NoError(t, c.old.Delete(t.Context(), begun))
	assert.Equal(t, "app: released before\ndb: released\n", c.release(t.Context(), false))
}

// TestReleaseUnderOtherNames: what has another name on the new side is released by its name on the old one.
func TestReleaseUnderOtherNames(t *testing.T) {
	t.Parallel()
	c := newReleaseCase(t)
	c.names = mapped(t, "instance/shop/db=orders")
	orders := onNewSide(instanceOf("shop", "orders"))
	orders.Spec.ExternalID = moving.IDOf(instanceOf("shop", "db"))
	c.fresh = newCluster(t, orders, onNewSide(bindingOf("shop", "app", "orders")))
	assert.Equal(t, "app: released\ndb: released\n", c.release(t.Context(), false))
}

func mapped(t *testing.T, text string) moving.Names {
	t.Helper()
	flags := &releaseFlags{}
	cmd := newFlagSet(flags)
	require.NoError(t, cmd.Parse([]string{"--map", text}))
	require.NoError(t, flags.names.Validate())
	return flags.names
}

// TestWatchdog: a controller that still runs on the old side is in the way.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)
	deployment := func(image string, replicas int32, words ...string) client.Object {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "catalog", Name: "controller"}}
		d.Spec.Replicas = &replicas
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: image, Args: words}}
		return d
	}
	lease := func(name string, age time.Duration) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "catalog", Name: name}}
		holder, seconds, renewed := "pod", int32(15), metav1.NewMicroTime(now.Add(-age))
		l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &holder, &seconds, &renewed
		return l
	}
	long := lease("defaultplan-controller", time.Hour)
	*long.Spec.LeaseDurationSeconds = math.MaxInt32
	const retired = "quay.io/kubernetes-service-catalog/service-catalog:v0.3.1"
	for name, c := range map[string]struct {
		object client.Object
		want   string
	}{
		"Retired":        {deployment(retired, 1, "controller-manager", "-v=10"), "cannot release while Deployment catalog/controller of the old side runs, which is or looks like a controller: it would act on objects while they are let go; stop it first: kubectl scale deployment controller -n catalog --replicas=0"},
		"RetiredStopped": {deployment(retired, 0, "controller-manager"), ""},
		"RetiredStops":   {stopping(deployment(retired, 0, "controller-manager")), "cannot release while Deployment"},
		"RetiredWebhook": {deployment(retired, 1, "webhook"), ""},
		"Ours":           {deployment("registry:5000/defaultplan/controller:v1@sha256:0", 2), "cannot release while Deployment"},
		"Mirrored":       {deployment("mirror.example.com/svc-cat:1", 1, "controller-manager", "--broker-relist-interval", "24h"), "cannot release while Deployment"},
		"MirroredOurs":   {deployment("mirror.example.com/broker-controller:1", 1, "--osb-api-request-timeout=30s"), "cannot release while Deployment"},
		"OursByDigest":   {deployment("registry:5000/defaultplan/controller@sha256:0", 1), "cannot release while Deployment"},
		"Other":          {deployment("nginx", 1, "controller-manager"), ""},
		"Held":           {lease("defaultplan-controller-eu", 29*time.Second), "cannot release while Lease catalog/defaultplan-controller-eu of the old side is held by \"pod\": a controller would act on objects while they are let go; stop that process first; if there is none: kubectl delete lease defaultplan-controller-eu -n catalog"},
		"Lost":           {lease("defaultplan-controller", 31*time.Second), ""},
		"Long":           {long, "cannot release while Lease"},
		"OtherLease":     {lease("some-controller", 0), ""},
	} {
		err := (&watchdog{readOnly(t, c.object), testingclock.NewFakePassiveClock(now), nil}).refuse(t.Context())
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
	}
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	seesLeases := true
	blind := fake.NewClientBuilder().WithScheme(scheme).WithObjects(lease("defaultplan-controller", 0)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*coordinationv1.LeaseList); is && seesLeases {
				return inner.List(ctx, list, options...)
			}
			return apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "", nil)
		},
	}).Build()
	var told bytes.Buffer
	require.ErrorContains(t, (&watchdog{blind, testingclock.NewFakePassiveClock(now), &told}).refuse(t.Context()), "Lease catalog/defaultplan-controller", "one of both is enough")
	seesLeases = false
	require.NoError(t, (&watchdog{blind, testingclock.NewFakePassiveClock(now), &told}).refuse(t.Context()))
	assert.Contains(t, told.String(), "it cannot be seen whether a controller of the old side still runs")
}

// stopping has a Pod of a Deployment still run.
func stopping(object client.Object) client.Object {
	if d, is := object.(*appsv1.Deployment); is {
		d.Status.Replicas = 1
	}
	return object
}

func newFlagSet(flags *releaseFlags) *pflag.FlagSet {
	set := pflag.NewFlagSet("export", pflag.ContinueOnError)
	flags.bind(set)
	return set
}
