package order

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestRotateAsks(t *testing.T) {
	t.Parallel()
	hour := &metav1.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		reason  string
		has     *v1beta1.Rotation
		overlap time.Duration
		want    v1beta1.Rotation
	}{
		"First":     {reason: "the counter begins", overlap: -1, want: v1beta1.Rotation{Requests: 1}},
		"Again":     {reason: "all else stays", has: &v1beta1.Rotation{Requests: 4, Every: hour, Overlap: hour}, overlap: -1, want: v1beta1.Rotation{Requests: 5, Every: hour, Overlap: hour}},
		"AtOnce":    {reason: "the former ones end", has: &v1beta1.Rotation{Overlap: hour}, want: v1beta1.Rotation{Requests: 1, Overlap: &metav1.Duration{}}},
		"SomeHours": {reason: "as given", overlap: time.Hour, want: v1beta1.Rotation{Requests: 1, Overlap: hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &v1beta1.ServiceBinding{}
			b.Spec.Rotation = tc.has
			(&rotate{overlap: tc.overlap}).ask(b)
			assert.Equal(t, tc.want, *b.Spec.Rotation, tc.reason)
		})
	}
}
