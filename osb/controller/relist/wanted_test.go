package relist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// outline is what is wanted, as "class:plan,plan class2:…".
func outline(objects Objects) string {
	var classes []string
	for i := range objects.Classes {
		var plans []string
		for k := range objects.Classes[i].Plans {
			plans = append(plans, objects.Classes[i].Plans[k].Plan)
		}
		classes = append(classes, objects.Classes[i].Service+":"+strings.Join(plans, ","))
	}
	return strings.Join(classes, " ")
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	service := func(id, name, rest string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,%s}`, id, name, rest)
	}
	const plans = `"plans":[{"id":"p","name":"small"}]`
	others := `"plans":[{"id":"q","name":"small"}]`
	cases := map[string]struct {
		reason, services, want string
		skipped                []string
	}{
		"Good":    {"Nothing is wrong.", service("a", "db", plans), "db:small", nil},
		"Empty":   {"No services are no fault.", ``, "", nil},
		"NoPlans": {"A service has plans.", service("a", "db", `"plans":[]`) + "," + service("b", "mq", plans), "mq:small", []string{`service "db": it has no plans`}},
		"NoID":    {"And an ID.", service("", "db", plans), "", []string{`service "db": it has no id`}},
		"NoName":  {"And a name.", service("a", "", plans), "", []string{`service "services[0]": it has no name; its id is "a"`}},
		"NoNames": {"What has no name is told by where it stands, beside what could not be read.", service("a", "mq", `"bindable":1`) + "," + service("b", "db", `"plans":[{"id":"p","name":"small","free":7},{"id":"q"},{"id":"r","name":"large"}]`) + "," + `{}`, "db:large", []string{
			`service "mq": bindable is neither true nor false`, `plan "small" of service "db": free is neither true nor false`,
			`plan "plans[1]" of service "db": it has no name; its id is "q"`, `service "services[2]": it has no plans`,
		}},
		"Hints": {"A hint of a wrong type is left out, not its service or plan.", service("a", "db", `"tags":7,"metadata":[],"description":1,"requires":{},"plans":[{"id":"p","name":"small","tags":["ServiceType=x",1],"schemas":"x"}]`), "db:small", []string{
			`plan "small" of service "db": its field tags is left out: it is not a list of strings`,
			`plan "small" of service "db": its field schemas is left out: it is not an object`,
			`service "db": its field description is left out: it is not a string`,
			`service "db": its field tags is left out: it is not a list of strings`,
			`service "db": its field requires is left out: it is not a list of strings`,
			`service "db": its field metadata is left out: it is not an object`,
		}},
		"LongID":      {"63 characters, whatever they are.", service(long, "db", plans), "", []string{`service "db": its id has 64 characters; at most 63 are allowed`}},
		"LongestName": {"Characters, not bytes.", service("a", strings.Repeat("é", 63), plans), strings.Repeat("é", 63) + ":small", nil},
		"LongName":    {"A longer one.", service("a", long, plans), "", []string{`service "` + long + `": its name has 64 characters; at most 63 are allowed`}},
		"LongText":    {"A description has its end.", service("a", "db", `"description":"`+strings.Repeat("x", 65537)+`",`+plans), "", []string{`service "db": its description has 65537 characters; at most 65536 are allowed`}},
		"LongTag":     {"So has a tag.", service("a", "db", `"tags":["`+strings.Repeat("x", 1025)+`"],`+plans), "", []string{`service "db": one of its tags has 1025 characters; at most 1024 are allowed`}},
		"SameID":      {"The first of an ID stays.", service("a", "db", plans) + "," + service("a", "mq", others), "db:small", []string{`service "mq": its id "a" is that of a service before it`}},
		"SameName":    {"So does the first of a name.", service("a", "db", plans) + "," + service("b", "db", others), "db:small", []string{`service "db": its name is that of a service before it`}},
		"SamePlanID":  {"A plan's ID is one in the catalog.", service("a", "db", plans) + "," + service("b", "mq", plans), "db:small", []string{`plan "small" of service "mq": its id "p" is that of a plan before it`, `service "mq": it has no plan that could be taken over`}},
		"SamePlan":    {"A plan's name is one in its service.", service("a", "db", `"plans":[{"id":"p","name":"small"},{"id":"q","name":"small"}]`), "db:small", []string{`plan "small" of service "db": its name is that of a plan before it`}},
		"LongPlan":    {"One plan does not take the others with it.", service("a", "db", `"plans":[{"id":"p","name":"`+long+`"},{"id":"q","name":"large"}]`), "db:large", []string{`plan "` + long + `" of service "db": its name has 64 characters; at most 63 are allowed`}},
		"Unread":      {"What could not be read is told, too.", service("a", "db", plans) + `,{"id":"b","name":"mq","bindable":"yes",` + others + `}`, "db:small", []string{`service "mq": bindable is neither true nor false`}},
		"Schemas": {"A schema that is none, or too large, is left out, not its plan.", service("a", "db", `"plans":[{"id":"p","name":"small","maximum_polling_duration":-1,"schemas":{"service_instance":{"create":{"parameters":[1]},"update":{"parameters":{"x":"`+strings.Repeat("x", 65536)+`"}}},"service_binding":{"create":{"parameters":{"`+strings.Repeat("k", 1001)+`":1}}}}}]`), "db:small", []string{
			`plan "small" of service "db": its maximum_polling_duration is -1, which is left out: it must not be negative`,
			`plan "small" of service "db": its schema for provisioning is left out: it is not an object`,
			`plan "small" of service "db": its schema for updating is left out: it has 65544 bytes; at most 65536 are allowed`,
			`plan "small" of service "db": its schema for binding is left out: a key in it has more than 1000 bytes`,
		}},
		"Metadata":   {"So is metadata.", service("a", "db", `"metadata":{"x":"`+strings.Repeat("x", 512<<10)+`"},`+plans), "db:small", []string{`service "db": its metadata is left out: it has 524296 bytes; at most 524288 are allowed`}},
		"HugeNumber": {"A number that no computer holds.", service("a", "db", `"metadata":{"x":1e999},`+plans), "db:small", []string{`service "db": its metadata is left out: a number in it is too large`}},
		"TooMuch": {"All together may be too much.", service("a", "db", `"description":"`+strings.Repeat("☃", 65536)+`","tags":[`+strings.Repeat(`"`+strings.Repeat("☃", 300)+`",`, 280)+`"x"],"requires":[`+strings.Repeat(`"`+strings.Repeat("☃", 300)+`",`, 150)+`"x"],"metadata":{"x":"`+strings.Repeat("x", 511<<10)+`"},`+plans), "db:small", []string{
			`service "db": its metadata is left out: with it, the class would have 1108429 bytes; at most 1048576 are allowed`,
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, skipped := Wanted(Broker{Name: "b"}, catalogOf(t, `{"services":[`+tc.services+`]}`))
			assert.Equal(t, tc.want, outline(objects), tc.reason)
			var told []string
			for _, one := range skipped {
				told = append(told, one.String())
			}
			assert.Equal(t, tc.skipped, told, tc.reason)
		})
	}
}

func TestRestrictions(t *testing.T) {
	t.Parallel()
	const catalog = `{"services":[{"id":"A","name":"My DB","plans":[{"id":"p","name":"Small Plan"},{"id":"q","name":"large","free":false}]},{"id":"b","name":"mq","plans":[{"id":"r","name":"large","free":false}]}]}`
	cases := map[string]struct {
		reason          string
		classes, plans  []string
		namespace, want string
	}{
		"None":            {reason: "All.", want: "My DB:Small Plan,large mq:large"},
		"ClassName":       {reason: "By the escaped name.", classes: []string{"name=z41z"}, want: "My DB:Small Plan,large"},
		"ClassExternal":   {reason: "By the broker's name.", classes: []string{"spec.externalName in (mq, x)"}, want: "mq:large"},
		"ClassNot":        {reason: "A name that no label may be is compared as it is.", classes: []string{"spec.externalName!=mq"}, want: "My DB:Small Plan,large"},
		"ClassID":         {reason: "By ID.", classes: []string{"spec.externalID=b"}, want: "mq:large"},
		"ClassesAll":      {reason: "All must match.", classes: []string{"spec.externalID=b", "spec.externalName!=mq"}, want: ""},
		"Free":            {reason: "A class without plans is dropped.", plans: []string{"spec.free=true"}, want: "My DB:Small Plan"},
		"Paid":            {reason: "What is not free.", plans: []string{"spec.free=false"}, want: "My DB:large mq:large"},
		"PlanOfClass":     {reason: "By class.", plans: []string{"spec.clusterServiceClass.name=b"}, want: "mq:large"},
		"PlanOfLocal":     {reason: "In a namespace, it has another name.", namespace: "n", plans: []string{"spec.serviceClass.name=b"}, want: "mq:large"},
		"PlanOfWrong":     {reason: "Of the other scope, nothing.", namespace: "n", plans: []string{"spec.clusterServiceClass.name=b"}, want: ""},
		"PlanNamed":       {reason: "By names.", plans: []string{"name in (p,r)", "spec.externalName notin (large)"}, want: "My DB:Small Plan"},
		"ClassesAndPlans": {reason: "Both.", classes: []string{"spec.externalID notin (b)"}, plans: []string{"spec.externalID=q"}, want: "My DB:large"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			restrictions, err := ParseRestrictions(&api.CatalogRestrictions{ServiceClass: tc.classes, ServicePlan: tc.plans})
			require.NoError(t, err)
			objects, skipped := Wanted(Broker{Name: "b", Namespace: tc.namespace, Restrictions: restrictions}, catalogOf(t, catalog))
			assert.Equal(t, tc.want, outline(objects), tc.reason)
			assert.Empty(t, skipped, "a restriction is a wish, not a fault")
			assert.Len(t, objects.Listed, 5)
		})
	}
	_, err := ParseRestrictions(&api.CatalogRestrictions{ServicePlan: []string{"a=b", "spec.externalName in basic"}})
	assert.ErrorContains(t, err, `cannot parse spec.catalogRestrictions.servicePlan[1]`)
	_, err = BrokerOf(&api.ServiceBroker{Spec: api.ServiceBrokerSpec{CommonServiceBrokerSpec: api.CommonServiceBrokerSpec{CatalogRestrictions: &api.CatalogRestrictions{ServiceClass: []string{"="}}}}})
	assert.ErrorContains(t, err, `serviceClass[0]`)
}

// A name that an object of the broker's has already is kept.
func TestKnownNames(t *testing.T) {
	t.Parallel()
	objects, _ := Wanted(Broker{Name: "b", NameSuffix: "eu", Known: func(kind Kind, id string) string {
		return map[string]string{"ClusterServiceClass/A": "raw", "ClusterServicePlan/z": "z"}[string(kind)+"/"+id]
	}}, catalogOf(t, `{"services":[{"id":"A","name":"db","plans":[{"id":"z","name":"s"},{"id":"q","name":"l"}]}]}`))
	class := objects.Classes[0]
	assert.Equal(t, []string{"raw", "z", "q-eu", "raw"}, []string{class.Name, class.Plans[0].Name, class.Plans[1].Name, class.Plans[1].Class})
	assert.Equal(t, map[string]any{"name": "raw"}, class.Plans[0].Facts["clusterServiceClassRef"])
}

// Every real catalog is wanted whole, and the same twice.
func TestRealCatalogsAreWanted(t *testing.T) {
	t.Parallel()
	for name, catalog := range sharedCatalogs(t) {
		objects, skipped := Wanted(Broker{Name: "b"}, catalog)
		assert.Empty(t, skipped, name)
		assert.Len(t, objects.Classes, len(catalog.Services), name)
		for i := range objects.Classes {
			assert.Len(t, objects.Classes[i].Plans, len(catalog.Services[i].Plans), name)
		}
		again, _ := Wanted(Broker{Name: "b"}, catalog)
		assert.Equal(t, objects, again, name)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var many []Skipped
	for i := range 12 {
		many = append(many, Skipped{Service: fmt.Sprint(i), Reason: "x"})
	}
	assert.Empty(t, Summary(nil))
	assert.Equal(t, `service "0": x`, Summary(many[:1]))
	assert.True(t, strings.HasSuffix(Summary(many), `service "9": x; and 2 more`))
	assert.Equal(t, "a b…", cut("a\nb\x7fcd", 3))
}

// generated is a catalog of so many services with so many plans.
func generated(services, plans int) *osb.Catalog {
	catalog := &osb.Catalog{}
	for i := range services {
		service := osb.Service{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("service-%d", i), Tags: []string{"ServiceType=t"}}
		for k := range plans {
			service.Plans = append(service.Plans, osb.Plan{ID: fmt.Sprintf("s%d-p%d", i, k), Name: fmt.Sprintf("plan-%d", k), Metadata: []byte(`{"tags":["Cores=4"],"bullets":["a","b"]}`)})
		}
		catalog.Services = append(catalog.Services, service)
	}
	return catalog
}

func BenchmarkWanted(b *testing.B) {
	for _, plans := range []int{1000, 10000} {
		for _, of := range []int{1, 100} {
			catalog := generated(of, plans/of)
			b.Run(fmt.Sprintf("%d-of-%d", plans, of), func(b *testing.B) {
				for b.Loop() {
					Wanted(Broker{Name: "b", UID: "u"}, catalog)
				}
			})
		}
	}
}
