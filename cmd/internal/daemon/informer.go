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
	// reconnectPause is the shortest time between two tries to reach the API server for one kind of
	// objects; the longest is twice as long.
	reconnectPause = time.Second
	// reconnectTime is how long it is tried for before the reflector is told, which logs it. It is
	// longer than what a reflector forgets its own pauses in, so that these stay short.
	reconnectTime = 150 * time.Second
)

// NewInformer makes an informer that lists and watches again soon after the API server was away.
// The pauses of client-go's reflectors double up to a minute, and informers have no option for
// that: so a reflector is not told of a request that nothing answered, but waits for the next one.
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

// reach makes a request until something answers it. What was answered, an error too, is the
// reflector's matter: an API server that has too much to do is to be left alone for longer.
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

// unanswered says that a request came to nothing on its way. What is wrong with credentials or
// certificates is not: it takes others to mend it, and an answer may be costly to ask for.
func unanswered(err error) bool {
	return errors.As(err, new(*net.OpError)) || utilnet.IsTimeout(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}
