package review

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// warnTime is how long a write waits for what it is only warned of.
const warnTime = time.Second

// WarnInTime runs what only gives warnings. What cannot be read in time is left out: no write
// fails for it.
func WarnInTime(ctx context.Context, warn func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, warnTime)
	defer cancel()
	if err := warn(ctx); err != nil {
		log.FromContext(ctx).V(1).Info("not all warnings could be given", "cause", err.Error())
	}
}
