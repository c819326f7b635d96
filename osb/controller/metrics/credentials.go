package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// There is a series for each namespace with credentials that expire, not for
// each binding, of which there may be many. kubectl get -o wide shows which
// binding it is.
var credentialsDaysLeft = prometheus.NewDesc("defaultplan_credentials_days_left",
	"Days until the first credentials of a namespace expire, less than 0 where they have; by namespace, where any expire.", []string{"namespace"}, nil)

// A calendar is when the first credentials of each namespace expire.
type calendar map[string]time.Time

// note notes a binding, unless its credentials do not expire or are about to end.
func (c calendar) note(b *v1beta1.ServiceBinding) {
	known := b.Status.Credentials
	if known == nil || known.ExpiresAt == nil || b.DeletionTimestamp != nil {
		return
	}
	if first, has := c[b.Namespace]; !has || known.ExpiresAt.Time.Before(first) {
		c[b.Namespace] = known.ExpiresAt.Time
	}
}

func (c calendar) tell(now time.Time, samples chan<- prometheus.Metric) {
	const day = 24 * time.Hour
	for namespace, expires := range c {
		samples <- gauge(credentialsDaysLeft, float64(expires.Sub(now))/float64(day), namespace)
	}
}
