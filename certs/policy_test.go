package certs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPolicyIsValidated(t *testing.T) {
	t.Parallel()
	require.NoError(t, DefaultPolicy(host).Validate())
	for name, tc := range map[string]struct {
		reason string
		edit   func(*Policy)
		says   string
	}{
		"NoHost":         {reason: "a certificate needs a host", edit: func(p *Policy) { p.Hosts = nil }, says: "no host"},
		"NoLife":         {reason: "it would be renewed for ever", edit: func(p *Policy) { p.LeafLifetime = 0 }, says: "must be positive"},
		"LeafOutlives":   {reason: "a leaf ends with its authority", edit: func(p *Policy) { p.CALifetime = time.Hour }, says: "no longer than the authority's"},
		"ShortOverlap":   {reason: "the old would go before the new is served", edit: func(p *Policy) { p.Overlap = p.Settle }, says: "twice as long"},
		"NegativeSettle": {reason: "there is no time before", edit: func(p *Policy) { p.Settle = -1 }, says: "time to settle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := DefaultPolicy(host)
			tc.edit(&p)
			require.ErrorContains(t, p.Validate(), tc.says, tc.reason)
		})
	}
}
