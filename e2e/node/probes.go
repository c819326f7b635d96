package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A verdict is told that as many answers in a row as the probe's thresholds say were
// good, or bad; it says whether the probe is done.
type verdict func(good bool) (done bool)

// probe honours the container's probes until ctx ends. One that says that the container
// is to be started again tells sick how long it has to end.
func (c *container) probe(ctx context.Context, sick chan<- time.Duration) {
	started := c.spec.StartupProbe == nil
	if !started {
		c.watch(ctx, c.spec.StartupProbe, func(good bool) bool {
			started = good
			return true
		})
	}
	if !started {
		c.fail(ctx, c.spec.StartupProbe, sick)
		return
	}
	c.update(func(s *state) { s.started, s.ready = true, c.spec.ReadinessProbe == nil })
	var both sync.WaitGroup
	both.Go(func() {
		c.watch(ctx, c.spec.LivenessProbe, func(good bool) bool {
			if !good {
				c.fail(ctx, c.spec.LivenessProbe, sick)
			}
			return !good
		})
	})
	both.Go(func() {
		c.watch(ctx, c.spec.ReadinessProbe, func(good bool) bool {
			if good != c.now().ready {
				c.update(func(s *state) { s.ready = good })
			}
			return false
		})
	})
	both.Wait()
}

// fail has the container started again, unless the pod is to go anyway.
func (c *container) fail(ctx context.Context, probe *corev1.Probe, sick chan<- time.Duration) {
	if ctx.Err() != nil || c.pod.isDying() {
		return
	}
	grace := 30 * time.Second
	for _, given := range []*int64{c.pod.object.Spec.TerminationGracePeriodSeconds, probe.TerminationGracePeriodSeconds} {
		if given != nil {
			grace = time.Duration(*given) * time.Second
		}
	}
	sick <- grace
}

// watch probes, if there is a probe, until its verdict is done or ctx ends.
func (c *container) watch(ctx context.Context, probe *corev1.Probe, tell verdict) {
	if probe == nil || !pause(ctx, seconds(probe.InitialDelaySeconds, 0)) {
		return
	}
	good, bad := int32(0), int32(0)
	for {
		if err := c.ask(ctx, probe); err != nil {
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
func (c *container) ask(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(probe.TimeoutSeconds, 1))
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return c.askHTTP(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		address, err := c.at(probe.TCPSocket.Port)
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

// prober keeps no connection, does not care who answers and follows no redirect, as a
// kubelet's.
var prober = &http.Client{
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a probe that sends nothing
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c *container) askHTTP(ctx context.Context, get *corev1.HTTPGetAction) error {
	address, err := c.at(get.Port)
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
	response, err := prober.Do(request)
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

// at is where on this machine a port of the container is.
func (c *container) at(port intstr.IntOrString) (string, error) {
	if port.Type == intstr.String {
		return c.pod.local(port.StrVal)
	}
	return localPort(c.pod.ports, c.pod.ip, port.IntVal)
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
