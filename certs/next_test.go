package certs

import (
	"crypto/x509"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noon is when the tests begin.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const host = "hooks.ns.svc"

var quick = Policy{Hosts: []string{host}, CALifetime: 30 * time.Hour, LeafLifetime: 3 * time.Hour, Settle: time.Minute, Overlap: 10 * time.Minute}

// apply writes a plan into a Secret's data, as a merge patch does.
func apply(data map[string][]byte, do plan) map[string][]byte {
	data = maps.Clone(data)
	if data == nil {
		data = map[string][]byte{}
	}
	for name, content := range do.data {
		if content == nil {
			delete(data, name)
			continue
		}
		data[name] = content
	}
	return data
}

// settle plans and writes until nothing is to be written.
func settle(t *testing.T, s seen, now time.Time, p Policy) (seen, plan, []deed) {
	t.Helper()
	var deeds []deed
	for range 3 {
		do, err := next(s, now, p)
		require.NoError(t, err)
		if len(do.data) == 0 {
			return s, do, deeds
		}
		deeds = append(deeds, do.deeds...)
		s.data = apply(s.data, do)
	}
	require.Fail(t, "it never settles")
	return s, plan{}, nil
}

// inject writes what the bundles are to carry.
func inject(s seen, do plan) seen {
	s.bundles = slices.Clone(s.bundles)
	for i := range s.bundles {
		if bundle := do.trust.amend(s.bundles[i]); bundle != nil {
			s.bundles[i] = bundle
		}
	}
	return s
}

// installed is a Secret and two bundles after the first installation.
func installed(t *testing.T) seen {
	t.Helper()
	s, do, deeds := settle(t, seen{bundles: make([][]byte, 2)}, noon, quick)
	require.Equal(t, []deed{{theCA, "the Secret is empty"}, {theLeaf, "its certificate is missing or cannot be read"}}, deeds)
	return inject(s, do)
}

func other(t *testing.T, at time.Time) Issued {
	t.Helper()
	issued, err := Issue("other", []string{host}, at, time.Hour)
	require.NoError(t, err)
	return issued
}

func carriedBy(t *testing.T, bundle []byte) []*x509.Certificate {
	t.Helper()
	found, clean := certificates(bundle)
	require.True(t, clean)
	return found
}

func TestNothingIsDoneTwice(t *testing.T) {
	t.Parallel()
	s := installed(t)
	do, err := next(s, noon.Add(time.Minute), quick)
	require.NoError(t, err)
	assert.Empty(t, do.data)
	for _, bundle := range s.bundles {
		assert.Nil(t, do.trust.amend(bundle))
	}
	assert.Equal(t, noon.Add(2*time.Hour), do.again, "a third of the leaf's life is left then")
}

// What is damaged is healed, by as little as possible.
func TestDamagesAreHealed(t *testing.T) {
	t.Parallel()
	garbage := []byte("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
	leaf, both := []string{theLeaf}, []string{theCA, theLeaf}
	for name, tc := range map[string]struct {
		reason string
		edit   func(t *testing.T, data map[string][]byte)
		after  time.Duration
		hosts  []string
		does   []string
		why    string
	}{
		"LeafDue":          {reason: "a third is left", after: 2 * time.Hour, does: leaf, why: "its time has come"},
		"LeafNotDue":       {reason: "more than a third is left", after: 2*time.Hour - time.Second},
		"CADue":            {reason: "its leaves need the new one", after: 20 * time.Hour, does: both, why: "its time has come"},
		"ClockForward":     {reason: "all has expired", after: 1000 * time.Hour, does: both, why: "it expired at 2026-05-02T18:00:00Z"},
		"ClockBack":        {reason: "nothing is valid yet", after: -time.Hour, does: both, why: "it is not valid yet: a clock was wrong"},
		"Emptied":          {reason: "as at first", edit: func(_ *testing.T, d map[string][]byte) { clear(d) }, does: both, why: "the Secret is empty"},
		"CACertGone":       {reason: "it is unknown who signed", edit: func(_ *testing.T, d map[string][]byte) { delete(d, CAFile) }, does: both, why: "its certificate is missing or cannot be read"},
		"CACertGarbage":    {reason: "as if it were gone", edit: func(_ *testing.T, d map[string][]byte) { d[CAFile] = garbage }, does: both, why: "its certificate is missing or cannot be read"},
		"CAKeyGone":        {reason: "the next leaf could not be signed", edit: func(_ *testing.T, d map[string][]byte) { delete(d, caKeyFile) }, does: both, why: "its key is missing or is another's"},
		"CAKeyOfAnother":   {reason: "as if it were gone", edit: func(t *testing.T, d map[string][]byte) { d[caKeyFile] = other(t, noon).CA.Key }, does: both, why: "its key is missing or is another's"},
		"CAIsALeaf":        {reason: "it may not sign", edit: func(t *testing.T, d map[string][]byte) { d[CAFile], d[caKeyFile] = other(t, noon).Leaf.Cert, nil }, does: both, why: "its certificate is none of an authority"},
		"LeafGarbage":      {reason: "the authority is whole", edit: func(_ *testing.T, d map[string][]byte) { d[CertFile] = garbage }, does: leaf, why: "its certificate is missing or cannot be read"},
		"LeafKeyGone":      {reason: "it cannot be served", edit: func(_ *testing.T, d map[string][]byte) { delete(d, KeyFile) }, does: leaf, why: "its key is missing or is another's"},
		"LeafKeyOfAnother": {reason: "it cannot be served", edit: func(t *testing.T, d map[string][]byte) { d[KeyFile] = other(t, noon).Leaf.Key }, does: leaf, why: "its key is missing or is another's"},
		"LeafOfAnother": {reason: "it is not trusted", edit: func(t *testing.T, d map[string][]byte) {
			issued := other(t, noon)
			d[CertFile], d[KeyFile] = issued.Leaf.Cert, issued.Leaf.Key
		}, does: leaf, why: "another authority signed it"},
		"Renamed":          {reason: "the API server asks for the name of the Service", hosts: []string{"new.ns.svc"}, does: leaf, why: `it is not for "new.ns.svc"`},
		"LeavingGarbage":   {reason: "it is forgotten", edit: func(_ *testing.T, d map[string][]byte) { d[leavingFile] = garbage }},
		"UnknownIsIgnored": {reason: "other keys do not matter", edit: func(_ *testing.T, d map[string][]byte) { d["else"] = garbage }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := installed(t)
			before := s.data
			s.data = maps.Clone(s.data)
			if tc.edit != nil {
				tc.edit(t, s.data)
			}
			p := quick
			if tc.hosts != nil {
				p.Hosts = tc.hosts
			}
			now := noon.Add(tc.after)
			healed, _, deeds := settle(t, s, now, p)
			var does []string
			for _, d := range deeds {
				if d.to != theOthers {
					does = append(does, d.to)
				}
			}
			assert.Equal(t, tc.does, does, tc.reason)
			if len(tc.does) > 0 {
				assert.Equal(t, tc.why, deeds[0].why, tc.reason)
			}
			have := readState(healed.data)
			assert.Empty(t, have.caWrong(now))
			assert.Empty(t, have.leafWrong(p.Hosts, now))
			if len(tc.does) < 2 {
				assert.Equal(t, before[CAFile], healed.data[CAFile], "the authority stays")
			}
		})
	}
}

// Replicas of two releases, that ask for different names, do not take turns.
func TestNamesOfBothAreKept(t *testing.T) {
	t.Parallel()
	s := installed(t)
	renamed := quick
	renamed.Hosts = []string{"new.ns.svc", "10.0.0.1"}
	s, _, deeds := settle(t, s, noon, renamed)
	require.Len(t, deeds, 1)
	for _, p := range []Policy{quick, renamed} {
		do, err := next(s, noon, p)
		require.NoError(t, err)
		assert.Empty(t, do.data)
	}
	s, _, _ = settle(t, s, noon.Add(2*time.Hour), quick)
	assert.Equal(t, []string{host}, readState(s.data).leaf.DNSNames, "what is not requested goes with the next one")
}

// A change of the authority, from the first write to the last.
func TestAuthorityChange(t *testing.T) {
	t.Parallel()
	s := installed(t)
	old := readState(s.data).ca.cert
	start := noon.Add(20 * time.Hour)
	s, do, deeds := settle(t, s, start, quick)
	require.Len(t, deeds, 2)
	fresh := readState(s.data).ca.cert
	assert.NotEqual(t, old.Subject.CommonName, fresh.Subject.CommonName)

	s = inject(s, do)
	for _, bundle := range s.bundles {
		carried := carriedBy(t, bundle)
		assert.Len(t, carried, 2, "both")
		assert.True(t, holds(carried, old) && holds(carried, fresh))
	}
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration
		bundle []byte
		want   int // authorities in it after
	}{
		"Stays":            {reason: "the overlap lasts", after: 4 * time.Minute, bundle: s.bundles[0], want: 2},
		"PutBack":          {reason: "a replica may still serve a leaf of it", after: 4 * time.Minute, bundle: encode([]*x509.Certificate{fresh}), want: 2},
		"NotPutBackLate":   {reason: "one whose clock is behind does not argue", after: 6 * time.Minute, bundle: encode([]*x509.Certificate{fresh}), want: 1},
		"StaysToTheEnd":    {reason: "the overlap lasts", after: 10*time.Minute - time.Second, bundle: s.bundles[0], want: 2},
		"Goes":             {reason: "the overlap is over", after: 10 * time.Minute, bundle: s.bundles[0], want: 1},
		"GoesAgain":        {reason: "an older copy was applied", after: 15 * time.Minute, bundle: s.bundles[0], want: 1},
		"Emptied":          {reason: "it was emptied", after: time.Minute, bundle: nil, want: 2},
		"EmptiedLater":     {reason: "as long as one lacks the new one, the old one is not let go", after: 11 * time.Minute, bundle: nil, want: 2},
		"OnlyTheOldIsLeft": {reason: "an older copy was applied", after: time.Minute, bundle: encode([]*x509.Certificate{old}), want: 2},
		"Garbage":          {reason: "the API server could not use it", after: time.Minute, bundle: append(slices.Clone(s.bundles[0]), "else"...), want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := start.Add(tc.after)
			there := seen{data: s.data, bundles: [][]byte{s.bundles[0], tc.bundle}}
			there, do, deeds := settle(t, there, now, quick)
			assert.Empty(t, deeds, tc.reason)
			carried := carriedBy(t, inject(there, do).bundles[1])
			assert.Len(t, carried, tc.want, tc.reason)
			assert.True(t, holds(carried, fresh), tc.reason)
		})
	}
}

