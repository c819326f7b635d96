package osbtest

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed catalogs/*.json
var catalogs embed.FS

// The brokers of the demo. Together they leave one service type to a single suggestion
// (redis, and blobs), two suggestions for another (mysql), and none for a third
// (postgresql).
const (
	Azure   = "azure"
	Inhouse = "inhouse"
)

// DemoCatalog is the catalog of one of the demo's brokers, as JSON. It panics for any
// other name.
func DemoCatalog(name string) []byte {
	text, err := catalogs.ReadFile("catalogs/" + name + ".json")
	if err != nil {
		panic(fmt.Sprintf("there is no demo broker %q", name))
	}
	return text
}

// The plans of the demo that take their time.
const (
	redisStandard = "4af8bbd1-962d-4e26-84f1-f72d1d959d87"
	storageHot    = "6ddf6b41-fb60-4b70-af99-8ecc4896b3cf"
)

// Demo are the options of one of the demo's brokers: its catalog, and that redis takes
// a few polls to be there, as do the keys of the storage. Credentials for it are the
// caller's to add.
func Demo(name string) Options {
	return Options{
		Catalog: DemoCatalog(name),
		Pace: map[string]map[Verb]int{
			redisStandard: {Provision: 3, Deprovision: 1},
			storageHot:    {Bind: 1, Unbind: 1},
		},
	}
}

// GeneratedCatalog is a catalog of so many services of so many plans each, for
// benchmarks. The same numbers give the same catalog.
func GeneratedCatalog(services, plansEach int) []byte {
	type object = map[string]any
	offered := make([]object, services)
	for s := range offered {
		id := fmt.Sprintf("service-%05d", s)
		plans := make([]object, plansEach)
		for p := range plans {
			tags := []string{fmt.Sprintf("Cores=%d", 1+p%16)}
			if p == 0 {
				tags = append(tags, "SuggestedPlan=true")
			}
			plans[p] = object{
				"id": fmt.Sprintf("%s-plan-%05d", id, p), "name": fmt.Sprintf("plan-%05d", p), "description": "one of many", "free": p%2 == 0,
				"metadata": object{"tags": tags},
			}
		}
		offered[s] = object{
			"id": id, "name": id, "description": "a service of a benchmark", "bindable": true, "plan_updateable": true,
			"tags": []string{fmt.Sprintf("ServiceType=type-%05d", s)}, "plans": plans,
			"metadata": object{"defaultProvisionParameters": object{"size": "small", "zone": "a"}},
		}
	}
	text, err := json.Marshal(object{"services": offered})
	if err != nil {
		panic(err)
	}
	return text
}
