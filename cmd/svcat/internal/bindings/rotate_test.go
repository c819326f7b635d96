package bindings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestRotateRequests(t *testing.T) {
	t.Parallel()
	hour := &metav1.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		reason  string
		has     *v1beta1.Rotation
		served  int64
		overlap *time.Duration
		want    v1beta1.Rotation
	}{
		"First":     {reason: "the counter begins", want: v1beta1.Rotation{Requests: 1}},
		"Again":     {reason: "all else stays", has: &v1beta1.Rotation{Requests: 4, Every: hour, Overlap: hour}, want: v1beta1.Rotation{Requests: 5, Every: hour, Overlap: hour}},
		"SetBack":   {reason: "what was served already is no request", has: &v1beta1.Rotation{Requests: 2}, served: 7, want: v1beta1.Rotation{Requests: 8}},
		"Served":    {reason: "one that waits is counted", has: &v1beta1.Rotation{Requests: 4}, served: 3, want: v1beta1.Rotation{Requests: 5}},
		"AtOnce":    {reason: "the former ones end", has: &v1beta1.Rotation{Overlap: hour}, overlap: new(time.Duration(0)), want: v1beta1.Rotation{Requests: 1, Overlap: &metav1.Duration{}}},
		"SomeHours": {reason: "as given", overlap: new(time.Hour), want: v1beta1.Rotation{Requests: 1, Overlap: hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &v1beta1.ServiceBinding{}
			b.Spec.Rotation = tc.has
			b.Status.Credentials = &v1beta1.CredentialsState{Requests: tc.served}
			r := &rotate{overlapSet: tc.overlap != nil}
			if r.overlapSet {
				r.overlap = *tc.overlap
			}
			require.NoError(t, r.validate())
			require.NoError(t, r.edit(b))
			assert.Equal(t, tc.want, *b.Spec.Rotation, tc.reason)
		})
	}
}
