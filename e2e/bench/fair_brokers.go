package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Names of the plans of a fair broker: only the first is ever provisioned.
const (
	goodPlan    = "good"
	failingPlan = "failing"
	brokenPlan  = "broken"
)

// fairBrokers are brokers of one process, told apart by the path of their URL: those below hang list their catalog and
// answer nothing else, those below serve answer at once, for the failing plan with 503 and for the broken one with 500,
// and those below large do so with a catalog of as many services as the path says, of ten plans each.
type fairBrokers struct {
	url string
	// provisioned gets the time of a request to provision, if there is room.
	provisioned chan time.Time
	// refused counts the requests for the broken plan.
	refused atomic.Int64
}

func (f *fairBrokers) hanging(n int) string       { return fmt.Sprintf("%s/hang/%d", f.url, n) }
func (f *fairBrokers) large(services int) string  { return fmt.Sprintf("%s/large/%d", f.url, services) }
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
	f := &fairBrokers{url: "http://" + listener.Addr().String(), provisioned: make(chan time.Time, 1)}
	server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return f, nil
}

// ServeHTTP answers a call to one of the brokers.
func (f *fairBrokers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	broker, call, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/v2/")
	service := serviceOf(broker)
	f.note(r, call)
	switch {
	case call == "catalog" && strings.HasPrefix(broker, "large/"):
		services, _ := strconv.Atoi(strings.TrimPrefix(broker, "large/"))
		answer(w, http.StatusOK, json.RawMessage(osbtest.GeneratedCatalog(services, catalog.PlansPerFamily)))
	case call == "catalog":
		answer(w, http.StatusOK, map[string]any{"services": []any{map[string]any{
			"id": service, "name": service, "description": "one", "bindable": true,
			"plans": []any{plan(service, goodPlan), plan(service, failingPlan), plan(service, brokenPlan)},
		}}})
	case strings.HasPrefix(broker, "hang/"):
		<-r.Context().Done()
	case r.Method == http.MethodPut:
		answer(w, f.outcome(service, asksFor(r)), map[string]any{"credentials": map[string]any{"username": "bench", "password": "bench"}})
	default:
		answer(w, http.StatusOK, map[string]any{})
	}
}

// note tells who waits for it that an instance is to be provisioned.
func (f *fairBrokers) note(r *http.Request, call string) {
	if r.Method != http.MethodPut || strings.Contains(call, "/service_bindings/") {
		return
	}
	select {
	case f.provisioned <- time.Now():
	default:
	}
}

// outcome is how a request to provision or to bind is answered.
func (f *fairBrokers) outcome(service, plan string) int {
	switch plan {
	case planIDOf(service, failingPlan):
		return http.StatusServiceUnavailable
	case planIDOf(service, brokenPlan):
		f.refused.Add(1)
		return http.StatusInternalServerError
	}
	return http.StatusCreated
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

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // who hung up is not told
}
