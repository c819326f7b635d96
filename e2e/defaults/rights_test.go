package defaults_test

import (
	"fmt"
	"regexp"
	"slices"
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

// A rightsCase is a write of someone who may write classes and plans, and no
// types.
type rightsCase struct {
	reason string
	write  func(o *offering.Offer, by client.Client) error
	// types are those whose default it decides: the write takes the right to
	// each. With none it is admitted.
	types []string
	// want is what the offer comes to.
	want string
}

// grantingCommand is the command that a denial ends with.
var grantingCommand = regexp.MustCompile(`kubectl create (?:cluster)?role .*`)

// TestOnlyWhoMayUpdateATypeDecidesItsDefault: a user who may write plans and classes
// neither turns a default on nor off, by whichever field, before the commands of the
// denials are run; and a right to one type is none to another.
func TestOnlyWhoMayUpdateATypeDecidesItsDefault(t *testing.T) {
	t.Parallel()
	for _, s := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, tc := range rightsCases() {
			t.Run(s.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := offering.New(env.New(t), s)
				o.ComesTo("type=plan strange= plan*", "the first default is recorded")
				editor := addEditor(o)
				by := o.As(editor).Client()
				for i := range tc.types {
					err := tc.write(o, by)
					lacksRights(o, err, editor, tc.types[i:])
					o.ComesTo("type=plan strange= plan*", "nothing is stored")
					grantsAsTold(o, err, editor, tc.types[:i+1])
				}
				require.NoError(t, tc.write(o, by), tc.reason)
				o.ComesTo(tc.want, tc.reason)
			})
		}
	}
}

func rightsCases() map[string]rightsCase {
	const untouched = "type=plan strange= plan*"
	patched := func(of func(o *offering.Offer) client.Object, patch string) func(*offering.Offer, client.Client) error {
		return func(o *offering.Offer, by client.Client) error { return patchBy(o, by, of(o), patch) }
	}
	plan, other := func(o *offering.Offer) client.Object { return o.PlanObject(o.Plan) }, func(o *offering.Offer) client.Object { return o.PlanObject(o.Other) }
	distant := func(o *offering.Offer) client.Object { return o.PlanObject(o.ForeignPlan) }
	ofType, ofStrange := []string{"type"}, []string{"strange"}
	return map[string]rightsCase{
		"On":    {reason: "a first default", types: ofStrange, want: "type=plan strange=distant distant* plan*", write: patched(distant, offering.PatchOn)},
		"OnPut": {reason: "however it is written", types: ofStrange, want: "type=plan strange=distant distant* plan*", write: annotatedPut},
		"OnNew": {reason: "as a new plan", types: ofStrange, want: "type=plan strange=fresh fresh* plan*", write: annotatedPlan},
		"Off":   {reason: "what may be set may be taken off", types: ofType, want: "type= strange=", write: patched(plan, offering.PatchOff)},
		"OffByValue": {
			reason: `only "true" is a claim`, types: ofType, want: "type= strange=",
			write: patched(plan, `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"True"}}}`),
		},
		"Retyped":      {reason: "it leaves one type, and is the default of another", types: []string{"type", "strange"}, want: "type= strange=plan plan*", write: patched(plan, `{"spec":{"serviceType":"@strange"}}`)},
		"ClassRetyped": {reason: "as its plans do", types: []string{"type", "strange"}, want: "type=gone strange=plan plan*", write: patched(func(o *offering.Offer) client.Object { return o.ClassObject(o.Class) }, `{"spec":{"serviceType":"@strange"}}`)},
		"RetypedOff":   {reason: "it leaves one type, and is no default", types: ofType, want: "type= strange=", write: patched(plan, `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":null}},"spec":{"serviceType":"@strange"}}`)},

		"Suggested":    {reason: "a suggestion is no default", want: untouched, write: patched(other, `{"metadata":{"annotations":{"`+api.AnnotationSuggestedPlan+`":"true"}}}`)},
		"Labelled":     {reason: "the default stays what it was", want: untouched, write: patched(plan, `{"metadata":{"labels":{"a":"b"}},"spec":{"weight":7}}`)},
		"OtherRetyped": {reason: "it is no default", want: untouched, write: patched(other, `{"spec":{"serviceType":"@strange"}}`)},
		"Restated":     {reason: "it says what its class says", want: untouched, write: patched(plan, `{"spec":{"serviceType":"@type"}}`)},
	}
}

