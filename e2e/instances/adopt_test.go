package instances_test

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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// An adoptable is a kind whose objects have an ID at a broker.
type adoptable struct {
	resource string
	// object is one with that ID, not yet created.
	object func(o *offering.Offer, name, id string) client.Object
}

var adoptables = map[string]adoptable{
	"Instance": {resource: "serviceinstances", object: func(o *offering.Offer, name, id string) client.Object {
		return o.Instance(name, env.OfType(o.Type), func(i *api.ServiceInstance) { i.Spec.ExternalID = id })
	}},
	"Binding": {resource: "servicebindings", object: func(o *offering.Offer, name, id string) client.Object {
		binding := o.Binding(name, "mydb")
		binding.Spec.ExternalID = id
		return binding
	}},
}

// adoptCommand is the command of a denial that gives the right.
var adoptCommand = regexp.MustCompile(`kubectl create rolebinding servicecatalog-adopt .*`)

// TestWhoMayNameAnID: an ID at a broker is chosen by right only, which the command
// of the denial gives; an edit of what has one needs none.
func TestWhoMayNameAnID(t *testing.T) {
	t.Parallel()
	for name, of := range adoptables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), offering.Cluster)
			o.GrantResources("servicebindings")
			o.CreateInstance("mydb", env.OfType(o.Type))
			theirs, id := o.As(env.Alice), rand.Text()
			forged := of.object(o, "taken", id)
			forged.SetAnnotations(map[string]string{api.AnnotationMintedExternalID: id})
			for _, object := range []client.Object{of.object(o, "taken", id), forged} {
				err := theirs.Client().Create(t.Context(), object)
				require.True(t, apierrors.IsForbidden(err), "%v", err)
				assert.Contains(t, err.Error(), "spec.externalID: ")
				assert.Contains(t, err.Error(), "verb adopt on "+of.resource)
				assert.Contains(t, err.Error(), "leave it out")
			}
			require.NoError(t, theirs.Client().Create(t.Context(), of.object(o, "minted", "")), "as anyone may")

			o.Shell(adoptCommand.FindString(theirs.Client().Create(t.Context(), forged).Error()))
			o.Eventually(func() (bool, error) {
				return theirs.MayDo(authorizationv1.ResourceAttributes{Namespace: o.Namespace, Verb: "adopt", Group: api.GroupName, Resource: of.resource})
			})
			taken := of.object(o, "taken", id)
			require.NoError(t, theirs.Client().Create(t.Context(), taken))
			assert.Empty(t, taken.GetAnnotations()[api.AnnotationMintedExternalID], "it was not minted")
			err := theirs.Client().Create(t.Context(), of.object(o, "taken", id))
			require.True(t, apierrors.IsAlreadyExists(err), "a create that is sent twice is no duplicate: %v", err)

			taken.SetLabels(map[string]string{"edited": "by-bob"})
			require.NoError(t, o.As(env.Bob).Client().Update(t.Context(), taken), "who edits it needs no right to its ID")
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
			o := offering.New(env.New(t), offering.Cluster)
			id, inForce := rand.Text(), rand.Text()
			first := of.object(o, "first", id)
			o.Create(first)
			require.NoError(t, o.Client().Status().Patch(t.Context(), first, client.RawPatch(types.MergePatchType, []byte(`{"status":{"externalID":"`+inForce+`"}}`))))

			away := *o
			away.Env = o.In(t).InNamespace(o.AddNamespace())
			carol := away.As(addAdopter(away.Env, of.resource))
			for _, used := range []string{id, inForce} {
				err := carol.Client().Create(t.Context(), of.object(&away, "second", used))
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				assert.Contains(t, err.Error(), "in use by another")
				assert.NotContains(t, err.Error(), o.Namespace)
				assert.NotContains(t, err.Error(), "first")

				err = o.Client().Create(t.Context(), of.object(&away, "second", used))
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				assert.Contains(t, err.Error(), o.Namespace+"/first")
			}
			require.NoError(t, carol.Client().Create(t.Context(), of.object(&away, "second", rand.Text())))
		})
	}
}

// TestBackupNeedsTheRight: to create what a backup holds is to adopt it.
func TestBackupNeedsTheRight(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	backup := func() *api.ServiceInstance {
		instance := o.Instance("db", env.OfType(o.Type), env.WithExternalID)
		refer(o, instance, "class", "plan")
		return instance
	}
	err := o.As(env.Alice).Client().Create(t.Context(), backup())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(t, err.Error(), "and the references with it")
	require.NoError(t, o.Client().Create(t.Context(), backup()), "the administrator has it")
}

// mayAdopt gives a user the right to choose the IDs of the namespace's instances and
// bindings.
func mayAdopt(e *env.Env, user string) {
	e.Helper()
	e.Create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "adopters"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "servicecatalog-adopt"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	e.Eventually(func() (bool, error) {
		return e.As(user).MayDo(authorizationv1.ResourceAttributes{Namespace: e.Namespace, Verb: "adopt", Group: api.GroupName, Resource: "serviceinstances"})
	})
}

// addAdopter is a new user who may create and adopt objects of a kind in the
// namespace, and nothing else.
func addAdopter(e *env.Env, resource string) string {
	e.Helper()
	user := "carol-" + strings.ToLower(rand.Text()[:8])
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: user}
	e.Create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{resource}, Verbs: []string{"create", "adopt"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	e.Eventually(func() (bool, error) {
		return e.As(user).MayDo(authorizationv1.ResourceAttributes{Namespace: e.Namespace, Verb: "adopt", Group: api.GroupName, Resource: resource})
	})
	return user
}
