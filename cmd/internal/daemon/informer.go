package daemon

import (
	"context"
	"errors"
	"net"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// reconnectPause is the shortest time between two attempts to reach the API
	// server for one kind of objects; the longest is twice as long.
	reconnectPause = time.Second
	// reconnectTime is how long to retry before the reflector gets the error,
	// which logs it. It is longer than the time after which a reflector resets
	// its own backoff, so that this stays short.
	reconnectTime = 150 * time.Second
)

// NewInformer creates an informer that lists and watches again soon after an
// outage of the API server. The backoff of client-go's reflectors doubles up to
// a minute, and informers have no option for that: so a reflector does not get
// the error of a request without a response, which is retried here.
func NewInformer(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	asked := toolscache.ToListerWatcherWithContext(lw)
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return reach(ctx, func() (runtime.Object, error) { return asked.ListWithContext(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return reach(ctx, func() (watch.Interface, error) { return asked.WatchWithContext(ctx, options) })
		},
	}, o, resync, indexers)
}

// reach retries a request until it gets a response. Responses, including
// errors, go to the reflector, because an overloaded API server needs a longer
// backoff.
func reach[T any](ctx context.Context, request func() (T, error)) (T, error) {
	for began, tries := time.Now(), 1; ; tries++ {
		answer, err := request()
		if !unanswered(err) || time.Since(began) > reconnectTime {
			return answer, err
		}
		if tries == 1 {
			log.FromContext(ctx).Info("the API server cannot be reached; it is tried again", "why", err.Error())
		}
		select {
		case <-time.After(wait.Jitter(reconnectPause, 1)):
		case <-ctx.Done():
			return answer, err
		}
	}
}

// unanswered says whether a request failed in the network. Errors of
// credentials or certificates do not count: they do not pass by themselves, and
// retries may be costly.
func unanswered(err error) bool {
	return errors.As(err, new(*net.OpError)) || utilnet.IsTimeout(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}
