package stack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// loopback is where everything listens: a stack is not reachable from outside.
const loopback = "127.0.0.1"

// Ports are taken from below those that the system gives to outgoing
// connections: of many stacks at once, one's connection would sooner or later
// sit on the port that another has found free and not yet taken.
const (
	lowestPort  = 12000
	portCount   = 20000
	triesPerOne = 100
)

// freePorts finds n loopback ports. All are held until all are found, so that
// they differ.
func freePorts(ctx context.Context, n int) (ports []int, err error) {
	for range n {
		listener, listenErr := listenSomewhere(ctx)
		if listenErr != nil {
			return nil, fmt.Errorf("cannot find a free port: %w", listenErr)
		}
		defer func() { err = errors.Join(err, listener.Close()) }()
		address, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return nil, fmt.Errorf("cannot find a free port: %s is no TCP address", listener.Addr())
		}
		ports = append(ports, address.Port)
	}
	return ports, nil
}

func listenSomewhere(ctx context.Context) (listener net.Listener, err error) {
	for range triesPerOne {
		port := lowestPort + rand.IntN(portCount) //nolint:gosec // any number will do
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", local(port)); err == nil {
			return listener, nil
		}
	}
	return nil, err
}

// local is the host:port of a port.
func local(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
