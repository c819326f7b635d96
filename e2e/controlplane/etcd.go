package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// memberName is etcd's name for itself; a restored snapshot must bear the same.
const memberName = "default"

// Heartbeat and election of a cluster of one, in milliseconds: there is no
// other candidate, so a start need not wait.
const (
	tickMs     = 20
	electionMs = 200
)

// An etcdPlace is where an etcd keeps its data and listens.
type etcdPlace struct {
	dir          string
	client, peer url.URL
}

func loopback(scheme string, port int) url.URL {
	return url.URL{Scheme: scheme, Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
}

// An etcd is a running etcd server; a nil one is a part that does not run.
type etcd struct {
	server *embed.Etcd
	url    string
}

// startEtcd returns when etcd serves.
func startEtcd(ctx context.Context, place etcdPlace, l *logs) (*etcd, error) {
	server, err := embed.StartEtcd(etcdConfig(place, l))
	if err != nil {
		return nil, fmt.Errorf("cannot start etcd on %s in %q: %w", place.client.Host, place.dir, err)
	}
	e := &etcd{server: server, url: place.client.String()}
	select {
	case <-server.Server.ReadyNotify():
		return e, nil
	case err = <-server.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	e.stop()
	return nil, fmt.Errorf("cannot start etcd on %s in %q: %w", place.client.Host, place.dir, err)
}

func etcdConfig(place etcdPlace, l *logs) *embed.Config {
	config := embed.NewConfig()
	config.Name = memberName
	config.Dir = place.dir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{place.client}, []url.URL{place.client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{place.peer}, []url.URL{place.peer}
	config.InitialCluster = config.InitialClusterFromName(memberName)
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(l.zap())
	tuneEtcd(config)
	config.TickMs, config.ElectionMs = tickMs, electionMs
	// What is written survives a killed process either way; only a machine that crashes would notice.
	config.UnsafeNoFsync = true
	return config
}

// failed gives the error that ends etcd by itself.
func (e *etcd) failed() <-chan error {
	if e == nil {
		return nil
	}
	return e.server.Err()
}

func (e *etcd) stop() {
	if e != nil {
		e.server.Close()
	}
}

// reachTimeout bounds how long an etcd that does not answer is waited for.
const reachTimeout = 5 * time.Second

// reachEtcd fails with a clear error where kube-apiserver would try for a minute and then end the process.
func reachEtcd(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/version", http.NoBody)
	if err != nil {
		return fmt.Errorf("cannot reach etcd at %s: %w", address, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("cannot reach etcd: %w: start it with -only=etcd, or give its address by -etcd-url", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot reach etcd at %s: %w", address, errors.New(response.Status))
	}
	return nil
}
