package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A lister keeps the lists that it was asked to fill, each until it is released.
type lister struct {
	client.Reader

	filled  chan client.ObjectList
	release chan struct{}
}

func (l *lister) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	l.filled <- list
	<-l.release
	return nil
}

// Requests share live reads of the policies; each read has a list of its own, for the rules of the last are still in use.
func TestLivePoliciesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		live := &lister{filled: make(chan client.ObjectList, 9), release: make(chan struct{})}
		p := newPolicies(Readers{Live: live, Policies: NewRuleSet()})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, err := p.judgeLive(t.Context(), &policy.Target{}, "dev")
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		close(live.release)
		wg.Wait()
		require.Len(t, live.filled, 2, "one read under way, and one for all who came too late for it")
		first, second := <-live.filled, <-live.filled
		assert.NotSame(t, first, second)
	})
}

// Policies that cannot be read from the API server are a failure of ours, never a refusal.
func TestPoliciesUnknown(t *testing.T) {
	t.Parallel()
	instance, binding := stocked(t, db).world().created(byName), stocked(t, db, hasInstance("mydb", "db-small")).world().bindTo(toMydb).admitted()
	for broken, paths := range map[string]map[string][]byte{
		"list ProvisioningPolicyList": {ValidateInstances: instance, ValidateBindings: binding},
		"list BindingPolicyList":      {ValidateBindings: binding},
		"get Namespace /dev":          {ValidateInstances: instance, ValidateBindings: binding},
	} {
		for path, object := range paths {
			w := stocked(t, db, ruled("deny x type=mysql"), hasInstance("mydb", "db-small")).world()
			w.live.fail(func(read string) error {
				if read == broken {
					return assert.AnError
				}
				return nil
			})
			body, err := json.Marshal(w.review(object, nil))
			require.NoError(t, err)
			assert.Equal(t, http.StatusInternalServerError, w.post(path, body).Code, "%s: %s", path, broken)
		}
	}
}

// However many policies there are, a review that none of them concerns reads none of them and no namespace.
func TestPoliciesCostNothing(t *testing.T) {
	t.Parallel()
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d where=a:b", i, i)
	}
	w := stocked(t, "mysql/db: small*^", ruled(policies...), hasInstance("mydb", "db-small")).world()
	w.created(byName)
	w.bindTo(toMydb).admitted()
	for _, read := range w.live.taken() {
		assert.Equal(t, "get ServiceInstance dev/mydb", read)
	}
	for _, read := range w.cached.taken() {
		assert.NotContains(t, read, "Polic")
		assert.NotContains(t, read, "Namespace ")
	}
}

// BenchmarkPolicies is a review of an instance by name and one of a binding, both halves, with no policies and with 1,000.
func BenchmarkPolicies(b *testing.B) {
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d in=dev", i, i)
	}
	for _, many := range [][]string{nil, policies} {
		w := stocked(b, "mysql/db: small*^", bindDefaultsOf("db-small", `{"user":"reader"}`), hasInstance("mydb", "db-small"), ruled(many...)).world()
		for name, object := range map[string][]byte{"Instance": instanceOf(byName), "Binding": bindingOf(`{"instanceRef":{"name":"mydb"},"parameters":{"a":1}}`)} {
			b.Run(fmt.Sprintf("%s/Policies=%d", name, len(many)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.write(object, nil).admitted()
					w.cached.taken()
				}
			})
		}
	}
}
