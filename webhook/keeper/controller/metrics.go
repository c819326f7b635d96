package controller

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers a collector, or finds that of another keeper in the same process.
func Register[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	if taken, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if known, ok := taken.ExistingCollector.(C); ok {
			return known, nil
		}
	}
	if err != nil {
		return collector, fmt.Errorf("cannot register metrics: %w", err)
	}
	return collector, nil
}

// Gauge is a sample of a gauge.
func Gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
