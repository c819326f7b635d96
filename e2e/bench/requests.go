package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// A requestKey is a kind of requests that an API server counts.
type requestKey struct{ verb, resource, subresource string }

// requests are how many an API server has had.
type requests map[requestKey]float64

var requestLine = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)

// requests reads the API server's own count.
func (m *market) requests(ctx context.Context) (requests, error) {
	clientset, err := kubernetes.NewForConfig(m.RESTConfig())
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	text, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the API server's metrics: %w", err)
	}
	counted := requests{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		match := requestLine.FindStringSubmatch(lines.Text())
		if match == nil {
			continue
		}
		value, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return nil, fmt.Errorf("cannot read the API server's metrics: %w", err)
		}
		labels := labelsOf(match[1])
		counted[requestKey{labels["verb"], labels["resource"], labels["subresource"]}] += value
	}
	return counted, nil
}

var labelPair = regexp.MustCompile(`(\w+)="([^"]*)"`)

func labelsOf(text string) map[string]string {
	labels := map[string]string{}
	for _, match := range labelPair.FindAllStringSubmatch(text, -1) {
		labels[match[1]] = match[2]
	}
	return labels
}

// since is what was added.
func (r requests) since(before requests) requests {
	added := requests{}
	for key, count := range r {
		if more := count - before[key]; more > 0 {
			added[key] = more
		}
	}
	return added
}

// objects is the count of one kind of write on instances or bindings.
func (r requests) objects(verb, subresource string) float64 {
	total := 0.0
	for key, count := range r {
		if key.verb == verb && key.subresource == subresource && (key.resource == "serviceinstances" || key.resource == "servicebindings") {
			total += count
		}
	}
	return total
}

// writes is the count of writes of one resource and its status.
func (r requests) writes(resources ...string) float64 {
	total := 0.0
	for key, count := range r {
		for _, resource := range resources {
			if key.resource == resource && key.verb != "GET" && key.verb != "LIST" && key.verb != "WATCH" {
				total += count
			}
		}
	}
	return total
}

// reads is the count of single and listing reads.
func (r requests) reads() float64 {
	total := 0.0
	for key, count := range r {
		if (key.verb == "GET" || key.verb == "LIST") && key.resource != "leases" {
			total += count
		}
	}
	return total
}

// allWrites is the count of writes that are stored, but for those of Leases.
func (r requests) allWrites() float64 {
	total := 0.0
	for key, count := range r {
		switch key.verb {
		case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
			if key.resource != "leases" && !strings.HasSuffix(key.resource, "reviews") && key.subresource != "token" {
				total += count
			}
		}
	}
	return total
}

// per lists the kinds of requests of which there are many, per object or second.
func (r requests) per(objects float64) string {
	few := objects / 10
	var all []string
	for key, count := range r {
		if count < few || key.verb == "WATCH" {
			continue
		}
		name := strings.Trim(key.resource+"/"+key.subresource, "/")
		all = append(all, fmt.Sprintf("%s %s %.2f", key.verb, name, count/objects))
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}
