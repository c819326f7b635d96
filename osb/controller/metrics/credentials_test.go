package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The series of a namespace is that of the credentials that expire first.
func TestCalendar(t *testing.T) {
	t.Parallel()
	now := time.Now()
	binding := func(namespace string, expires time.Duration) *v1beta1.ServiceBinding {
		b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		b.Status.Credentials = &v1beta1.CredentialsState{ExpiresAt: &metav1.Time{Time: now.Add(expires)}}
		return b
	}
	ends := calendar{}
	for _, b := range []*v1beta1.ServiceBinding{
		binding("a", 48*time.Hour), binding("a", 24*time.Hour), binding("a", 72*time.Hour), binding("b", -12*time.Hour), {},
	} {
		ends.note(b)
	}
	going := binding("c", time.Hour)
	going.DeletionTimestamp = &metav1.Time{Time: now}
	ends.note(going)
	samples := make(chan prometheus.Metric, 10)
	ends.tell(now, samples)
	close(samples)
	found := map[string]float64{}
	for sample := range samples {
		var read dto.Metric
		require.NoError(t, sample.Write(&read))
		found[read.GetLabel()[0].GetValue()] = read.GetGauge().GetValue()
	}
	assert.Equal(t, map[string]float64{"a": 1, "b": -0.5}, found)
}
