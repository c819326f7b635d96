package osb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCatalogETag(t *testing.T) {
	t.Parallel()
	broker := &recorder{header: map[string]string{"ETag": `W/"1"`}}
	client := serve(t, broker)
	broker.answer(200, `{"services":[]}`)
	catalog, err := client.Catalog(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, &Catalog{Services: []Service{}, ETag: `W/"1"`, Size: len(`{"services":[]}`)}, catalog)
	assert.NotContains(t, broker.seen()[0].Header, "If-None-Match")

	broker.answer(304, "")
	catalog, err = client.Catalog(t.Context(), catalog.ETag)
	require.NoError(t, err)
	assert.Nil(t, catalog, "nothing changed")
	assert.Equal(t, `W/"1"`, broker.seen()[0].Header.Get("If-None-Match"))

	_, err = client.Catalog(t.Context(), "")
	assert.Equal(t, BrokerFault, KindOf(err), "nothing to be unchanged from")
}

// TestSkippedTellsNoSecret: a broker may echo what it was sent where a name belongs, also
// longer than a name is kept.
func TestSkippedTellsNoSecret(t *testing.T) {
	t.Parallel()
	broker := &recorder{}
	token := strings.Repeat("s3cret", 100)
	client := serve(t, broker, func(c *Config) { c.Auth = Authentication{Token: token} })
	broker.answer(200, `{"services":[{"id":7,"name":"Bearer `+token+`"},{"id":"a","name":"a","plans":[{"id":7,"name":"`+token+`"}]}]}`)
	catalog, err := client.Catalog(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, []Skip{{Service: "Bearer (redacted)", Reason: "id is not a string"}, {Service: "a", Plan: "(redacted)", Reason: "id is not a string"}}, catalog.Skipped)
}