// While the new one cannot be put everywhere, the old one is not let go; once it has
// gone it is remembered for as long again, and then forgotten.
func TestTheOldGoesLast(t *testing.T) {
	t.Parallel()
	s := installed(t)
	old := readState(s.data).ca.cert
	start := noon.Add(20 * time.Hour)
	s, _, _ = settle(t, s, start, quick)

	late := start.Add(time.Hour)
	s, do, _ := settle(t, s, late, quick)
	s = inject(s, do)
	assert.True(t, carriedByAll(s.bundles, old), "nothing could be written for an hour: the overlap begins again")

	s, do, _ = settle(t, s, late.Add(quick.Overlap), quick)
	s = inject(s, do)
	assert.False(t, carriedByAll(s.bundles, old))
	assert.NotEmpty(t, s.data[leavingFile], "a replica that sees an older state must not take it for news")
	s, _, _ = settle(t, s, late.Add(2*quick.Overlap), quick)
	assert.Empty(t, s.data[leavingFile])
}

// What others put into a bundle stays for the overlap, and so does an authority that was
// to be trusted, too, and is no longer.
func TestOthersStayForTheOverlap(t *testing.T) {
	t.Parallel()
	foreign, gone := other(t, noon), other(t, noon.Add(-2*time.Hour))
	s := installed(t)
	s.bundles[1] = slices.Concat(foreign.CA.Cert, gone.CA.Cert)
	s, do, deeds := settle(t, s, noon, quick)
	assert.Equal(t, []deed{{theOthers, "1 that the hook configurations carry stay trusted for 10m0s"}}, deeds, "what has expired is none")
	s = inject(s, do)
	assert.Len(t, carriedBy(t, s.bundles[1]), 2)
	assert.Equal(t, noon.Add(quick.Overlap), do.again)
	s, do, _ = settle(t, s, noon.Add(quick.Overlap), quick)
	s = inject(s, do)
	assert.Len(t, carriedBy(t, s.bundles[1]), 1)

	s.also = foreign.CA.Cert
	later := noon.Add(25 * time.Minute)
	s, do, deeds = settle(t, s, later, quick)
	assert.Empty(t, deeds)
	s = inject(s, do)
	for _, bundle := range s.bundles {
		assert.Len(t, carriedBy(t, bundle), 2, "it is trusted, too")
	}
	s.also = nil
	s, do, deeds = settle(t, s, later, quick)
	assert.Len(t, deeds, 1)
	s = inject(s, do)
	assert.True(t, carriedByAll(s.bundles, first(foreign.CA.Cert)))
	s, do, _ = settle(t, s, later.Add(quick.Overlap), quick)
	assert.False(t, carriedByAll(inject(s, do).bundles, first(foreign.CA.Cert)))
}

// A time that a wrong clock wrote is not believed.
func TestALeavingTimeHasABound(t *testing.T) {
	t.Parallel()
	s := installed(t)
	foreign := first(other(t, noon).CA.Cert)
	s.data = apply(s.data, plan{data: map[string][]byte{leavingFile: encodeLeaving([]leaving{{cert: foreign, until: noon.Add(1000 * time.Hour)}})}})
	s, _, _ = settle(t, s, noon, quick)
	assert.Equal(t, noon.Add(quick.Overlap), decodeLeaving(s.data[leavingFile])[0].until)
}
