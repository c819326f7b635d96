package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
)

// Between two starts of a container that ends by itself there is a pause that doubles;
// a kubelet's ten seconds would only make a test wait.
const (
	firstPause = time.Second
	lastPause  = 8 * time.Second
)

// Reasons of a container's state, as a kubelet says them.
const (
	reasonCreating  = "ContainerCreating"
	reasonNoImage   = "ErrImagePull"
	reasonCrashing  = "CrashLoopBackOff"
	reasonCompleted = "Completed"
	reasonError     = "Error"
)

// A container is one of a pod; its process may be started more than once.
type container struct {
	pod  *pod
	spec *corev1.Container

	mu      sync.Mutex
	process *process.Process
	state   state
}

// A state is what the pod's status says of a container.
type state struct {
	waiting, message string
	runningSince     time.Time
	running          bool
	started, ready   bool
	restarts         int32
	// last is how the last run ended; over: there is no further one.
	last *corev1.ContainerStateTerminated
	over bool
}

func newContainer(p *pod, spec *corev1.Container) *container {
	return &container{pod: p, spec: spec, state: state{waiting: reasonCreating}}
}

// update changes the state and has it told.
func (c *container) update(change func(*state)) {
	c.mu.Lock()
	change(&c.state)
	c.mu.Unlock()
	c.pod.change()
}

func (c *container) now() state {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *container) wait(reason, message string) {
	c.update(func(s *state) { s.running, s.waiting, s.message = false, reason, message })
}

func (c *container) signal(signal syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return fmt.Errorf("cannot signal container %q: it does not run", c.spec.Name)
	}
	return c.process.Signal(signal)
}

// run starts the container, and again after it ended if the pod's policy says so, until
// the pod is to go.
func (c *container) run() {
	defer c.update(func(s *state) { s.over = true })
	pause := firstPause
	for {
		code, err := c.runOnce()
		if err != nil {
			c.wait(reasonNoImage, err.Error())
		}
		if c.pod.isDying() || c.pod.life.Err() != nil || (err == nil && !c.again(code)) {
			return
		}
		if err == nil {
			c.update(func(s *state) { s.waiting, s.restarts = reasonCrashing, s.restarts+1 })
		}
		select {
		case <-time.After(pause):
		case <-c.pod.dying:
			return
		case <-c.pod.life.Done():
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// again says whether a run that ended with the code is followed by another.
func (c *container) again(code int) bool {
	policy := c.pod.object.Spec.RestartPolicy
	return policy == corev1.RestartPolicyAlways || (policy == corev1.RestartPolicyOnFailure && code != 0)
}

// runOnce runs the process to its end and returns its exit code.
func (c *container) runOnce() (int, error) {
	command, err := c.command(c.pod.life)
	if err != nil {
		return 0, err
	}
	running, err := c.pod.node.stack.Launch(c.pod.life, command)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	c.mu.Lock()
	c.process = running
	c.mu.Unlock()
	c.update(func(s *state) { s.running, s.runningSince, s.waiting, s.message = true, began, "", "" })

	probing, stopProbing := context.WithCancel(c.pod.life)
	var probes sync.WaitGroup
	sick := make(chan time.Duration, 1)
	probes.Go(func() { c.probe(probing, sick) })
	c.attend(running, sick)
	stopProbing()
	probes.Wait()
	return c.ended(running, began), running.Forget()
}

// probe honours the container's probes until ctx ends. One that says that the container
// is to be started again tells sick how long it has to end.
func (c *container) probe(ctx context.Context, sick chan<- time.Duration) {
	probes := prober{&c.pod.ports}
	started := c.spec.StartupProbe == nil
	if !started {
		probes.watch(ctx, c.spec.StartupProbe, func(good bool) bool {
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
		probes.watch(ctx, c.spec.LivenessProbe, func(good bool) bool {
			if !good {
				c.fail(ctx, c.spec.LivenessProbe, sick)
			}
			return !good
		})
	})
	both.Go(func() {
		probes.watch(ctx, c.spec.ReadinessProbe, func(good bool) bool {
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

// attend returns when the process ended, and ends it when the pod is to go or a probe
// says that it is sick.
func (c *container) attend(running *process.Process, sick <-chan time.Duration) {
	select {
	case <-running.Ended():
	case grace := <-sick:
		c.terminate(running, time.Now().Add(grace))
	case <-c.pod.dying:
		c.preStop(running)
		c.terminate(running, c.pod.deadline)
	case <-c.pod.life.Done():
		end(running, syscall.SIGKILL)
	}
}

// preStop is the manifest's pause before SIGTERM: time for all to learn that the pod is
// to go.
func (c *container) preStop(running *process.Process) {
	l := c.spec.Lifecycle
	if l == nil || l.PreStop == nil || l.PreStop.Sleep == nil {
		return
	}
	pause := min(time.Duration(l.PreStop.Sleep.Seconds)*time.Second, time.Until(c.pod.deadline))
	select {
	case <-time.After(pause):
	case <-running.Ended():
	case <-c.pod.life.Done():
	}
}

// terminate asks the process to end, and kills it at the deadline.
func (c *container) terminate(running *process.Process, deadline time.Time) {
	_ = running.Signal(syscall.SIGTERM) // one that ended needs no signal
	select {
	case <-running.Ended():
		return
	case <-time.After(time.Until(deadline)):
	case <-c.pod.life.Done():
	}
	end(running, syscall.SIGKILL)
}

func end(running *process.Process, signal syscall.Signal) {
	_ = running.Signal(signal) // as above
	<-running.Ended()
}

// ended records how the process ended.
func (c *container) ended(running *process.Process, began time.Time) int {
	code, reason := running.ExitCode(), reasonCompleted
	if code < 0 {
		code = 137 // what a kubelet says of a killed one
	}
	if code != 0 {
		reason = reasonError
	}
	c.mu.Lock()
	c.process = nil
	c.mu.Unlock()
	c.update(func(s *state) {
		s.running, s.started, s.ready = false, false, false
		s.last = terminated(code, reason, began, time.Now())
	})
	return code
}

// command is what to start for the container.
func (c *container) command(ctx context.Context) (process.Command, error) {
	if len(c.spec.Command) == 0 {
		return process.Command{}, errors.New("cannot run a container without a command: this node has no images to read one from")
	}
	binary, err := c.pod.node.options.Binaries(c.spec.Image, c.spec.Command)
	if err != nil {
		return process.Command{}, err
	}
	env, err := c.environment(ctx)
	if err != nil {
		return process.Command{}, err
	}
	return process.Command{
		Name:   logName(c.pod.object.Namespace, c.pod.object.Name, c.spec.Name),
		Binary: binary, Args: c.arguments(env), Env: c.processEnv(env), Dir: c.pod.path("root"),
	}, nil
}
