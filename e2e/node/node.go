package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// rebindInterval is how often pods that no node would take are tried again.
const rebindInterval = 500 * time.Millisecond

// Options say what a Node runs.
type Options struct {
	// Dir is the folder that was given to ControlPlaneArgs; state of the pods is in it.
	Dir string
	// Binaries is the file to run for a container's image and command. An error is what
	// a kubelet would say of an image that cannot be pulled.
	Binaries func(image string, command []string) (path string, err error)
	// Names are those of the Node objects between which pods are spread, at most eight;
	// none given: node-a and node-b, each in a zone of its own.
	Names []string
}

// A Node runs the pods of a stack's cluster, all that are bound to one of its names. It
// binds those that are bound to none.
type Node struct {
	stack   *stack.Stack
	options Options
	client  kubernetes.Interface
	watches informers.SharedInformerFactory
	routes  *routes
	egress  *egress

	nodes corelisters.NodeLister
	podls corelisters.PodLister

	// life ends with Stop; until then the pods live.
	life context.Context //nolint:containedctx // the life of what runs in the background
	end  context.CancelFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	pods map[types.UID]*pod
	// bound is where pods were bound to, before the watch tells.
	bound  map[types.UID]string
	lastIP int
}

// Start starts the node of a stack whose control plane was started with
// ControlPlaneArgs. Call Stop before the stack's.
func Start(ctx context.Context, s *stack.Stack, options Options) (*Node, error) {
	if len(options.Names) == 0 {
		options.Names = []string{"node-a", "node-b"}
	}
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		return nil, fmt.Errorf("cannot make client of the node: %w", err)
	}
	n := &Node{stack: s, options: options, client: client, pods: map[types.UID]*pod{}, bound: map[types.UID]string{}}
	n.life, n.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the node: %w", err), n.Stop())
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	for i, name := range n.options.Names {
		if err := n.join(ctx, i, name); err != nil {
			return err
		}
	}
	n.watches = informers.NewSharedInformerFactory(n.client, 0)
	core, discovery := n.watches.Core().V1(), n.watches.Discovery().V1()
	n.nodes, n.podls = core.Nodes().Lister(), core.Pods().Lister()
	n.routes = &routes{services: core.Services().Lister(), slices: discovery.EndpointSlices().Lister(), pods: map[string]map[int32]int{}}
	// Each informer is asked for once, so that the factory knows it.
	core.Nodes().Informer()
	core.Services().Informer()
	discovery.EndpointSlices().Informer()
	pods := core.Pods().Informer()
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    n.seen,
		UpdateFunc: func(_, object any) { n.seen(object) }, //nolint:contextcheck // pods live as long as the node
		DeleteFunc: n.vanished,
	})
	if err != nil {
		return fmt.Errorf("cannot watch pods: %w", err)
	}
	n.watches.StartWithContext(n.life) //nolint:contextcheck // it does not end with ctx, but by Stop
	for kind, synced := range n.watches.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("cannot list %s: %w", kind, context.Cause(ctx))
		}
	}
	n.egress, err = newEgress(ctx, filepath.Join(n.options.Dir, egressSocket), n.routes.find)
	if err != nil {
		return err
	}
	n.wg.Go(n.bindAgain)
	return nil
}

// Stop ends the node as one that loses its power: its processes are killed, its pods
// stay as objects.
func (n *Node) Stop() error {
	n.end()
	if n.watches != nil {
		n.watches.Shutdown()
	}
	n.wg.Wait()
	if n.egress == nil {
		return nil
	}
	defer func() { n.egress = nil }()
	return n.egress.close()
}

// join makes the Node object of a name, ready and in a zone of its own.
func (n *Node) join(ctx context.Context, i int, name string) error {
	zone := "abcdefgh"[i : i+1]
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: "zone-" + zone, corev1.LabelOSStable: "linux",
	}}}
	nodes := n.client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot make node %q: %w", name, err)
	}
	// Admission taints a new node until its controller says that it is ready.
	if _, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("cannot remove taints of node %q: %w", name, err)
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Started","lastHeartbeatTime":null}],` +
		`"capacity":{"cpu":"8","memory":"32Gi","pods":"110"},"allocatable":{"cpu":"8","memory":"32Gi","pods":"110"}}}`
	if _, err := nodes.Patch(ctx, name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("cannot write status of node %q: %w", name, err)
	}
	return nil
}

// seen takes notice of a pod as it is now.
func (n *Node) seen(object any) {
	found, ok := object.(*corev1.Pod)
	if !ok || n.life.Err() != nil {
		return
	}
	if found.Spec.NodeName == "" {
		n.wg.Go(func() { n.bind(found) })
		return
	}
	if !n.isMine(found.Spec.NodeName) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.pods[found.UID]
	if !known {
		if found.Status.Phase == corev1.PodSucceeded || found.Status.Phase == corev1.PodFailed {
			if found.DeletionTimestamp != nil {
				n.wg.Go(func() { n.bury(found) })
			}
			return
		}
		p = n.newPod(found)
		n.pods[found.UID] = p
		n.wg.Go(func() { n.live(p) })
	}
	if found.DeletionTimestamp != nil {
		p.doom(found)
	}
}

func (n *Node) isMine(name string) bool {
	return slices.Contains(n.options.Names, name)
}

// vanished kills what runs of a pod that is no more.
func (n *Node) vanished(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	found, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, known := n.pods[found.UID]; known {
		p.kill()
	}
}

// live runs a pod to its end and cleans up after it.
func (n *Node) live(p *pod) {
	p.run()
	n.routes.remove(p.ports.ip)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pods, p.uid)
	if p.gone {
		// What is left is only the log, which is the stack's.
		_ = os.RemoveAll(p.dir)
	}
}

// address invents the next pod's address. No two pods have had the same one.
func (n *Node) address() string {
	n.lastIP++
	return fmt.Sprintf("10.244.%d.%d", n.lastIP/250, n.lastIP%250+1)
}
