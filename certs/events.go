package certs

import corev1 "k8s.io/api/core/v1"

// The events on the Secrets of certificates.
const (
	reasonCAIssued    = "AuthorityIssued"
	reasonLeafIssued  = "CertificateIssued"
	reasonOthersFound = "OtherAuthoritiesKept"
)

// tell tells once, in the log and as an event, what was done and why. No certificate and
// no key is part of it.
func (r *Rotator) tell(secret *corev1.Secret, d deed) {
	reason, note := reasonOthersFound, "Other authorities are kept: "+d.why
	switch d.to {
	case theCA:
		reason, note = reasonCAIssued, "A new authority was issued: "+d.why
	case theLeaf:
		reason, note = reasonLeafIssued, "A new certificate was issued: "+d.why
	}
	r.counts.done(d)
	r.options.Log.Info("certificates changed", "what", d.to, "reason", reason, "why", d.why)
	r.options.Recorder.Eventf(secret, nil, corev1.EventTypeNormal, reason, "Rotate", "%s", note)
}
