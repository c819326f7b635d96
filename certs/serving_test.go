package certs

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func servingFrom(t *testing.T, at time.Time, lifetime time.Duration) serving {
	t.Helper()
	issued, err := Issue("ca of "+at.String(), []string{host}, at, lifetime)
	require.NoError(t, err)
	s := servingOf(issued.Leaf, issued.CA.Cert)
	require.NotNil(t, s.leaf)
	return s
}

// A replica goes over to a leaf when that is trusted, and for long enough.
func TestTakes(t *testing.T) {
	t.Parallel()
	old, fresh, ended := servingFrom(t, noon, time.Hour), servingFrom(t, noon, time.Hour), servingFrom(t, noon.Add(-2*time.Hour), time.Hour)
	pair, by, err := issueCA("renewed", noon, time.Hour)
	require.NoError(t, err)
	one, err := by.issueLeaf([]string{host}, noon, time.Hour)
	require.NoError(t, err)
	two, err := by.issueLeaf([]string{host}, noon, time.Hour)
	require.NoError(t, err)
	sameA, sameB := servingOf(one, pair.Cert), servingOf(two, pair.Cert)

	bundle := func(all ...serving) []byte {
		var content []byte
		for _, s := range all {
			content = append(content, encode([]*x509.Certificate{s.ca})...)
		}
		return content
	}
	long, short, never := noon.Add(-time.Minute), noon.Add(-time.Minute+time.Second), time.Time{}
	for name, tc := range map[string]struct {
		reason          string
		served, offered serving
		bundles         [][]byte
		since           time.Time
		want            bool
	}{
		"First":            {reason: "nothing is served yet", offered: fresh, since: never, want: true},
		"Expired":          {reason: "it is not accepted anyway", served: ended, offered: fresh, bundles: [][]byte{bundle(ended)}, since: never, want: true},
		"TheSame":          {reason: "it is served", served: fresh, offered: fresh, bundles: [][]byte{bundle(fresh)}, since: long},
		"NotTrusted":       {reason: "the old one is still trusted", served: old, offered: fresh, bundles: [][]byte{bundle(old)}, since: never},
		"NobodyIsTrusted":  {reason: "the bundle was emptied: what comes into it is not known yet", served: old, offered: fresh, bundles: [][]byte{nil}, since: never},
		"NotSettled":       {reason: "an API server may not know yet", served: old, offered: fresh, bundles: [][]byte{bundle(old, fresh)}, since: short},
		"Settled":          {reason: "all know", served: old, offered: fresh, bundles: [][]byte{bundle(old, fresh), bundle(fresh, old)}, since: long, want: true},
		"OldIsNotTrusted":  {reason: "every moment counts", served: old, offered: fresh, bundles: [][]byte{bundle(fresh)}, since: short, want: true},
		"OldIsHalfTrusted": {reason: "some entries would refuse it", served: old, offered: fresh, bundles: [][]byte{bundle(fresh), bundle(old, fresh)}, since: short, want: true},
		"Renewed":          {reason: "the same authority is trusted", served: sameA, offered: sameB, bundles: [][]byte{bundle(sameA)}, since: short, want: true},
		"NobodyAsks":       {reason: "there are no configurations, so it is trusted by all", served: old, offered: fresh, since: long, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.served.takes(tc.offered, tc.bundles, tc.since, noon, time.Minute), tc.reason)
		})
	}
}

func TestServingOfRefuses(t *testing.T) {
	t.Parallel()
	a, err := Issue("a", []string{host}, noon, time.Hour)
	require.NoError(t, err)
	b, err := Issue("b", []string{host}, noon, time.Hour)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		reason string
		leaf   Pair
		ca     []byte
	}{
		"Nothing":      {reason: "the folder is empty"},
		"KeyOfAnother": {reason: "no handshake would work", leaf: Pair{Cert: a.Leaf.Cert, Key: b.Leaf.Key}, ca: a.CA.Cert},
		"CAOfAnother":  {reason: "who trusts the one does not trust the other", leaf: a.Leaf, ca: b.CA.Cert},
		"NoCA":         {reason: "it is unknown which authority to trust", leaf: a.Leaf},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, serving{}, servingOf(tc.leaf, tc.ca), tc.reason)
		})
	}
}

// Ready means trusted by every entry of both configurations.
func TestTrusted(t *testing.T) {
	t.Parallel()
	own, foreign := servingFrom(t, noon, time.Hour), servingFrom(t, noon, time.Hour)
	ours, theirs := encode([]*x509.Certificate{own.ca}), encode([]*x509.Certificate{foreign.ca})
	both := append(append([]byte(nil), ours...), theirs...)
	of := func(also []byte, missing []string, bundles ...[]byte) snapshot {
		w := snapshot{seen: seen{also: also}, missing: missing, configurations: []configuration{{}}}
		for _, bundle := range bundles {
			w.configurations[0].entries = append(w.configurations[0].entries, entry{of: `Kind "hooks"`, name: "h", bundle: bundle})
		}
		return w
	}
	for name, tc := range map[string]struct {
		reason   string
		served   serving
		snapshot snapshot
		before   bool
		says     string
	}{
		"Nothing":       {reason: "nothing is served", snapshot: of(nil, nil, ours), says: "no certificate"},
		"All":           {reason: "each carries it", served: own, snapshot: of(nil, nil, ours, both)},
		"OneLacks":      {reason: "one hook would be refused", served: own, snapshot: of(nil, nil, ours, theirs), says: `webhook "h" of Kind "hooks"`},
		"Empty":         {reason: "nothing was injected yet", served: own, snapshot: of(nil, nil, ours, nil), says: "does not carry"},
		"Missing":       {reason: "nothing can be injected", served: own, snapshot: of(nil, []string{`Kind "hooks"`}, ours), says: "is not there"},
		"AlsoLacks":     {reason: "the switch is not prepared yet", served: own, snapshot: of(theirs, nil, ours), says: "trusted, too"},
		"AlsoThere":     {reason: "the switch is prepared", served: own, snapshot: of(theirs, nil, both)},
		"EmptiedLater":  {reason: "it is better nowhere, and the keeper fills it", served: own, snapshot: of(nil, nil, nil), before: true},
		"DeletedLater":  {reason: "no configuration asks", served: own, snapshot: of(nil, []string{"x"}), before: true},
		"ReplacedLater": {reason: "another replica may serve what is trusted", served: own, snapshot: of(nil, nil, theirs), before: true, says: "does not carry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.served.trusted(tc.snapshot, tc.before, noon)
			if tc.says == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.ErrorContains(t, err, tc.says, tc.reason)
		})
	}
}
