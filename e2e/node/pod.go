package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// retryInterval is how often what a pod still lacks, such as a Secret, is looked for
// again, and how often its volumes are refreshed.
const retryInterval = time.Second

// A pod is one whose containers this node runs.
type pod struct {
	node   *Node
	object *corev1.Pod
	uid    types.UID
	// dir holds its volumes.
	dir     string
	ports   ports
	sources sources
	volumes map[string]*volume
	token   *token
	// told are the conditions that were told last.
	told       map[corev1.PodConditionType]corev1.PodCondition
	containers []*container
	startTime  time.Time

	// dying is closed when the pod's deletion was requested, until deadline.
	dying    chan struct{}
	deadline time.Time
	doomOnce sync.Once
	// life ends when the pod is no more in the API, or the node stops.
	life context.Context //nolint:containedctx // the life of what runs in the background
	kill context.CancelFunc
	// gone: the pod is no more in the API either.
	gone bool
	// dirty has an item when the status is to be written.
	dirty chan struct{}
}

func (n *Node) newPod(object *corev1.Pod) *pod {
	p := &pod{
		node: n, object: object, uid: object.UID, ports: newPorts(n.address()), startTime: time.Now(),
		dir: filepath.Join(n.options.Dir, "pods", string(object.UID)), dying: make(chan struct{}),
		dirty: make(chan struct{}, 1), volumes: map[string]*volume{},
		told: map[corev1.PodConditionType]corev1.PodCondition{},
	}
	p.sources = sources{client: n.client, pod: object, ip: p.ports.ip}
	p.life, p.kill = context.WithCancel(n.life)
	for i := range object.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &object.Spec.Containers[i]))
	}
	return p
}

// doom is called when the pod's deletion was requested.
func (p *pod) doom(object *corev1.Pod) {
	p.doomOnce.Do(func() {
		grace := int64(0)
		if object.DeletionGracePeriodSeconds != nil {
			grace = *object.DeletionGracePeriodSeconds
		}
		p.deadline = time.Now().Add(time.Duration(grace) * time.Second)
		close(p.dying)
	})
}

func (p *pod) isDying() bool {
	select {
	case <-p.dying:
		return true
	default:
		return false
	}
}

// run brings the pod up, keeps its status and volumes, and buries it when it is to go.
func (p *pod) run() {
	defer p.kill()
	p.change()
	if !p.prepared() {
		p.bury()
		return
	}
	ended := make(chan struct{})
	var all sync.WaitGroup
	for _, c := range p.containers {
		all.Go(c.run)
	}
	go func() {
		defer close(ended)
		all.Wait()
	}()
	p.keep(ended)
	select {
	case <-p.dying:
	case <-p.life.Done():
	}
	p.bury()
}

// keep writes the status and refreshes the volumes until all containers ended.
func (p *pod) keep(ended <-chan struct{}) {
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			p.writeStatus()
			return
		case <-p.dirty:
			p.writeStatus()
		case <-ticker.C:
			// What cannot be read now is read a second later; the old content stays.
			_ = p.refresh(p.life)
		}
	}
}

// prepared makes all that the containers need, as soon as it is there; it is false when
// the pod is to go before.
func (p *pod) prepared() bool {
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for {
		err := p.prepare(p.life)
		if err == nil {
			return true
		}
		for _, c := range p.containers {
			c.wait("ContainerCreating", err.Error())
		}
		p.writeStatus()
		select {
		case <-p.dying:
			return false
		case <-p.life.Done():
			return false
		case <-ticker.C:
		}
	}
}

func (p *pod) prepare(ctx context.Context) error {
	if len(p.object.Spec.InitContainers) > 0 {
		return errors.New("cannot run init containers: this node has none")
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "root"), 0o700); err != nil {
		return fmt.Errorf("cannot make folder of the pod: %w", err)
	}
	if err := p.ports.choose(ctx, p.object.Spec.Containers); err != nil {
		return err
	}
	p.node.routes.add(p.ports.ip, p.ports.byNumber)
	return p.mount(ctx)
}

// bury takes the pod's object out of the API: nothing of it runs any more.
func (p *pod) bury() {
	if p.node.life.Err() != nil {
		return // the node lost its power: nothing is reported
	}
	if p.isDying() {
		p.node.bury(p.object)
	}
	p.gone = true
}

// bury removes a pod that was asked to go and of which nothing runs.
func (n *Node) bury(object *corev1.Pod) {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &object.UID}}
	ctx, cancel := context.WithTimeout(n.life, time.Minute)
	defer cancel()
	_ = wait.Eventually(ctx, func() (bool, error) {
		err := n.client.CoreV1().Pods(object.Namespace).Delete(ctx, object.Name, now)
		return err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err), err
	})
}

// change asks for the status to be written.
func (p *pod) change() {
	select {
	case p.dirty <- struct{}{}:
	default: // it is asked for already
	}
}

func (p *pod) signal(name string, signal syscall.Signal) error {
	for _, c := range p.containers {
		if c.spec.Name == name {
			return c.signal(signal)
		}
	}
	return fmt.Errorf("cannot find container %q of pod %q", name, p.object.Name)
}
