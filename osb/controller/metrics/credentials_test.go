package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A noted calendar is one as a collector.
type noted struct{ *calendar }

func (noted) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- credentialsExpiring
	descriptions <- credentialsFirstExpiry
}

func (n noted) Collect(samples chan<- prometheus.Metric) { n.tell(samples) }

// Bindings of any number of namespaces are counted in a fixed number of series, and the first
// credentials to expire are known to the second.
func TestCalendar(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	binding := func(namespace string, expires time.Duration) *v1beta1.ServiceBinding {
		b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		b.Status.Credentials = &v1beta1.CredentialsState{ExpiresAt: &metav1.Time{Time: now.Add(expires)}}
		return b
	}
	ends := newCalendar(now)
	for _, b := range []*v1beta1.ServiceBinding{
		binding("a", 48*time.Hour), binding("b", 24*time.Hour), binding("c", 72*time.Hour), binding("d", 30*time.Minute), {},
	} {
		ends.note(b)
	}
	going := binding("e", time.Minute)
	going.DeletionTimestamp = &metav1.Time{Time: now}
	ends.note(going)
	kept := binding("f", -12*time.Hour)
	kept.Spec.Rotation = &v1beta1.Rotation{Policy: v1beta1.RotationNever}
	ends.note(kept)
	require.NoError(t, testutil.CollectAndCompare(noted{ends}, strings.NewReader(`
# HELP defaultplan_credentials_expiring Bindings with credentials that expire, by rotation: automatic or never, and the time left: expired, less than 1h, 1d, 7d or 30d, or later.
# TYPE defaultplan_credentials_expiring gauge
defaultplan_credentials_expiring{left="1d",rotation="automatic"} 0
defaultplan_credentials_expiring{left="1d",rotation="never"} 0
defaultplan_credentials_expiring{left="1h",rotation="automatic"} 1
defaultplan_credentials_expiring{left="1h",rotation="never"} 0
defaultplan_credentials_expiring{left="30d",rotation="automatic"} 0
defaultplan_credentials_expiring{left="30d",rotation="never"} 0
defaultplan_credentials_expiring{left="7d",rotation="automatic"} 3
defaultplan_credentials_expiring{left="7d",rotation="never"} 0
defaultplan_credentials_expiring{left="expired",rotation="automatic"} 0
defaultplan_credentials_expiring{left="expired",rotation="never"} 1
defaultplan_credentials_expiring{left="later",rotation="automatic"} 0
defaultplan_credentials_expiring{left="later",rotation="never"} 0
# HELP defaultplan_credentials_first_expiry_timestamp_seconds When the credentials that expire first do, by rotation: automatic or never, in seconds since 1970.
# TYPE defaultplan_credentials_first_expiry_timestamp_seconds gauge
defaultplan_credentials_first_expiry_timestamp_seconds{rotation="automatic"} 1.7776386e+09
defaultplan_credentials_first_expiry_timestamp_seconds{rotation="never"} 1.7775936e+09
`)))
}

// A time is counted below the first bound that is longer than it.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{
		-time.Hour: "expired", -1: "expired", 0: "1h", time.Hour - 1: "1h", time.Hour: "1d", 24 * time.Hour: "7d", 7 * 24 * time.Hour: "30d", 30 * 24 * time.Hour: "later",
	} {
		assert.Equal(t, want, timeLeft(left), left.String())
	}
}
