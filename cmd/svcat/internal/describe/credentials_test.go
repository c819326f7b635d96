package describe

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestWriteCredentials(t *testing.T) {
	t.Parallel()
	at := func(hours int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 1, 2, hours, 0, 0, 0, time.UTC)}
	}
	known := &v1beta1.CredentialsState{IssuedAt: at(1), RenewBefore: at(2), ExpiresAt: at(3)}
	for name, tc := range map[string]struct {
		reason      string
		credentials *v1beta1.CredentialsState
		rotation    *v1beta1.BindingRotation
		want        string
	}{
		"Unknown": {reason: "nothing is said", want: ""},
		"Lasting": {reason: "nor of what does not expire", credentials: &v1beta1.CredentialsState{IssuedAt: at(1)}, want: ""},
		"Expire": {
			reason: "the broker's times", credentials: known,
			want: "\nCredentials:\n  Issued:         2026-01-02 01:00:00 +0000 UTC\n  Renew Before:   2026-01-02 02:00:00 +0000 UTC\n  Expire:         2026-01-02 03:00:00 +0000 UTC\n",
		},
		"Overlap": {
			reason: "until when the former ones are taken", credentials: &v1beta1.CredentialsState{IssuedAt: at(1)},
			rotation: &v1beta1.BindingRotation{Role: v1beta1.RotationPredecessor, ExternalID: "old", RemoveAfter: at(2)},
			want:     "\nCredentials:\n  Issued:               2026-01-02 01:00:00 +0000 UTC\n  Former External ID:   old\n  Former Valid Until:   2026-01-02 02:00:00 +0000 UTC\n",
		},
		"Failing": {
			reason: "why there are no new ones", rotation: &v1beta1.BindingRotation{Role: v1beta1.RotationSuccessor, ExternalID: "new", Message: "the broker says no", NextRetry: at(4)},
			want: "\nCredentials:\n  New External ID:   new\n  Rotation:          the broker says no\n  Next Retry:        2026-01-02 04:00:00 +0000 UTC\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &v1beta1.ServiceBinding{}
			b.Status.Credentials, b.Status.Rotation = tc.credentials, tc.rotation
			var out strings.Builder
			require.NoError(t, writeCredentials(&out, b))
			assert.Equal(t, tc.want, out.String(), tc.reason)
		})
	}
}
