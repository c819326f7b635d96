package policies

import (
	"context"
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
		p := New(nil, live, NewRuleSet())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, err := p.refusalLive(t.Context(), &policy.Target{}, "dev")
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
