package osb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/defaultplan/defaultplan/osb"
)

// broker answers every request with one status and one body.
func broker(status int, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

func ExampleClient_Catalog() {
	server := broker(http.StatusOK, `{"services": [
		{"id": "8f3a", "name": "mysql", "bindable": true, "plans": [{"id": "77c1", "name": "small"}]},
		{"id": "91bc", "name": "redis", "bindable": "yes"}
	]}`)
	defer server.Close()
	client, err := osb.New(osb.Config{URL: server.URL, Auth: osb.Authentication{Username: "ann", Password: "swordfish"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	catalog, err := client.Catalog(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, service := range catalog.Services {
		fmt.Println(service.Name, service.Plans[0].Name)
	}
	for _, skip := range catalog.Skipped {
		fmt.Println("skipped", skip.Service, "because", skip.Reason)
	}
	// Output:
	// mysql small
	// skipped redis because bindable is neither true nor false
}

func ExampleClient_Provision() {
	server := broker(http.StatusAccepted, `{"operation": "task-17"}`)
	defer server.Close()
	client, err := osb.New(osb.Config{URL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Provision(context.Background(), osb.ProvisionRequest{
		InstanceID: "7c52", ServiceID: "8f3a", PlanID: "77c1", Organization: "cluster-1", Space: "namespace-1",
		Context:    map[string]any{"platform": "kubernetes", "namespace": "shop", "clusterid": "cluster-1"},
		Parameters: json.RawMessage(`{"size": 10}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Async, *response.Operation)
	// Output: true task-17
}

func ExampleKindOf() {
	server := broker(http.StatusUnprocessableEntity, `{"error": "ConcurrencyError", "description": "an update is running"}`)
	defer server.Close()
	client, err := osb.New(osb.Config{URL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Deprovision(context.Background(), osb.DeprovisionRequest{InstanceID: "7c52", ServiceID: "8f3a", PlanID: "77c1"})
	if osb.KindOf(err) == osb.Concurrency {
		fmt.Println("try again later:", err)
	}
	// Output: try again later: cannot deprovision: the broker answered 422 ConcurrencyError: an update is running
}

func ExampleAuthentication() {
	config := osb.Config{URL: "https://broker.example", Auth: osb.Authentication{Token: "swordfish"}}
	fmt.Printf("%v\n", config.Auth)
	// Output: bearer (redacted)
}
