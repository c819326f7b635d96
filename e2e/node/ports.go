package node

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// The ports of a pod are ports of this machine.
type ports struct {
	// ip is the pod's: invented and unlike any other's.
	ip string
	// byNumber are the local ports by container port, byName those that have a name.
	byNumber map[int32]int
	byName   map[string]int
}

func newPorts(ip string) ports {
	return ports{ip: ip, byNumber: map[int32]int{}, byName: map[string]int{}}
}

// choose finds a local port for each port of the containers, and keeps them: a container
// that starts again has the ports that it had.
func (p *ports) choose(ctx context.Context, containers []corev1.Container) error {
	if len(p.byNumber) > 0 {
		return nil
	}
	for i := range containers {
		for _, port := range containers[i].Ports {
			free, err := loopback.FreePorts(ctx, 1)
			if err != nil {
				return err
			}
			p.byNumber[port.ContainerPort], p.byName[port.Name] = free[0], free[0]
		}
	}
	return nil
}

// named is where on this machine a port of a name is, as host:port.
func (p *ports) named(name string) (string, error) {
	if local, known := p.byName[name]; known {
		return loopback.Address(local), nil
	}
	return "", fmt.Errorf("cannot find port %q of pod %s", name, p.ip)
}

// at is where on this machine a port of a name or number is.
func (p *ports) at(port intstr.IntOrString) (string, error) {
	if port.Type == intstr.String {
		return p.named(port.StrVal)
	}
	return localPort(p.byNumber, p.ip, port.IntVal)
}
