package instances

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestShare(t *testing.T) {
	t.Parallel()
	selects := func(value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": value}}
	}
	ab := func() *v1beta1.Sharing { return &v1beta1.Sharing{Namespaces: []string{"a", "b"}} }
	for name, tc := range map[string]struct {
		reason string
		asked  share
		was    *v1beta1.Sharing
		want   v1beta1.Sharing
		told   string
	}{
		"First":     {reason: "no namespace may yet", asked: share{with: []string{"a"}}, want: v1beta1.Sharing{Namespaces: []string{"a"}}, told: "namespaces a; bindings of others stay"},
		"More":      {reason: "who may, may still", asked: share{with: []string{"c", "a"}}, was: ab(), want: v1beta1.Sharing{Namespaces: []string{"a", "b", "c"}}, told: "namespaces a, b, c; bindings of others stay"},
		"Fewer":     {reason: "one is taken away", asked: share{without: []string{"a", "z"}}, was: ab(), want: v1beta1.Sharing{Namespaces: []string{"b"}}, told: "namespaces b; bindings of others stay"},
		"Labels":    {reason: "beside the names", asked: share{selector: "team=x"}, was: ab(), want: v1beta1.Sharing{Namespaces: []string{"a", "b"}, NamespaceSelector: selects("x")}, told: "namespaces a, b, and namespaces with the labels team=x; bindings of others stay"},
		"Everyone":  {reason: "an empty selector matches all", was: &v1beta1.Sharing{NamespaceSelector: &metav1.LabelSelector{}}, asked: share{with: []string{"a"}}, want: v1beta1.Sharing{Namespaces: []string{"a"}, NamespaceSelector: &metav1.LabelSelector{}}, told: "namespaces a, and all namespaces; bindings of others stay"},
		"NamesOnly": {reason: "the labels alone are taken away", was: &v1beta1.Sharing{Namespaces: []string{"a"}, NamespaceSelector: selects("x")}, asked: share{withoutSelector: true}, want: v1beta1.Sharing{Namespaces: []string{"a"}}, told: "namespaces a; bindings of others stay"},
		"None":      {reason: "all names and labels go", asked: share{nobody: true}, was: &v1beta1.Sharing{Namespaces: []string{"a"}, NamespaceSelector: selects("x")}, told: "no other namespace; bindings of others stay"},
		"NoneEver":  {reason: "an empty sharing, not an absent one", asked: share{nobody: true}, told: "no other namespace; bindings of others stay"},
		"Unbind":    {reason: "in as many words", asked: share{nobody: true, unbind: true, unbindSet: true}, was: ab(), want: v1beta1.Sharing{WhenWithdrawn: v1beta1.WithdrawnUnbind}, told: "no other namespace; bindings of others are deleted"},
		"UnbindStays": {
			reason: "what was said holds until it is taken back", asked: share{without: []string{"a"}}, was: &v1beta1.Sharing{Namespaces: []string{"a"}, WhenWithdrawn: v1beta1.WithdrawnUnbind},
			want: v1beta1.Sharing{Namespaces: []string{}, WhenWithdrawn: v1beta1.WithdrawnUnbind}, told: "no other namespace; bindings of others are deleted",
		},
		"UnbindNot": {reason: "taken back", asked: share{unbindSet: true}, was: &v1beta1.Sharing{WhenWithdrawn: v1beta1.WithdrawnUnbind}, told: "no other namespace; bindings of others stay"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, tc.asked.validate())
			before := tc.was.DeepCopy()
			got, err := tc.asked.change(tc.was)
			require.NoError(t, err)
			assert.True(t, equality.Semantic.DeepEqual(&tc.want, got), "%s: %+v", tc.reason, got)
			assert.Equal(t, before, tc.was, "what was read is not written to")
			assert.Equal(t, tc.told, sharedWith(got))
		})
	}
}

func TestShareWithNoOne(t *testing.T) {
	t.Parallel()
	for reason, asked := range map[string]share{
		"nothing is said": {}, "both cannot be": {nobody: true, with: []string{"a"}}, "nor these": {nobody: true, selector: "a=b"}, "labels are wrong": {selector: "a in"},
		"which of them": {selector: "a=b", withoutSelector: true}, "nor that": {nobody: true, withoutSelector: true},
	} {
		assert.Error(t, asked.validate(), reason)
	}
}
