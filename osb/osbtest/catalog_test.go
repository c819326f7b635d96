package osbtest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

func TestCatalogIsValidated(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	etag := p.must(200, getCatalog()).header.Get("ETag")
	require.True(t, strings.HasPrefix(etag, `W/"`))
	known := func() *request {
		return getCatalog().with(func(r *request) { r.header.Set("If-None-Match", `"other", `+etag) })
	}
	assert.Empty(t, p.must(304, known()).text)
	require.NoError(t, p.broker.SetCatalog([]byte(`{"services":[]}`)))
	assert.JSONEq(t, `{"services":[]}`, p.must(200, known()).text)
	p.must(400, provision("i"))
	require.Error(t, p.broker.SetCatalog([]byte(`{`)))
	require.Error(t, p.broker.SetCatalog([]byte(`{}`)))
	assert.Panics(t, func() { osbtest.New(osbtest.Options{Catalog: []byte(`{}`)}) })
	p.broker.AssertDuties(t)
}

type offered struct {
	Services []struct {
		ID, Name string
		Tags     []string
		Metadata object
		Plans    []struct {
			ID, Name string
			Metadata struct{ Tags []string }
			Schemas  map[string]map[string]struct{ Parameters json.RawMessage }
		}
	}
}

// TestDemoLeavesOneOfEachToDecide counts the suggestions for each type over both of the
// demo's catalogs.
func TestDemoLeavesOneOfEachToDecide(t *testing.T) {
	t.Parallel()
	suggestions := map[string]int{}
	ids := map[string]string{}
	for _, broker := range []string{osbtest.Azure, osbtest.Inhouse} {
		var catalog offered
		require.NoError(t, json.Unmarshal(osbtest.Demo(broker).Catalog, &catalog))
		for _, service := range catalog.Services {
			ids[service.ID] = service.Name
			kind := strings.TrimPrefix(service.Tags[0], "ServiceType=")
			for _, tag := range service.Tags {
				if strings.HasPrefix(tag, "SuggestedPlan=") {
					suggestions[kind]++
				}
			}
			for _, plan := range service.Plans {
				ids[plan.ID] = service.Name + "/" + plan.Name
				suggestions[kind] += strings.Count(strings.Join(plan.Metadata.Tags, " "), "SuggestedPlan=true")
				for _, verbs := range plan.Schemas {
					for _, schema := range verbs {
						requireSchema(t, schema.Parameters)
					}
				}
			}
		}
	}
	assert.Equal(t, map[string]int{"mysql": 2, "redis": 1, "blobs": 1, "postgresql": 0}, suggestions)
	assert.Len(t, ids, 15, "no ID is used twice")
	assert.Equal(t, "azure-mysql", ids["997b8372-8dac-40ac-ae65-758b4a5075a5"])
	assert.Equal(t, "azure-mysql/premium-p1", ids["f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"])
	assert.Equal(t, "inhouse-mysql/medium", ids["inhouse-medium"])
	for _, id := range []string{"4af8bbd1-962d-4e26-84f1-f72d1d959d87", "6ddf6b41-fb60-4b70-af99-8ecc4896b3cf"} {
		assert.Contains(t, osbtest.Demo(osbtest.Azure).Pace, id)
		assert.Contains(t, ids, id)
	}
	assert.Panics(t, func() { osbtest.DemoCatalog("unknown") })
}

func requireSchema(t *testing.T, text json.RawMessage) {
	t.Helper()
	var schema object
	require.NoError(t, json.Unmarshal(text, &schema))
	assert.Equal(t, "http://json-schema.org/draft-07/schema#", schema["$schema"])
	assert.Equal(t, "object", schema["type"])
}

func TestGeneratedCatalog(t *testing.T) {
	t.Parallel()
	var catalog offered
	require.NoError(t, json.Unmarshal(osbtest.GeneratedCatalog(3, 4), &catalog))
	require.Len(t, catalog.Services, 3)
	ids := map[string]bool{}
	for _, service := range catalog.Services {
		assert.Len(t, service.Plans, 4)
		for _, plan := range service.Plans {
			ids[plan.ID] = true
		}
	}
	assert.Len(t, ids, 12)
	again := osbtest.GeneratedCatalog(3, 4)
	assert.Equal(t, again, osbtest.GeneratedCatalog(3, 4))
}
