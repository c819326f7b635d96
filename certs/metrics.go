package certs

import (
	"crypto/x509"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The help texts say what the documents do: docs/certificates.md.
const (
	notAfterName  = "defaultplan_certificate_not_after_timestamp_seconds"
	rotationsName = "defaultplan_certificate_rotations_total"
	failuresName  = "defaultplan_certificate_injection_failures_total"
)

// An expiry tells, at each scrape, when the certificates of a serving directory end.
type expiry struct {
	dir      string
	notAfter *prometheus.Desc
}

// RegisterExpiry exports when the certificates of the serving directory expire: the leaf,
// and, if CAFile exists, the authority. It does not matter which process wrote them; a file
// that cannot be read is left out.
func RegisterExpiry(registry prometheus.Registerer, dir string) {
	registry.MustRegister(&expiry{dir: dir, notAfter: prometheus.NewDesc(notAfterName,
		"When the certificate that this replica serves ends, and when its authority does, in seconds since 1970.", []string{"certificate"}, nil)})
}

// Describe names the metric.
func (e *expiry) Describe(descs chan<- *prometheus.Desc) { descs <- e.notAfter }

// Collect reads the files.
func (e *expiry) Collect(samples chan<- prometheus.Metric) {
	leaf, ca := readServing(e.dir)
	for certificate, cert := range map[string]*x509.Certificate{theLeaf: first(leaf.Cert), theCA: first(ca)} {
		if cert != nil {
			samples <- prometheus.MustNewConstMetric(e.notAfter, prometheus.GaugeValue, float64(cert.NotAfter.Unix()), certificate)
		}
	}
}

// counts are the counters of a Rotator.
type counts struct {
	rotations, failures *prometheus.CounterVec
}

func newCounts(registry prometheus.Registerer) counts {
	c := counts{
		rotations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: rotationsName, Help: "Certificates that this replica issued: ca is an authority, leaf what is served.",
		}, []string{"certificate"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: failuresName, Help: "Attempts to put the authority into a hook configuration that failed, by its kind.",
		}, []string{"kind"}),
	}
	// Each is there from the start, so that the first one counts as an increase.
	for _, certificate := range []string{theCA, theLeaf} {
		c.rotations.WithLabelValues(certificate)
	}
	for _, kind := range []string{mutatingKind, validatingKind} {
		c.failures.WithLabelValues(kind)
	}
	registry.MustRegister(c.rotations, c.failures)
	return c
}

func (c counts) done(d deed) {
	if d.to != theOthers {
		c.rotations.WithLabelValues(d.to).Inc()
	}
}

// injectionFailed counts an attempt, unless another replica was only faster.
func (c counts) injectionFailed(kind string, err error) {
	if !apierrors.IsConflict(err) {
		c.failures.WithLabelValues(kind).Inc()
	}
}
