package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Neither names a binding or its namespace, of which there may be any number:
// kubectl get servicebindings -A -o wide shows which binding it is.
var (
	credentialsExpiring = prometheus.NewDesc("defaultplan_credentials_expiring",
		"Bindings with credentials that expire, by rotation: automatic or never, and the time left: expired, less than 1h, 1d, 7d or 30d, or later.",
		[]string{"rotation", "left"}, nil)
	credentialsFirstExpiry = prometheus.NewDesc("defaultplan_credentials_first_expiry_timestamp_seconds",
		"When the credentials that expire first do, by rotation: automatic or never, in seconds since 1970.", []string{"rotation"}, nil)
)

// The values of the label rotation: whether new credentials are made before these expire.
const (
	rotationAutomatic = "automatic"
	rotationNever     = "never"
)

// timesLeft are what credentials that expire are counted by: the first that is longer
// than the time that they have left.
var timesLeft = []struct {
	below time.Duration
	label string
}{{0, "expired"}, {time.Hour, "1h"}, {24 * time.Hour, "1d"}, {7 * 24 * time.Hour, "7d"}, {30 * 24 * time.Hour, "30d"}}

// leftLater is the time left of all others.
const leftLater = "later"

func timeLeft(left time.Duration) string {
	for _, t := range timesLeft {
		if left < t.below {
			return t.label
		}
	}
	return leftLater
}

// A calendar counts the bindings with credentials that expire.
type calendar struct {
	now time.Time
	// expiring are counted by rotation and time left.
	expiring map[string]map[string]int
	// first is when the first credentials expire, by rotation; absent where none do.
	first map[string]time.Time
}

// newCalendar starts with zeros that are always exported, because alerts may
// compare them.
func newCalendar(now time.Time) *calendar {
	c := &calendar{now: now, expiring: map[string]map[string]int{}, first: map[string]time.Time{}}
	for _, rotation := range []string{rotationAutomatic, rotationNever} {
		c.expiring[rotation] = map[string]int{leftLater: 0}
		for _, t := range timesLeft {
			c.expiring[rotation][t.label] = 0
		}
	}
	return c
}

// note counts a binding, unless its credentials do not expire or are about to end.
func (c *calendar) note(b *v1beta1.ServiceBinding) {
	known := b.Status.Credentials
	if known == nil || known.ExpiresAt == nil || b.DeletionTimestamp != nil {
		return
	}
	rotation := rotationAutomatic
	if b.Spec.Rotation != nil && b.Spec.Rotation.Policy == v1beta1.RotationNever {
		rotation = rotationNever
	}
	expires := known.ExpiresAt.Time
	c.expiring[rotation][timeLeft(expires.Sub(c.now))]++
	if first, has := c.first[rotation]; !has || expires.Before(first) {
		c.first[rotation] = expires
	}
}

func (c *calendar) tell(samples chan<- prometheus.Metric) {
	for rotation, byTime := range c.expiring {
		for left, n := range byTime {
			samples <- gauge(credentialsExpiring, float64(n), rotation, left)
		}
	}
	for rotation, first := range c.first {
		samples <- gauge(credentialsFirstExpiry, float64(first.Unix()), rotation)
	}
}
