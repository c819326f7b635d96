package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
)

// revisionBump lifts a restored etcd's revisions above all that a client can have seen, as etcd advises for
// Kubernetes: a watch that was open before ends and lists again, instead of missing what happens next.
const revisionBump = 1_000_000_000

// saveSnapshot saves the running etcd's state to a file.
func (o options) saveSnapshot(ctx context.Context) error {
	logGRPCErrors(io.Discard)
	address, err := o.runningEtcd()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	if err := reachEtcd(ctx, address); err != nil {
		return err
	}
	config := clientv3.Config{Endpoints: []string{address}, DialTimeout: reachTimeout}
	if err := fetchSnapshot(ctx, config, o.snapshot); err != nil {
		return fmt.Errorf("cannot save snapshot %q: %w", o.snapshot, err)
	}
	return nil
}

// runningEtcd is the address of the etcd to save.
func (o options) runningEtcd() (string, error) {
	if o.etcdURL != "" {
		return o.etcdURL, nil
	}
	port, err := folder.RememberedPort(o.dir, folder.Etcd)
	if err != nil {
		return "", err
	}
	if port == 0 {
		return "", fmt.Errorf("cannot find the etcd of folder %q: none was ever started in it", o.dir)
	}
	address := loopback("http", port)
	return address.String(), nil
}

// restoreSnapshot fills the place's data folder, which must not exist, from a file that saveSnapshot wrote.
func restoreSnapshot(file string, place etcdPlace, l *logs) error {
	if _, err := os.Stat(place.dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot restore snapshot %q: %q holds data already: choose an empty -dir, or start without -restore", file, place.dir)
	}
	// Restored beside its place and moved there: a restore that was killed half-way is never started from.
	half := place.dir + ".restoring"
	if err := os.RemoveAll(half); err != nil {
		return fmt.Errorf("cannot remove half a restore %q: %w", half, err)
	}
	err := snapshot.NewV3(l.zap()).Restore(snapshot.RestoreConfig{
		SnapshotPath:   file,
		Name:           memberName,
		OutputDataDir:  half,
		PeerURLs:       []string{place.peer.String()},
		InitialCluster: memberName + "=" + place.peer.String(),
		RevisionBump:   revisionBump,
		MarkCompacted:  true,
	})
	if err != nil {
		return fmt.Errorf("cannot restore snapshot %q: %w", file, err)
	}
	if err := os.Rename(half, place.dir); err != nil {
		return fmt.Errorf("cannot restore snapshot %q: %w", file, err)
	}
	return nil
}
