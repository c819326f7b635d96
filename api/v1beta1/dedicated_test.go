package v1beta1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestDedicatedInstanceName(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	cases := map[string]struct {
		reason, name, begins string
	}{
		"Short":       {"all of it", "orders.db", "orders.db-"},
		"Longest":     {"what is left with the digits", long(253), long(244) + "-"},
		"CutAtADot":   {"a label ends with a letter", long(243) + ".y", long(243) + "-"},
		"CutAtADash":  {"or a digit", long(242) + "--y", long(242) + "-"},
		"CutBehindIt": {"a dot within is as ever", long(242) + ".yz", long(242) + ".y-"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: tc.name, UID: "uid"}}
			got := DedicatedInstanceName(b)
			assert.Empty(t, validation.IsDNS1123Subdomain(tc.name), "the binding's own is lawful")
			assert.Empty(t, validation.IsDNS1123Subdomain(got), tc.reason)
			assert.Len(t, got, len(tc.begins)+8)
			assert.True(t, strings.HasPrefix(got, tc.begins), tc.reason)
		})
	}
}
