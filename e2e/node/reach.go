package node

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// Log is the file with the output of a pod's container, all its runs.
func (n *Node) Log(namespace, pod, container string) string {
	return filepath.Join(n.options.Dir, "..", "logs", logName(namespace, pod, container)+".log")
}

func logName(namespace, pod, container string) string {
	return namespace + "." + pod + "." + container
}

// Signal sends a signal to the process of a pod's container, as something that goes
// wrong on a node might.
func (n *Node) Signal(namespace, pod, container string, signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.object.Namespace == namespace && p.object.Name == pod {
			return p.signal(container, signal)
		}
	}
	return fmt.Errorf("cannot find pod %q: none of that name runs", namespace+"/"+pod)
}

// Local is where on this machine a named port of a pod's container is, as host:port.
func (n *Node) Local(namespace, pod, port string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.object.Namespace == namespace && p.object.Name == pod {
			return p.ports.named(port)
		}
	}
	return "", fmt.Errorf("cannot find pod %q: none of that name runs", namespace+"/"+pod)
}
