package controller

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// FieldOwner is the field manager of what the keeper writes.
const FieldOwner = client.FieldOwner(v1beta1.FieldOwnerKeeper)

// An Environment holds the dependencies of a controller.
type Environment struct {
	// Client reads the cache and writes at the API server, and Live reads from it.
	Client client.Client
	Live   client.Reader
	// Recorder takes events.
	Recorder events.EventRecorder
	Log      logr.Logger
	Clock    clock.WithTicker
}