// patchBy sends a merge patch as another user.
func patchBy(o *offering.Offer, by client.Client, object client.Object, patch string) error {
	return by.Patch(o.Context(), object, client.RawPatch(types.MergePatchType, []byte(o.Fill(patch))))
}

// annotatedPut annotates the distant plan as one who reads it and writes it back.
func annotatedPut(o *offering.Offer, by client.Client) error {
	object := o.PlanObject(o.ForeignPlan)
	if err := by.Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	object.SetAnnotations(map[string]string{api.AnnotationDefaultPlan: "true"})
	return by.Update(o.Context(), object)
}

// annotatedPlan creates a plan beside the distant one.
func annotatedPlan(o *offering.Offer, by client.Client) error {
	return by.Create(o.Context(), env.Plan{Namespace: o.At(), Name: o.Name("fresh"), Class: o.ForeignClass, Default: true}.Object())
}

// lacksRights asserts that the write was refused because the user may not decide
// the defaults of these types.
func lacksRights(o *offering.Offer, err error, user string, words []string) {
	o.Helper()
	require.True(o, apierrors.IsForbidden(err), "%v", err)
	for _, word := range words {
		assert.Contains(o, err.Error(), fmt.Sprintf("user %q may not decide the default of type %q", user, o.Name(word)))
	}
	assert.Len(o, grantingCommand.FindAllString(err.Error(), -1), len(words), "%v", err)
}

// grantsAsTold runs the command of a denial that grants the right to the last of
// these types, and returns when the API server knows of it.
func grantsAsTold(o *offering.Offer, err error, user string, words []string) {
	o.Helper()
	serviceType := o.Name(words[len(words)-1])
	commands := grantingCommand.FindAllString(err.Error(), -1)
	i := slices.IndexFunc(commands, func(command string) bool { return strings.Contains(command, "--resource-name="+serviceType+" ") })
	require.GreaterOrEqual(o, i, 0, "a command that grants the right to type %q: %v", serviceType, err)
	o.Shell(commands[i])
	resource := "clusterservicetypes"
	if o.Namespaced {
		resource = "servicetypes"
	}
	o.Eventually(func() (bool, error) { return allows(o, user, "update", resource, serviceType), nil })
	for _, other := range []string{"type", "strange"} {
		assert.Equal(o, slices.Contains(words, other), allows(o, user, "update", resource, o.Name(other)), "the right to type %s", other)
	}
}

// allows says whether a user has a right in the offer's scope.
func allows(o *offering.Offer, user, verb, resource, name string) bool {
	o.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: o.At(), Verb: verb, Group: api.GroupName, Resource: resource, Name: name,
		},
	}}
	o.Create(review)
	return review.Status.Allowed
}

// addEditor is a new user who may write classes and plans of the offer's scope,
// and nothing else.
func addEditor(o *offering.Offer) string {
	o.Helper()
	user := o.Name("editor")
	rules := []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"clusterserviceclasses", "clusterserviceplans"},
		Verbs: []string{"get", "list", "create", "update", "patch"},
	}}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	meta := metav1.ObjectMeta{Namespace: o.At(), Name: user}
	probe := "clusterserviceplans"
	if o.Namespaced {
		rules[0].Resources, probe = []string{"serviceclasses", "serviceplans"}, "serviceplans"
		o.Create(&rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		})
	} else {
		o.Create(&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		})
	}
	o.Eventually(func() (bool, error) { return allows(o, user, "patch", probe, ""), nil })
	return user
}
