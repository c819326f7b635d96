package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// Names of the plans of a fair broker: the second is never provisioned.
const (
	goodPlan    = "good"
	failingPlan = "failing"
)

// fairBrokers are brokers of one process, told apart by the path of their URL: those below hang list their catalog and
// answer nothing else, those below serve answer at once, for the failing plan with 503.
type fairBrokers struct{ url string }

func (f *fairBrokers) hanging(n int) string       { return fmt.Sprintf("%s/hang/%d", f.url, n) }
func (f *fairBrokers) serving(name string) string { return f.url + "/serve/" + name }
func serviceOf(broker string) string              { return "service-" + strings.ReplaceAll(broker, "/", "-") }
func hangingService(n int) string                 { return serviceOf(fmt.Sprintf("hang/%d", n)) }
func servingService(name string) string           { return serviceOf("serve/" + name) }
func planIDOf(service, plan string) string        { return service + "-" + plan }

// startFairBrokers serves until ctx ends.
func startFairBrokers(ctx context.Context) (*fairBrokers, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback.Address(0))
	if err != nil {
		return nil, fmt.Errorf("cannot serve brokers: %w", err)
	}
	f := &fairBrokers{url: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return f, nil
}

// ServeHTTP answers a call to one of the brokers.
func (f *fairBrokers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	broker, call, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/v2/")
	service := serviceOf(broker)
	switch {
	case call == "catalog":
		answer(w, http.StatusOK, map[string]any{"services": []any{map[string]any{
			"id": service, "name": service, "description": "one", "bindable": true,
			"plans": []any{plan(service, goodPlan), plan(service, failingPlan)},
		}}})
	case strings.HasPrefix(broker, "hang/"):
		<-r.Context().Done()
	case r.Method == http.MethodPut && asksFor(r) == planIDOf(service, failingPlan):
		answer(w, http.StatusServiceUnavailable, map[string]any{})
	case r.Method == http.MethodPut:
		answer(w, http.StatusCreated, map[string]any{})
	default:
		answer(w, http.StatusOK, map[string]any{})
	}
}

func plan(service, name string) map[string]any {
	return map[string]any{"id": planIDOf(service, name), "name": name, "description": "one"}
}

func asksFor(r *http.Request) string {
	var body struct {
		PlanID string `json:"plan_id"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	return body.PlanID
}

func answer(w http.ResponseWriter, code int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // of strings; who hung up is not told
}
