package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// answerWithin bounds what one page asks of the API server.
	answerWithin = 30 * time.Second
	// readWithin bounds how long a request may take to arrive.
	readWithin = 10 * time.Second
	// endWithin is how long pages that are under way may still take after Ctrl-C.
	endWithin = 2 * time.Second
)

// listen takes a port of the loopback; 0 is any.
func listen(ctx context.Context, port uint16) (net.Listener, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return listener, nil
}

// inTime bounds how long a handler may take. It belongs behind the guard, whose headers
// every answer has, this one too.
func inTime(handler http.Handler, within time.Duration) http.Handler {
	return http.TimeoutHandler(handler, within, "The API server has not answered in time.\n")
}

// serve serves until the context ends. ready is called when requests are answered.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, ready func() error) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readWithin, ReadTimeout: readWithin,
		MaxHeaderBytes: 64 << 10,
		// A browser that hangs up is no news, and what a handler failed at stands on its page.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if err := ready(); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-ended:
		return fmt.Errorf("cannot serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}
