package main

import (
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/e2e/bench/simulate"
)

// sizes are how much each part does.
type sizes struct {
	// shared has parts share a stack where they can: what one leaves behind does not matter then.
	shared    bool
	reviews   reviewSizes
	policies  int
	creates   createSizes
	plans     planSizes
	apiserver apiserverSizes
	instances instanceSizes
	fair      fairSizes
	hostile   int // creates that one p99 is of
	relist    relistSizes
	svcat     svcatSizes
	simulate  simulate.Size
	failing   failingSizes
	rest      restSizes
	scale     scaleSizes
}

type (
	// reviewSizes are of one ratio of reviews: how many pairs of batches, of how many reviews.
	reviewSizes struct{ pairs, batch, slopePairs, slopeBatch int }
	// createSizes are of one ratio of creates.
	createSizes struct{ pairs, batch int }
	planSizes   struct{ few, many, pairs, batch int }
	// apiserverSizes are stored plans, the creates of each kind, and a time without writes before further ones.
	apiserverSizes struct {
		plans, tries int
		quiet        time.Duration
	}
	// instanceSizes are how many instances and bindings become Ready, beside how many batches of creates.
	instanceSizes struct{ count, batches int }
	// fairSizes are hanging brokers and the instances of each, and the failing and the good instances.
	fairSizes struct{ brokers, each, failing, good int }
	// relistSizes are the services of a catalog, the plans of each, and the instances that are there in the end.
	relistSizes struct{ services, plansEach, crowd int }
	svcatSizes  struct{ plans, runs int }
	// failingSizes are instances that fail for ever: for how long before they are observed, and how long then.
	failingSizes struct {
		instances   int
		age, window time.Duration
	}
	// restSizes are what is stored while nothing happens: how long it is left alone, and then observed.
	restSizes struct {
		instances, bindings int
		settle, window      time.Duration
	}
	// scaleSizes are the numbers of instances, of which each step of the curve is one, and the
	// services of the catalog that is relisted.
	scaleSizes struct {
		instances      []int
		settle, window time.Duration
		services       int
		creates, runs  int
	}
)

// judged are the sizes that the goals are for.
var judged = sizes{
	reviews:   reviewSizes{pairs: 25, batch: 400, slopePairs: 12, slopeBatch: 200},
	policies:  1000,
	creates:   createSizes{pairs: 21, batch: 160},
	plans:     planSizes{few: 100, many: 100_000, pairs: 60, batch: 300},
	apiserver: apiserverSizes{plans: 5000, tries: 15, quiet: 2 * time.Minute},
	instances: instanceSizes{count: 1000, batches: 5},
	fair:      fairSizes{brokers: 50, each: 4, failing: 5000, good: 50},
	hostile:   200,
	relist:    relistSizes{services: 1000, plansEach: 10, crowd: 10_000},
	svcat:     svcatSizes{plans: 10_000, runs: 11},
	simulate:  simulate.Size{Services: 100, PlansEach: 100, Changed: 1, Runs: 5},
	failing:   failingSizes{instances: 5000, age: 10 * time.Minute, window: 2 * time.Minute},
	rest:      restSizes{instances: 10_000, bindings: 10_000, settle: 2 * time.Minute, window: 5 * time.Minute},
	scale:     scaleSizes{instances: []int{1000, 10_000}, settle: 30 * time.Second, window: time.Minute, services: 100, creates: 100, runs: 5},
}

// smallest are the sizes that show that each part can run.
var smallest = sizes{
	shared:    true,
	reviews:   reviewSizes{pairs: 1, batch: 16, slopePairs: 1, slopeBatch: 16},
	policies:  50,
	creates:   createSizes{pairs: 1, batch: 16},
	plans:     planSizes{few: 100, many: 2000, pairs: 1, batch: 20},
	apiserver: apiserverSizes{plans: 200, tries: 3, quiet: 2 * time.Second},
	instances: instanceSizes{count: 50, batches: 1},
	fair:      fairSizes{brokers: 3, each: 2, failing: 50, good: 5},
	hostile:   10,
	relist:    relistSizes{services: 10, plansEach: 10, crowd: 20},
	svcat:     svcatSizes{plans: 200, runs: 1},
	simulate:  simulate.Size{Services: 5, PlansEach: 5, Changed: 1, Runs: 1},
	failing:   failingSizes{instances: 20, age: 2 * time.Second, window: 2 * time.Second},
	rest:      restSizes{instances: 50, bindings: 50, settle: 2 * time.Second, window: 2 * time.Second},
	scale:     scaleSizes{instances: []int{100}, settle: time.Second, window: time.Second, services: 10, creates: 5, runs: 1},
}

func (s relistSizes) plans() int { return s.services * s.plansEach }

// milliseconds are those of a duration.
func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// inMicroseconds is a duration in words.
func inMicroseconds(d time.Duration) string { return fmt.Sprintf("%.0f µs", 1e6*d.Seconds()) }
