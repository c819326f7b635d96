//go:build before1.34

package main

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	snapshots "go.etcd.io/etcd/client/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// tuneEtcd does nothing. In etcd 3.5 the size of log files is in package wal, which go mod tidy does not find
// in etcd 3.6: it reads files of any build tag.
func tuneEtcd(*embed.Config) {}

// fetchSnapshot writes the state of a running etcd to a file.
func fetchSnapshot(ctx context.Context, config clientv3.Config, file string) error {
	return snapshots.Save(ctx, zap.NewNop(), config, file)
}
