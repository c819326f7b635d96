package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// keptCalls bounds what a broker that runs for days remembers of its calls.
const keptCalls = 1000

// Paths of a broker beside the Open Service Broker API: what it has, and how it is to
// go wrong.
const (
	booksPath  = "/books"
	faultsPath = "/faults"
)

// newBroker is one of the demo's brokers as a process.
func newBroker() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "broker NAME",
		Short:  "Be one of the demo's brokers, with a password of its own",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(cmd *cobra.Command, args []string) error { return serveBroker(cmd.Context(), dir, args[0]) },
	}
	bindDir(cmd, &dir)
	return cmd
}

// serveBroker serves a broker on a free port of the loopback until ctx ends. Where it
// is and how it is called is in its entry in dir.
func serveBroker(ctx context.Context, dir, name string) (err error) {
	e := entry{Name: name, Username: "platform", Password: rand.Text()}
	options := osbtest.Demo(name)
	options.Username, options.Password = e.Username, e.Password
	// A playground's controller may be killed and started again by its user.
	options.KeepCalls, options.Crashes = keptCalls, true
	broker := osbtest.New(options)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	e.URL = "http://" + listener.Addr().String()
	server := &http.Server{Handler: handler(broker, options.Catalog, &e), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		broker.Close()
		if closeErr := errors.Join(server.Close(), <-served); !errors.Is(closeErr, http.ErrServerClosed) {
			err = errors.Join(err, closeErr)
		}
	}()
	if err := e.write(entryFile(dir, name)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// handler is the broker's API with what a person may ask beside it.
func handler(broker *osbtest.Broker, catalog []byte, e *entry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v2/", broker)
	mux.HandleFunc("GET "+booksPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A client that hung up does not want to be told.
		_ = json.NewEncoder(w).Encode(booksOf(broker, catalog))
	})
	mux.HandleFunc("POST "+faultsPath, func(w http.ResponseWriter, r *http.Request) {
		var asked fault
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked.befall(broker)
	})
	return e.guarded(mux)
}

// guarded lets only those in who know the entry. The broker asks for the same itself.
func (e *entry) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		username, password, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(username+":"+password), []byte(e.Username+":"+e.Password)) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
