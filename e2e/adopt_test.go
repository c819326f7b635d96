package e2e_test

import (
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// An adoptable is a kind whose objects have an ID at a broker.
type adoptable struct {
	resource string
	// object is one with that ID, not yet created.
	object func(o *offer, name, id string) client.Object
}

var adoptables = map[string]adoptable{
	"Instance": {resource: "serviceinstances", object: func(o *offer, name, id string) client.Object {
		return o.instance(name, ofType(o.kind), func(i *api.ServiceInstance) { i.Spec.ExternalID = id })
	}},
	"Binding": {resource: "servicebindings", object: func(o *offer, name, id string) client.Object {
		binding := o.binding(name)
		binding.Spec.ExternalID = id
		return binding
	}},
}

// adoptCommand is the command of a denial that gives the right.
var adoptCommand = regexp.MustCompile(`kubectl create rolebinding servicecatalog-adopt .*`)

// TestWhoMayNameAnID: an ID at a broker is chosen by right only, which the command
// of the denial gives; whoever edits what has one needs none.
func TestWhoMayNameAnID(t *testing.T) {
	t.Parallel()
	for name, of := range adoptables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), clusterScope)
			o.grantResources("servicebindings")
			o.createInstance("mydb", ofType(o.kind))
			theirs, id := o.as(alice), rand.Text()
			forged := of.object(o, "taken", id)
			forged.SetAnnotations(map[string]string{api.AnnotationMintedExternalID: id})
			for _, object := range []client.Object{of.object(o, "taken", id), forged} {
				err := theirs.client.Create(t.Context(), object)
				require.True(t, apierrors.IsForbidden(err), "%v", err)
				assert.Contains(t, err.Error(), "spec.externalID: ")
				assert.Contains(t, err.Error(), "verb adopt on "+of.resource)
				assert.Contains(t, err.Error(), "leave it out")
			}
			require.NoError(t, theirs.client.Create(t.Context(), of.object(o, "minted", "")), "as anyone may")

			o.shell(adoptCommand.FindString(theirs.client.Create(t.Context(), forged).Error()))
			o.eventually(func() (bool, error) {
				return theirs.mayDo(authorizationv1.ResourceAttributes{Namespace: o.namespace, Verb: "adopt", Group: api.GroupName, Resource: of.resource})
			})
			taken := of.object(o, "taken", id)
			require.NoError(t, theirs.client.Create(t.Context(), taken))
			assert.Empty(t, taken.GetAnnotations()[api.AnnotationMintedExternalID], "it was not minted")
			err := theirs.client.Create(t.Context(), of.object(o, "taken", id))
			require.True(t, apierrors.IsAlreadyExists(err), "a create that is sent twice is no duplicate: %v", err)

			taken.SetLabels(map[string]string{"edited": "by-bob"})
			require.NoError(t, o.as(bob).client.Update(t.Context(), taken), "who edits it needs no right to its ID")
		})
	}
}

// TestNoIDTwice: an ID that another object has, in its spec or in force, is refused
// in the whole cluster; where it is, is told to who may see it.
func TestNoIDTwice(t *testing.T) {
	t.Parallel()
	for name, of := range adoptables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), clusterScope)
			id, inForce := rand.Text(), rand.Text()
			first := of.object(o, "first", id)
			o.create(first)
			require.NoError(t, o.client.Status().Patch(t.Context(), first, client.RawPatch(types.MergePatchType, []byte(`{"status":{"externalID":"`+inForce+`"}}`))))

			away := *o
			away.world = o.in(t)
			away.namespace = o.addNamespace()
			carol := away.as(away.addAdopter(of.resource))
			for _, used := range []string{id, inForce} {
				err := carol.client.Create(t.Context(), of.object(&away, "second", used))
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				assert.Contains(t, err.Error(), "in use by another")
				assert.NotContains(t, err.Error(), o.namespace)
				assert.NotContains(t, err.Error(), "first")

				err = o.client.Create(t.Context(), of.object(&away, "second", used))
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				assert.Contains(t, err.Error(), o.namespace+"/first")
			}
			require.NoError(t, carol.client.Create(t.Context(), of.object(&away, "second", rand.Text())))
		})
	}
}

// TestBackupNeedsTheRight: to create what a backup holds is to adopt it.
func TestBackupNeedsTheRight(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), clusterScope)
	backup := func() *api.ServiceInstance {
		instance := o.instance("db", ofType(o.kind), withExternalID)
		o.refer(instance, "class", "plan")
		return instance
	}
	err := o.as(alice).client.Create(t.Context(), backup())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(t, err.Error(), "and the references with it")
	require.NoError(t, o.client.Create(t.Context(), backup()), "the administrator has it")
}

// mayAdopt gives a user the right to choose the IDs of the world's instances and
// bindings.
func (w *world) mayAdopt(user string) {
	w.Helper()
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "adopters"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "servicecatalog-adopt"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	w.eventually(func() (bool, error) {
		return w.as(user).mayDo(authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: "adopt", Group: api.GroupName, Resource: "serviceinstances"})
	})
}

// addAdopter is a new user who may create and adopt objects of a kind in the
// world's namespace, and nothing else.
func (w *world) addAdopter(resource string) string {
	w.Helper()
	user := "carol-" + strings.ToLower(rand.Text()[:8])
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: user}
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{resource}, Verbs: []string{"create", "adopt"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	w.eventually(func() (bool, error) {
		return w.as(user).mayDo(authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: "adopt", Group: api.GroupName, Resource: resource})
	})
	return user
}
