package webhook

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyKeys are the first entries of a list that n bytes have room for, each made of its number.
func manyKeys(n int, entry string) string {
	var list []string
	for size := 0; size < n; size += len(list[len(list)-1]) + 1 {
		list = append(list, fmt.Sprintf(entry, len(list)))
	}
	return strings.Join(list, ",")
}

// pointersDown are the pointers to the first n levels of an object in which each "a" has the next.
func pointersDown(n int) string {
	var list []string
	for depth := range n {
		list = append(list, `"`+strings.Repeat("/a", depth+1)+`"`)
	}
	return strings.Join(list, ",")
}

// TestAForgedRecordCostsNoMore: the record of defaults of an object that came with its references is
// its author's text. Whatever it names, a write costs about what it costs with a short record.
//
//nolint:paralleltest // It counts what the process allocates.
func TestAForgedRecordCostsNoMore(t *testing.T) {
	const (
		instance, binding = `{"serviceType":"mysql","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"},"parameters":%s}`,
			`{"instanceRef":{"name":"mydb"},` + bindRefs + `,"parameters":%s}`
		named                = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"},"parameters":%s}`
		texts                = `{"additionalProperties":{"allOf":[{"type":"string"},{"minimum":2},{"minimum":3},{"minimum":4},{"minimum":5},{"minimum":6},{"minimum":7},{"minimum":8}]}}`
		parameters, requests = `{"spec":{"parameters":{"zz":1}}}`, `{"spec":{"updateRequests":1}}`
		room                 = 15 << 10
		most                 = 3 // times the cost with a short record
	)
	flat := "{" + manyKeys(60<<10, `"%x":1`) + "}"
	under := `{"a":` + flat + `}`
	for name, tc := range map[string]struct {
		reason, catalog, spec string
		parameters            string
		short, long           string
		change                string
		edits                 []func(*stock)
	}{
		"SameOften": {
			reason: "a pointer that is listed often is looked at once", catalog: db, spec: instance, parameters: under,
			short: `"removed":["/a"]`, long: `"removed":[` + strings.TrimSuffix(strings.Repeat(`"/a",`, room/5), ",") + `]`, change: parameters,
		},
		"OtherSpellings": {
			reason: "what admission never writes is not looked at", catalog: db, spec: instance, parameters: under,
			short: `"from":{"/a":"class"}`, long: `"from":{` + manyKeys(room, `"%x/a":""`) + `}`, change: parameters,
		},
		"Nested": {
			reason: "the root includes what is below it", catalog: db, spec: instance, parameters: strings.Repeat(`{"a":`, 50) + flat + strings.Repeat("}", 50),
			short: `"removed":["/a"]`, long: `"removed":[` + pointersDown(50) + `]`, change: parameters,
		},
		"LostPlan": {
			reason: "its defaults leave a wide object at once", catalog: "mysql/db: small! large*", spec: instance, parameters: flat,
			short: `"from":{"/0":"plan"}`, long: `"from":{` + manyKeys(room, `"/%x":"plan"`) + `}`, change: requests,
		},
		"Binding": {
			reason: "so do those of a manifest that is applied again", catalog: db, spec: binding, parameters: flat,
			short: `"from":{"/0":"plan"}`, long: `"from":{` + manyKeys(room, `"/%x":"plan"`) + `}`, change: parameters,
		},
		"RefusedDefaults": {
			reason: "one check by the schema finds all that the new plan does not take", catalog: "mysql/db: small! large", spec: named, parameters: "{" + manyKeys(20<<10, `"%x":1`) + "}",
			short: `"from":{"/0":"plan"}`, long: `"from":{` + manyKeys(room, `"/%x":"plan"`) + `}`, change: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			edits: []func(*stock){createSchemaOf("db-large", texts), func(s *stock) { s.class("db").PlanUpdatable = true }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(record string) uint64 {
				stock, with := stocked(t, tc.catalog, tc.edits...), instanceWith
				if tc.spec == binding {
					stock, with = stocked(t, tc.catalog, hasInstance("mydb", "db-small")), bindingWith
				}
				w := stock.env()
				meta := fmt.Sprintf(`{"name":"mydb","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/applied-defaults":%q}}`, `{"rule":"named",`+record+`}`)
				o := w.write(with(meta, fmt.Sprintf(tc.spec, tc.parameters)), nil)
				require.Nil(t, o.denied())
				stored := o.admitted()
				written := changed(t, stored, tc.change)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				w.write(written, stored)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			short, long := cost(tc.short), cost(tc.long)
			t.Logf("%d bytes, and %d with a short record", long, short)
			assert.Less(t, long, most*short, tc.reason)
		})
	}
}
