package keeper_test

import (
	"context"
	"strconv"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"k8s.io/utils/ptr"
)

// leases is an API server that holds one Lease and can be cut off from one of
// its clients.
type leases struct {
	coordinationclient.LeaseInterface

	mu    sync.Mutex
	lease *coordinationv1.Lease
	// cut is the identity whose writes fail, with every read.
	cut string
	// hung, until it is closed, has requests wait.
	hung chan struct{}
}

var lockKind = coordinationv1.Resource("leases")

// Leases is the whole API: the namespace does not matter here.
func (l *leases) Leases(string) coordinationclient.LeaseInterface { return l }

// arrive returns when a request is not hung, or not waited for, any more.
func (l *leases) arrive(ctx context.Context) error {
	l.mu.Lock()
	hung := l.hung
	l.mu.Unlock()
	if hung == nil {
		return nil
	}
	select {
	case <-hung:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *leases) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	if err := l.arrive(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut != "" {
		return nil, apierrors.NewServiceUnavailable("cut off")
	}
	if l.lease == nil {
		return nil, apierrors.NewNotFound(lockKind, name)
	}
	return l.lease.DeepCopy(), nil
}

func (l *leases) Create(_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease != nil {
		return nil, apierrors.NewAlreadyExists(lockKind, lease.Name)
	}
	return l.store(lease), nil
}

func (l *leases) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if err := l.arrive(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut != "" && ptr.Deref(lease.Spec.HolderIdentity, "") == l.cut {
		return nil, apierrors.NewServiceUnavailable("cut off")
	}
	if lease.ResourceVersion != l.lease.ResourceVersion {
		return nil, apierrors.NewConflict(lockKind, lease.Name, nil)
	}
	return l.store(lease), nil
}

func (l *leases) store(lease *coordinationv1.Lease) *coordinationv1.Lease {
	version := 0
	if l.lease != nil {
		version, _ = strconv.Atoi(l.lease.ResourceVersion)
	}
	l.lease = lease.DeepCopy()
	l.lease.ResourceVersion = strconv.Itoa(version + 1)
	return l.lease.DeepCopy()
}

// hang has all requests wait until the function that it returns is called.
func (l *leases) hang() (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hung := make(chan struct{})
	l.hung = hung
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.hung = nil
		close(hung)
	}
}

// cutOff has the requests of an identity fail; the empty one ends it.
func (l *leases) cutOff(identity string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = identity
}

// give hands the Lease to another, who renews it no more.
func (l *leases) give(identity string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.lease.DeepCopy()
	taken.Spec.HolderIdentity = &identity
	l.store(taken)
}

func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return ""
	}
	return ptr.Deref(l.lease.Spec.HolderIdentity, "")
}
