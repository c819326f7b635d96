package certs

import (
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cluster is a Secret and two configurations, each with a version, and replicas that
// look at it at random moments, sometimes at an older state, and write what they decide.
type cluster struct {
	random  *rand.Rand
	now     time.Time
	policy  Policy
	history []moment
	// replicas lay out what they take.
	replicas []*Follower
}

// A moment is the state of all objects; each object has a version of its own.
type moment struct {
	at       time.Time
	data     map[string][]byte
	bundles  [][]byte
	versions [3]int
}

func (c *cluster) last() moment { return c.history[len(c.history)-1] }

// change adds a moment.
func (c *cluster) change(object int, edit func(*moment)) {
	m := c.last()
	m.at, m.bundles = c.now, slices.Clone(m.bundles)
	m.versions[object]++
	edit(&m)
	c.history = append(c.history, m)
}

// saw is what a replica sees: mostly the last moment, sometimes one before, of each
// object for itself.
func (c *cluster) saw() moment {
	pick := func() moment {
		i := len(c.history) - 1
		// A watch is behind by no more than this.
		for i > 0 && c.random.IntN(2) == 0 && c.history[i].at.After(c.now.Add(-behind)) {
			i--
		}
		return c.history[i]
	}
	s, a, b := pick(), pick(), pick()
	return moment{data: s.data, bundles: [][]byte{a.bundles[0], b.bundles[1]}, versions: [3]int{s.versions[0], a.versions[1], b.versions[2]}}
}

// look is what a round does.
func (c *cluster) look(t *testing.T, r *Follower) {
	t.Helper()
	saw := c.saw()
	do, err := next(seen{data: saw.data, bundles: saw.bundles}, c.now, c.policy)
	require.NoError(t, err)
	if len(do.data) > 0 {
		if saw.versions[0] == c.last().versions[0] {
			c.change(0, func(m *moment) { m.data = apply(m.data, do) })
		}
		return
	}
	offered := servingOf(Pair{Cert: saw.data[CertFile], Key: saw.data[KeyFile]}, saw.data[CAFile])
	r.settle(offered, saw.bundles, c.now)
	if r.served.takes(offered, saw.bundles, r.since, c.now, c.policy.Settle) {
		r.served = offered
	}
	for i, bundle := range saw.bundles {
		if amended := do.trust.amend(bundle); amended != nil && saw.versions[1+i] == c.last().versions[1+i] {
			c.change(1+i, func(m *moment) { m.bundles[i] = amended })
		}
	}
}

// damage does something to the Secret.
func (c *cluster) damage() {
	keys := []string{CAFile, caKeyFile, CertFile, KeyFile}
	gone := keys[c.random.IntN(len(keys))]
	all := c.random.IntN(4) == 0
	c.change(0, func(m *moment) {
		do := plan{data: map[string][]byte{gone: nil}}
		if all {
			do.data = map[string][]byte{CAFile: nil, caKeyFile: nil, CertFile: nil, KeyFile: nil, leavingFile: nil}
		}
		m.data = apply(m.data, do)
	})
}

// behind is how far a replica's watches may be behind.
const behind = 15 * time.Second

// lag is how far an API server may be behind: well within the time to settle.
const lag = 30 * time.Second

// trusted checks every replica against every state that an API server may know.
func (c *cluster) trusted() error {
	for i, r := range c.replicas {
		for _, m := range slices.Backward(c.history) {
			if !carriedByAll(m.bundles, r.served.ca) {
				return fmt.Errorf("replica %d is not trusted at %s by the bundles of %s", i, c.now, m.at)
			}
			if m.at.Before(c.now.Add(-lag)) {
				break // all before this is known to all
			}
		}
		if expired(r.served.leaf, c.now) {
			return fmt.Errorf("replica %d serves what has expired", i)
		}
	}
	return nil
}

// Whatever happens to the Secret, and however the replicas interleave: what each serves
// is trusted by every bundle that any API server may know.
func TestWhatIsServedIsAlwaysTrusted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			t.Parallel()
			s := installed(t)
			c := &cluster{random: rand.New(rand.NewPCG(seed, 0)), now: noon, policy: quick}
			c.history = []moment{{at: noon.Add(-time.Hour), data: s.data, bundles: s.bundles}}
			for range 3 {
				c.replicas = append(c.replicas, &Follower{served: servingOf(Pair{Cert: s.data[CertFile], Key: s.data[KeyFile]}, s.data[CAFile])})
			}
			authorities := map[string]bool{}
			for step := range 500 {
				c.now = c.now.Add(time.Duration(c.random.Int64N(int64(20 * time.Second))))
				if step%100 == 99 {
					c.damage()
				}
				// Each looks often enough: an informer sees to that.
				c.look(t, c.replicas[step%len(c.replicas)])
				require.NoError(t, c.trusted(), "step %d", step)
				authorities[c.replicas[0].served.ca.Subject.CommonName] = true
			}
			require.Greater(t, len(authorities), 1, "it has changed in between")
		})
	}
}

// Whatever is in a bundle, what is to be there is there in the end, and nothing else.
func FuzzAmend(f *testing.F) {
	issued, err := Issue("x", []string{host}, noon, time.Hour)
	require.NoError(f, err)
	f.Add([]byte(nil))
	f.Add(issued.CA.Cert)
	f.Add(append(slices.Clone(issued.CA.Cert), "garbage"...))
	f.Add(append(slices.Clone(issued.Leaf.Cert), issued.Leaf.Key...))
	own := first(issued.CA.Cert)
	f.Fuzz(func(t *testing.T, bundle []byte) {
		want := trust{must: certificatesIn(issued.CA.Cert), may: certificatesIn(issued.Leaf.Cert)}
		if amended := want.amend(bundle); amended != nil {
			bundle = amended
		}
		carried, clean := certificates(bundle)
		require.True(t, clean)
		require.True(t, holds(carried, own))
		require.Nil(t, want.amend(bundle))
	})
}

func certificatesIn(bundle []byte) []*x509.Certificate {
	found, _ := certificates(bundle)
	return found
}
