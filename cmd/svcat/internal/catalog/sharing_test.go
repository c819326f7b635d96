package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestSharedWith(t *testing.T) {
	t.Parallel()
	labels := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	for name, tc := range map[string]struct {
		reason  string
		sharing *v1beta1.Sharing
		want    string
	}{
		"NotShared": {"it is closed", nil, ""},
		"Empty":     {"so is this", &v1beta1.Sharing{}, ""},
		"Names":     {"by name", &v1beta1.Sharing{Namespaces: []string{"a", "b"}}, "namespaces a, b"},
		"Labels":    {"by label", &v1beta1.Sharing{NamespaceSelector: labels}, "namespaces with the labels team=shop"},
		"Both":      {"either", &v1beta1.Sharing{Namespaces: []string{"a"}, NamespaceSelector: labels}, "namespaces a, and namespaces with the labels team=shop"},
		"Everyone":  {"an empty selector is all", &v1beta1.Sharing{NamespaceSelector: &metav1.LabelSelector{}}, "all namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, SharedWith(tc.sharing), tc.reason)
		})
	}
}
