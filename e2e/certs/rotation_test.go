package certs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A leaf is renewed, and an authority is replaced, while two replicas serve and requests
// come all the time: none fails, and the three phases follow each other.
func TestCertificatesChangeUnderLoad(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "--certs-ca-lifetime=30s", "--certs-leaf-lifetime=12s", "--certs-settle=2s", "--certs-overlap=8s")
	load := e.underLoad()
	e.eventually(time.Minute, func(context.Context) (bool, error) {
		seen := load.seen()
		if !changed(seen) {
			return false, fmt.Errorf("seen so far: %v", seen)
		}
		return true, nil
	}, "the old authority, both with a leaf of the old, both with one of the new, the new")
	load.done()

	assert.GreaterOrEqual(t, e.metric(`defaultplan_certificate_rotations_total{certificate="leaf"}`), 3.0, "the leaf was renewed in between")
	assert.Zero(t, e.metric(`defaultplan_certificate_injection_failures_total{kind="MutatingWebhookConfiguration"}`))
	assert.Greater(t, e.metric(`defaultplan_certificate_not_after_timestamp_seconds{certificate="leaf"}`), float64(time.Now().Unix()))
}

// changed says whether the phases hold a whole change of the authority.
func changed(seen []phase) bool {
	old := ""
	step := 0
	for _, p := range seen {
		both := strings.Contains(p.trusted, " ")
		switch {
		case !both && step == 0:
			old, step = p.signer, 0
			if p.trusted == p.signer {
				step = 1
			}
		case both && step == 1 && p.signer == old:
			step = 2
		case both && step == 2 && p.signer != old:
			step = 3
		case !both && step == 3 && p.trusted == p.signer && p.signer != old:
			return true
		}
	}
	return false
}
