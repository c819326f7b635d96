package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// A flakyServer is an API server that may be away.
type flakyServer struct {
	mutex sync.Mutex
	away  error
	watch *watch.FakeWatcher
	asked int
	// back is when it first answered after it was away.
	back time.Time
}

func (s *flakyServer) leave(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.away, s.back, s.asked = err, time.Time{}, 0
	s.watch.Stop()
}

func (s *flakyServer) comes() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.away = nil
}

func (s *flakyServer) answer() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked++
	if s.away == nil && s.back.IsZero() {
		s.back = time.Now()
	}
	return s.away
}

func (s *flakyServer) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	if err := s.answer(); err != nil {
		return nil, err
	}
	return &corev1.NamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

func (s *flakyServer) watches(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind(), "", nil) // an older server
	}
	if err := s.answer(); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.watch = watch.NewFake()
	return s.watch, nil
}

// However long the API server was away, it is watched again two seconds after it is back. One that
// answers with an error is left alone for longer and longer.
func TestInformerIsBackSoon(t *testing.T) {
	t.Parallel()
	refused := &url.Error{Op: "Get", URL: "https://server", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	for name, tc := range map[string]struct {
		reason string
		away   error
		lasts  time.Duration
		most   int
		soon   bool
	}{
		"Short":  {reason: "a restart", away: refused, lasts: 20 * time.Second, most: 20, soon: true},
		"Long":   {reason: "a repair", away: refused, lasts: 10 * time.Minute, most: 600, soon: true},
		"Closed": {reason: "a proxy that goes", away: &url.Error{Op: "Get", URL: "https://server", Err: io.EOF}, lasts: 10 * time.Minute, most: 600, soon: true},
		"Rights": {reason: "a plugin that gives no credentials", away: &url.Error{Op: "Get", URL: "https://server", Err: errors.New("exec: no token")}, lasts: 10 * time.Minute, most: 40},
		"Busy":   {reason: "it has too much to do", away: apierrors.NewTooManyRequests("wait", 0), lasts: 10 * time.Minute, most: 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &flakyServer{}
				informer := NewInformer(&toolscache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watches}, &corev1.Namespace{}, 0, nil)
				// The usual one limits what it logs by the time of the machine, not of the test.
				require.NoError(t, informer.SetWatchErrorHandlerWithContext(func(context.Context, *toolscache.Reflector, error) {}))
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					informer.RunWithContext(ctx)
					close(ended)
				}()
				toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
				synctest.Wait()
				s.leave(tc.away)
				time.Sleep(tc.lasts)
				synctest.Wait()
				assert.LessOrEqual(t, s.asked, tc.most, tc.reason)
				s.comes()
				back := time.Now()
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if tc.soon {
					assert.Less(t, s.back.Sub(back), 2*time.Second, tc.reason)
				}
				assert.False(t, s.back.IsZero(), "it is back in any case")
				stop()
				<-ended
			})
		})
	}
}
