//go:build !before1.34

package main

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	snapshots "go.etcd.io/etcd/client/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// walSegmentBytes is what etcd preallocates per log file; its own 64 MB would be most of what a test writes.
const walSegmentBytes = 4 << 20

// tuneEtcd sets what etcd 3.6 and later have under another name than etcd 3.5.
func tuneEtcd(config *embed.Config) {
	wal.SegmentSizeBytes = walSegmentBytes
	// Unset when embedded, and then every request is one to warn of.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
}

// fetchSnapshot writes the state of a running etcd to a file.
func fetchSnapshot(ctx context.Context, config clientv3.Config, file string) error {
	_, err := snapshots.SaveWithVersion(ctx, zap.NewNop(), config, file)
	return err
}
