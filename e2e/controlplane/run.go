package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
	"k8s.io/klog/v2"
)

// run does what the options ask until ctx ends or a part fails.
func (o options) run(ctx context.Context, c console) (err error) {
	if o.snapshot != "" {
		return o.saveSnapshot(ctx)
	}
	home, err := folder.Open(o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	logs, err := openLogs(home.Path(logFile), o.verbosity)
	if err != nil {
		return err
	}
	if err := c.turnTo(logs); err != nil {
		return err
	}
	// The log stays open: goroutines of the API server that outlive its end still write to it.
	s := &session{options: o, home: home, logs: logs}
	klog.OsExit = func(int) { s.giveUp(c) }
	defer s.stop()
	line, err := s.start(ctx)
	if ctx.Err() != nil {
		return nil // asked to end before it was ready: that is no failure
	}
	if err != nil {
		return err
	}
	if err := home.MarkReady(line); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.out, line); err != nil {
		return fmt.Errorf("cannot say that it is ready: %w", err)
	}
	return s.wait(ctx)
}

// A session is the parts that run, in the order in which they were started.
type session struct {
	options

	home      *folder.Folder
	logs      *logs
	etcd      *etcd
	apiServer *apiServer
	control   *controllers
	stopping  atomic.Bool
}

// start starts the parts and returns the ready line.
func (s *session) start(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("not ready after %s: read %q, or give a longer -timeout", s.timeout, s.home.Path(logFile)))
	defer cancel()
	etcdURL := s.etcdURL
	if s.runsEtcd() {
		if err := s.startEtcd(ctx); err != nil {
			return "", err
		}
		etcdURL = s.etcd.url
	}
	if !s.runsAPIServer() {
		return "ready " + etcdURL, nil
	}
	if err := s.startAPIServer(ctx, etcdURL); err != nil {
		return "", err
	}
	return fmt.Sprintf("ready %s kubeconfig=%s", s.apiServer.access.Server, s.home.KubeconfigPath()), nil
}

func (s *session) startEtcd(ctx context.Context) error {
	port, err := s.home.Port(folder.Etcd, s.etcdPort)
	if err != nil {
		return err
	}
	peerPort, err := s.home.Port(folder.EtcdPeer, 0)
	if err != nil {
		return err
	}
	place := etcdPlace{dir: s.home.Path("etcd"), client: loopback("http", port), peer: loopback("http", peerPort)}
	if s.restore != "" {
		if err := restoreSnapshot(s.restore, place, s.logs); err != nil {
			return err
		}
	}
	s.etcd, err = startEtcd(ctx, place, s.logs)
	return err
}

func (s *session) startAPIServer(ctx context.Context, etcdURL string) (err error) {
	if err := reachEtcd(ctx, etcdURL); err != nil {
		return err
	}
	s.apiServer, err = s.newAPIServer(etcdURL)
	if err != nil {
		return err
	}
	if err := s.home.WriteKubeconfig(s.apiServer.access); err != nil {
		return err
	}
	if err := s.apiServer.waitReady(ctx); err != nil {
		return err
	}
	s.control, err = startControllers(s.apiServer.clientConfig(), s.workloads)
	if err != nil {
		return err
	}
	return s.control.waitSynced(ctx)
}

// wait returns when ctx ends, or with the error of the part that ended first.
func (s *session) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.etcd.failed():
		return fmt.Errorf("etcd ended: %w", err)
	case <-s.apiServer.ended():
		return fmt.Errorf("the API server ended: %w", s.apiServer.err)
	}
}

// giveUp is called instead of os.Exit by a goroutine of kube-apiserver: one of its start-up hooks failed, and
// why is in the log only. Hooks that are cut short by our own end fail too; only their goroutine ends then.
func (s *session) giveUp(c console) {
	if s.stopping.Load() {
		runtime.Goexit()
	}
	c.fail(errors.Join(fmt.Errorf("kube-apiserver gave up: read the end of %q", s.home.Path(logFile)), s.home.Close()))
}

// stopTimeout bounds the graceful end of a part: a request that never ends must not hold the process.
const stopTimeout = 10 * time.Second

// stop ends the parts that were started. The controllers end while the API server still answers: without it
// they would retry, and wait, until their time is up. etcd ends last, because the API server still writes
// while it ends.
func (s *session) stop() {
	s.stopping.Store(true)
	s.control.stop()
	s.apiServer.stop()
	s.etcd.stop()
}

// await returns when done is closed, or after stopTimeout.
func await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
}