func TestReadCatalog(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, body string
		services     []Service
		skipped      []Skip
	}{
		"Empty": {reason: "a broker may offer nothing", body: `{"services":[],"x":1}`, services: []Service{}},
		"Null":  {reason: "which some say so", body: `{"services":null}`, services: []Service{}},
		"Nulls": {
			reason: "null is nothing, everywhere",
			body: `{"services":[{"id":"s","name":null,"tags":null,"requires":null,"bindable":null,"metadata":null,"dashboard_client":null,"plans":[
				{"id":"p","free":null,"bindable":null,"schemas":null,"maintenance_info":null,"maximum_polling_duration":null,"tags":null}]},{"plans":null}]}`,
			services: []Service{{ID: "s", Plans: []Plan{{ID: "p"}}}, {Index: 1}},
		},
		"Everything": {
			reason: "every field is read, and no other is kept",
			body: `{"services":[{"id":"s","name":"S P","description":"d","tags":["a"],"requires":["x"],"bindable":true,"instances_retrievable":true,
				"bindings_retrievable":true,"allow_context_updates":true,"plan_updateable":true,"metadata":{"n":1.0},
				"dashboard_client":{"secret":"s3cret"},"plans":[{"id":"p","name":"P","description":"d","tags":["b"],"metadata":{},
				"free":false,"bindable":false,"plan_updateable":false,"binding_rotatable":true,"maximum_polling_duration":60,
				"maintenance_info":{"version":"1.0.0","description":"m"},
				"schemas":{"service_instance":{"create":{"parameters":{"a":1.0}},"update":{"parameters":{}}},"service_binding":{"create":{"parameters":{"b":1}}}}}]}]}`,
			services: []Service{{
				ID: "s", Name: "S P", Description: "d", Tags: []string{"a"}, Requires: []string{"x"}, Bindable: true, InstancesRetrievable: true,
				BindingsRetrievable: true, AllowContextUpdates: true, PlanUpdatable: true, Metadata: json.RawMessage(`{"n":1.0}`),
				Plans: []Plan{{
					ID: "p", Name: "P", Description: "d", Tags: []string{"b"}, Metadata: json.RawMessage(`{}`), Free: new(false), Bindable: new(false),
					PlanUpdatable: new(false), BindingRotatable: new(true), MaximumPollingDuration: new(int64(60)),
					MaintenanceInfo: &MaintenanceInfo{Version: "1.0.0", Description: "m"},
					Schemas: &Schemas{
						InstanceCreate: json.RawMessage(`{"a":1.0}`), InstanceUpdate: json.RawMessage(`{}`), BindingCreate: json.RawMessage(`{"b":1}`),
					},
				}},
			}},
		},
		"Maintenance": {
			reason: "what brokers write in place of a version is none",
			body: `{"services":[{"plans":[{"id":"1","maintenance_info":{}},{"id":"2","maintenance_info":{"Version":"1.0.0"}},
				{"id":"3","maintenance_info":{"public":{"a":1},"private":"x"}},{"id":"4","maintenance_info":{"version":""}}]}]}`,
			services: []Service{{Plans: []Plan{{ID: "1"}, {ID: "2", Index: 1}, {ID: "3", Index: 2}, {ID: "4", Index: 3}}}},
		},
		"Schemas": {
			reason: "nulls in any place",
			body: `{"services":[{"plans":[{"schemas":{}},{"schemas":{"service_instance":null,"service_binding":{"create":null}}},
				{"schemas":{"service_instance":{"create":{"parameters":null},"update":{"parameters":{}}}}}]}]}`,
			services: []Service{{Plans: []Plan{{}, {Index: 1}, {Index: 2, Schemas: &Schemas{InstanceUpdate: json.RawMessage(`{}`)}}}}},
		},
		"Numbers": {
			reason: "a whole number, however it is written",
			body: `{"services":[{"name":"s","plans":[{"maximum_polling_duration":60.0},{"maximum_polling_duration":6e1},{"id":"half","maximum_polling_duration":0.5},
				{"maximum_polling_duration":"60"}]}]}`,
			services: []Service{{Name: "s", Plans: []Plan{{MaximumPollingDuration: new(int64(60))}, {Index: 1, MaximumPollingDuration: new(int64(60))}}}},
			skipped: []Skip{
				{"s", "plans[2]", "maximum_polling_duration is not a whole number"}, {"s", "plans[3]", "maximum_polling_duration is not a number"},
			},
		},
		"Skipped": {
			reason: "one wrong entry does not lose the others",
			body: `{"services":[7,{"id":"a","name":"A\n\u202e!","bindable":"yes"},{"id":"b","bindable":1},{"name":"c","plans":{}},{"name":5},
				{"name":"d","plans":[null,{"name":"e","free":"no"},{"id":"h","free":"no"},{"id":"ok"}]}]}`,
			services: []Service{{Index: 5, Name: "d", Plans: []Plan{{Index: 3, ID: "ok"}}}},
			skipped: []Skip{
				{"services[0]", "", "it is not an object"}, {"A !", "", "bindable is neither true nor false"}, {"services[2]", "", "bindable is neither true nor false"},
				{"c", "", "plans is not a list"}, {"services[4]", "", "name is not a string"},
				{"d", "plans[0]", "it is not an object"}, {"d", "e", "free is neither true nor false"},
				{"d", "plans[2]", "free is neither true nor false"},
			},
		},
		"Hints": {
			reason: "what nothing hangs on is left out by itself",
			body: `{"services":[{"id":"s","name":"S","description":7,"tags":["a",1],"requires":"x","bindable":true,"metadata":[],"plans":[
				{"id":"p","name":"P","description":{},"tags":{},"metadata":"x","maintenance_info":{"version":"1.0.0","description":1},
				"schemas":{"service_instance":{"create":1,"update":{"parameters":{}}},"service_binding":[]}},{"id":"q","name":"Q","schemas":[]}]}]}`,
			services: []Service{{
				ID: "s", Name: "S", Bindable: true, LeftOut: []LeftOut{
					{"description", "is not a string"}, {"tags", "is not a list of strings"},
					{"requires", "is not a list of strings"}, {"metadata", "is not an object"},
				},
				Plans: []Plan{{
					ID: "p", Name: "P", MaintenanceInfo: &MaintenanceInfo{Version: "1.0.0"}, Schemas: &Schemas{InstanceUpdate: json.RawMessage(`{}`)}, LeftOut: []LeftOut{
						{"description", "is not a string"}, {"tags", "is not a list of strings"}, {"metadata", "is not an object"},
						{"schemas.service_binding", "is not an object"}, {"schemas.service_instance.create", "is not an object"},
						{"maintenance_info.description", "is not a string"},
					},
				}, {Index: 1, ID: "q", Name: "Q", LeftOut: []LeftOut{{"schemas", "is not an object"}}}},
			}},
		},
		"Twice": {
			reason: "of a field twice, the last; of other cases, none",
			body:   `{"Services":[{}],"services":[{"id":"a","ID":"no","id":"b"}]}`, services: []Service{{ID: "b"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var catalog Catalog
			require.NoError(t, json.Unmarshal([]byte(test.body), &catalog), test.reason)
			assert.Equal(t, Catalog{Services: test.services, Skipped: test.skipped}, catalog, test.reason)
		})
	}
	for body, want := range map[string]string{
		`{}`: "services is not there", `[]`: "it is not an object", `{"services":{}}`: "services is not a list", `{"Services":[]}`: "services is not there",
	} {
		assert.EqualError(t, json.Unmarshal([]byte(body), new(Catalog{})), "cannot read the catalog: "+want)
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	const all = `{"service_instance":{"create":{"parameters":{"a":1.0}},"update":{"parameters":{}}},"service_binding":{"create":{"parameters":{}}}}`
	for _, text := range []string{all, `{}`, `{"service_binding":{"create":{"parameters":{}}}}`} {
		var schemas Schemas
		require.NoError(t, json.Unmarshal([]byte(text), &schemas))
		written, err := json.Marshal(schemas)
		require.NoError(t, err)
		assert.Equal(t, text, string(written), "written as it was read")
	}
	schemas := Schemas{InstanceCreate: json.RawMessage(`{}`)}
	require.NoError(t, schemas.UnmarshalJSON([]byte(`null`)))
	assert.Equal(t, Schemas{}, schemas)
	assert.EqualError(t, json.Unmarshal([]byte(`{"service_instance":1}`), &schemas), "cannot read the schemas: schemas.service_instance is not an object")
}

// TestSharedCatalogs reads what real brokers offer.
func TestSharedCatalogs(t *testing.T) {
	files, err := filepath.Glob("../../shared/catalogs/*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the samples of real brokers lie beside the project, in ../shared/catalogs")
	}
	broker := &recorder{}
	client := serve(t, broker)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var plain struct{ Services []struct{ Plans []any } }
			require.NoError(t, json.Unmarshal(text, &plain))
			broker.answer(200, string(text))
			catalog, err := client.Catalog(t.Context(), "")
			require.NoError(t, err)
			assert.Empty(t, catalog.Skipped)
			require.Len(t, catalog.Services, len(plain.Services))
			for index, service := range catalog.Services {
				assert.NotEmpty(t, service.ID)
				assert.Len(t, service.Plans, len(plain.Services[index].Plans))
			}
			written, err := json.Marshal(catalog)
			require.NoError(t, err)
			assert.NotContains(t, string(written), "dashboard_client")
		})
	}
}

// BenchmarkReadCatalog reads 10,000 plans, each with a schema.
func BenchmarkReadCatalog(b *testing.B) {
	plan := `{"id":"p","name":"p","description":"d","free":true,"metadata":{"bullets":["a","b"]},"schemas":{"service_instance":{"create":` +
		`{"parameters":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"size":{"type":"integer"}}}}}}}`
	service := `{"id":"s","name":"s","bindable":true,"plans":[` + strings.Repeat(plan+",", 99) + plan + `]}`
	body := []byte(`{"services":[` + strings.Repeat(service+",", 99) + service + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if catalog := readCatalog(open(body), DefaultMaxPlans, strings.NewReplacer()); len(catalog.Services) != 100 {
			b.Fatal(len(catalog.Services))
		}
	}
}
