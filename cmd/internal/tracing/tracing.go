// Package tracing sends traces to an OpenTelemetry collector, if one is
// configured: spans of requests that the API server has sampled, or of a share
// of all.
package tracing

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	componenttracing "k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

// million is what a sampling rate is of.
const million = 1_000_000

// flushTime bounds the time to send the last spans at the end.
const flushTime = 5 * time.Second

// Options are where traces go, and how many.
type Options struct {
	// Endpoint is host:port of a collector that takes OTLP by gRPC; empty means that
	// nothing is traced.
	Endpoint string
	// RatePerMillion is how many requests of a million are sampled of those that come
	// without a sampled parent; one with a sampled parent always is.
	RatePerMillion int32
}

// Bind adds the options to flags.
func (o *Options) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.Endpoint, "tracing-endpoint", o.Endpoint,
		"host:port of an OpenTelemetry collector that takes OTLP by gRPC, in the cluster's own network: nothing is encrypted; empty means no traces")
	flags.Int32Var(&o.RatePerMillion, "tracing-sampling-rate-per-million", o.RatePerMillion,
		"how many requests of a million are traced, of those that the API server does not trace already")
}

// Validate says which flag has an invalid value, and why.
func (o *Options) Validate() error {
	if o.RatePerMillion < 0 || o.RatePerMillion > million {
		return fmt.Errorf("--tracing-sampling-rate-per-million is %d; allowed are 0 to %d", o.RatePerMillion, million)
	}
	if o.RatePerMillion > 0 && o.Endpoint == "" {
		return fmt.Errorf("--tracing-sampling-rate-per-million is %d, and --tracing-endpoint is empty; name the collector", o.RatePerMillion)
	}
	return nil
}

// Start sends every span of this process to the collector, under the name of
// the service. Call the returned function at the end: it sends the rest.
func (o *Options) Start(ctx context.Context, service string) (stop func(), err error) {
	if o.Endpoint == "" {
		return func() {}, nil
	}
	provider, err := componenttracing.NewProvider(ctx,
		&tracingapi.TracingConfiguration{Endpoint: &o.Endpoint, SamplingRatePerMillion: &o.RatePerMillion}, nil,
		[]resource.Option{resource.WithAttributes(semconv.ServiceName(service), semconv.ServiceVersion(version.String()))})
	if err != nil {
		return nil, fmt.Errorf("cannot send traces to %q (--tracing-endpoint): %w", o.Endpoint, err)
	}
	otel.SetTracerProvider(provider)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { ctrl.Log.WithName("tracing").Info("traces were not sent", "why", err.Error()) }))
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		// The process ends; an unreachable collector is not worth an error.
		_ = provider.Shutdown(ctx)
	}, nil
}
