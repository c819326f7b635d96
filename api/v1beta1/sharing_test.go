package v1beta1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestSharingAdmits(t *testing.T) {
	t.Parallel()
	selects := func(selector metav1.LabelSelector) *v1beta1.Sharing {
		return &v1beta1.Sharing{NamespaceSelector: &selector}
	}
	for name, tc := range map[string]struct {
		reason  string
		sharing *v1beta1.Sharing
		want    bool
	}{
		"Absent":         {reason: "closed by default"},
		"Empty":          {reason: "no namespace is named", sharing: &v1beta1.Sharing{}},
		"Named":          {reason: "by name", sharing: &v1beta1.Sharing{Namespaces: []string{"other", "dev"}}, want: true},
		"OthersNamed":    {reason: "a name is not a prefix", sharing: &v1beta1.Sharing{Namespaces: []string{"de", "dev2"}}},
		"Selected":       {reason: "by label", sharing: selects(metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}), want: true},
		"NotSelected":    {reason: "another label", sharing: selects(metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}})},
		"All":            {reason: "an empty selector is everybody", sharing: selects(metav1.LabelSelector{}), want: true},
		"NamedNotLabels": {reason: "either is enough", sharing: &v1beta1.Sharing{Namespaces: []string{"dev"}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}}, want: true},
		"Broken": {
			reason:  "an invalid selector selects no namespace",
			sharing: selects(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Sometimes"}}}),
		},
		"OnlyWithdrawn": {reason: "what happens afterwards is no consent", sharing: &v1beta1.Sharing{WhenWithdrawn: v1beta1.WithdrawnUnbind}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.sharing.Admits("dev", map[string]string{"team": "a"}), tc.reason)
		})
	}
}
