package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A verdict is told that as many answers in a row as the probe's thresholds say were
// good, or bad; it says whether the probe is done.
type verdict func(good bool) (done bool)

// A prober asks what the probes of a pod's containers ask.
type prober struct{ ports *ports }

// watch probes, if there is a probe, until its verdict is done or ctx ends.
func (p prober) watch(ctx context.Context, probe *corev1.Probe, tell verdict) {
	if probe == nil || !pause(ctx, seconds(probe.InitialDelaySeconds, 0)) {
		return
	}
	good, bad := int32(0), int32(0)
	for {
		if err := p.ask(ctx, probe); err != nil {
			good, bad = 0, bad+1
		} else {
			good, bad = good+1, 0
		}
		if ctx.Err() != nil {
			return
		}
		if good >= max(probe.SuccessThreshold, 1) && tell(true) {
			return
		}
		if bad >= max(probe.FailureThreshold, 1) && tell(false) {
			return
		}
		if !pause(ctx, seconds(probe.PeriodSeconds, 10)) {
			return
		}
	}
}

// ask asks once; what is not well is the error.
func (p prober) ask(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(probe.TimeoutSeconds, 1))
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return p.askHTTP(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		address, err := p.ports.at(probe.TCPSocket.Port)
		if err != nil {
			return err
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return errors.New("cannot ask: this node knows probes by HTTP and TCP only")
}

// probeClient keeps no connection, does not care who answers and follows no redirect, as a
// kubelet's.
var probeClient = &http.Client{
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a probe that sends nothing
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (p prober) askHTTP(ctx context.Context, get *corev1.HTTPGetAction) error {
	address, err := p.ports.at(get.Port)
	if err != nil {
		return err
	}
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+get.Path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("it answers %d", response.StatusCode)
	}
	return nil
}

// seconds are those of a field of the manifest, or what an absent one means.
func seconds(given, otherwise int32) time.Duration {
	return time.Duration(cmp.Or(given, otherwise)) * time.Second
}

// pause is false when ctx ended first.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
