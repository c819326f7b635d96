package relist

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

func TestName(t *testing.T) {
	t.Parallel()
	sum := func(id string) string {
		s := md5.Sum([]byte(id))
		return hex.EncodeToString(s[:])
	}
	cases := map[string]struct{ reason, id, suffix, want string }{
		"Plain":       {"What is lawful stays.", "mysql-8.0", "", "mysql-8.0"},
		"GUID":        {"So does a GUID.", "997b8372-8dac-40ac-ae65-758b4a5075a5", "", "997b8372-8dac-40ac-ae65-758b4a5075a5"},
		"Capital":     {"A capital is escaped.", "MySQL", "", "z4dzyz53zz51zz4cz"},
		"Z":           {"The escape is escaped itself.", "zz", "", "z7azz7az"},
		"DotFirst":    {"A dot is not first.", ".a", "", "z2eza"},
		"DotLast":     {"Nor last.", "a.", "", "az2ez"},
		"DotDot":      {"Nor twice.", "a..b", "", "a.z2ezb"},
		"DashDot":     {"Nor after a dash.", "a-.b", "", "a-z2ezb"},
		"DotDash":     {"Nor a dash after it.", "a.-b", "", "a.z2dzb"},
		"DashDash":    {"Dashes may follow each other.", "a--b", "", "a--b"},
		"DashFirst":   {"A dash is not first.", "-a-", "", "z2dzaz2dz"},
		"Escaped":     {"After an escape a dot is kept.", "aZ.b", "", "az5az.b"},
		"Space":       {"Spaces and slashes.", "a b/c", "", "az20zbz2fzc"},
		"Unicode":     {"Any character.", "é☃", "", "ze9zz2603z"},
		"Long":        {"What is too long has a sum.", strings.Repeat("a", 64), "", strings.Repeat("a", 30) + "-" + sum(strings.Repeat("a", 64))},
		"LongEscaped": {"So has what its escapes make too long.", strings.Repeat("A", 16), "", strings.Repeat("z41z", 16)[:30] + "-" + sum(strings.Repeat("A", 16))},
		"LongDot":     {"No dot before the sum.", strings.Repeat("a", 29) + "." + strings.Repeat("b", 40), "", strings.Repeat("a", 29) + "-" + sum(strings.Repeat("a", 29)+"."+strings.Repeat("b", 40))},
		"Longest":     {"63 are not too long.", strings.Repeat("a", 63), "", strings.Repeat("a", 63)},
		"Suffix":      {"The suffix is behind.", "MySQL", "eu-1", "z4dzyz53zz51zz4cz-eu-1"},
		"LongSuffix":  {"And stays whole.", strings.Repeat("a", 60), "east", strings.Repeat("a", 25) + "-" + sum(strings.Repeat("a", 60)) + "-east"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, Name(tc.id, tc.suffix), tc.reason)
			assert.LessOrEqual(t, len(tc.want), 63)
		})
	}
}

func FuzzName(f *testing.F) {
	for _, id := range []string{"a", "A.b", "z", "a..b", ".-.", "é", strings.Repeat("Z", 63), "997b8372-8dac-40ac-ae65-758b4a5075a5"} {
		f.Add(id, "eu", id+"-eu")
	}
	f.Fuzz(func(t *testing.T, id, suffix, other string) {
		if id == "" || other == "" {
			return
		}
		if len(validation.IsDNS1123Label(suffix)) > 0 || len(suffix) > 20 {
			suffix = ""
		}
		id, other = strings.ToValidUTF8(id, "?"), strings.ToValidUTF8(other, "?")
		name := Name(id, suffix)
		assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
		assert.LessOrEqual(t, len(name), 63)
		assert.Equal(t, name, Name(id, suffix))
		if id != other {
			assert.NotEqual(t, name, Name(other, suffix))
		}
	})
}

// say is a suggestion as one line.
func say(suggestions []Suggestion) string {
	var lines []string
	for _, s := range suggestions {
		lines = append(lines, strings.ReplaceAll(s.At[len(s.At)-1], "attributes.servicecatalog.k8s.io/", s.At[len(s.At)-2]+"/")+"="+string(applied(s.Value)))
	}
	return strings.Join(lines, " ")
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	const one, two = `"plans":[{"id":"p","name":"small"}]`, `"plans":[{"id":"p","name":"small"},{"id":"q","name":"large"}]`
	plan := func(rest string) string { return `"plans":[{"id":"p","name":"small",` + rest + `}]` }
	cases := map[string]struct {
		reason, service string
		class, plan     string
		skipped         []string
	}{
		"None":              {"Nothing is suggested by itself.", `"tags":["sql","fast"],` + one, ``, ``, nil},
		"Type":              {"The type of a service is that of its plans, too.", `"tags":["ServiceType=MySQL"],` + one, `serviceType="mysql"`, `serviceType="mysql"`, nil},
		"TypeOfPlan":        {"A plan's own wins.", `"tags":["ServiceType=a"],` + plan(`"tags":["ServiceType=b"]`), `serviceType="a"`, `serviceType="b"`, nil},
		"TypeInMetadata":    {"A plan's tags may be in its metadata.", plan(`"metadata":{"tags":["ServiceType=b"]}`), ``, `serviceType="b"`, nil},
		"MetadataTagsWrong": {"What is no list of tags is none.", plan(`"metadata":{"tags":"ServiceType=b"}`), ``, ``, nil},
		"TypeInvalid":       {"A type is a DNS label.", `"tags":["ServiceType=my sql"],` + one, ``, ``, []string{`service "db": its type "my sql" is left out: a type is a DNS label, such as mysql`}},
		"TypeEmpty":         {"Nothing is no type.", `"tags":["ServiceType="],` + one, ``, ``, []string{`service "db": its type "" is left out: a type is a DNS label, such as mysql`}},
		"TypeSecond":        {"There is one type.", `"tags":["ServiceType=a","ServiceType=b"],` + one, `serviceType="a"`, `serviceType="a"`, []string{`service "db": its type "b" is left out: its type is "a" already`}},
		"TypeTwice":         {"The same again is nothing new.", `"tags":["ServiceType=a","ServiceType=A"],` + one, `serviceType="a"`, `serviceType="a"`, nil},
		"SuggestedOnPlan":   {"A plan says so itself.", plan(`"tags":["SuggestedPlan=true"]`), ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOnlyPlan": {"Of one plan, the service may say so.", `"tags":["SuggestedPlan=true"],` + one, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOfTwo":    {"Of two, it must say which.", `"tags":["SuggestedPlan=true"],` + two, ``, ``, []string{`service "db": its tag SuggestedPlan=true is left out: it has 2 plans; name one: SuggestedPlan=NAME`}},
		"SuggestedName":     {"And may.", `"tags":["SuggestedPlan=small"],` + two, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOther":    {"So this one is not.", `"tags":["SuggestedPlan=large"],` + two, ``, ``, nil},
		"SuggestedUnknown":  {"A plan that there is not.", `"tags":["SuggestedPlan=huge"],` + two, ``, ``, []string{`service "db": its tag SuggestedPlan=huge is left out: it has no plan of that name`}},
		"SuggestedTwice":    {"Which of two is meant, nobody knows.", `"plans":[{"id":"p","name":"small","tags":["SuggestedPlan=true"]},{"id":"q","name":"large","tags":["SuggestedPlan=true"]}]`, ``, ``, []string{`service "db": none of its plans is taken as suggested, because several are: small, large`}},
		"SuggestedPlanWins": {"What a plan says of itself comes first.", `"tags":["SuggestedPlan=large"],"plans":[{"id":"p","name":"small","tags":["SuggestedPlan=true"]},{"id":"q","name":"large"}]`, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedNot":      {"Also when it says no.", `"tags":["SuggestedPlan=small"],` + plan(`"tags":["SuggestedPlan=false"]`), ``, ``, nil},
		"SuggestedWrong":    {"A plan suggests no other.", plan(`"tags":["SuggestedPlan=large"]`), ``, ``, []string{`plan "small" of service "db": its tag SuggestedPlan=large is left out: on a plan it is true or false`}},
		"Attributes":        {"Attributes are labels.", `"tags":["Engine=8.0"],` + plan(`"tags":["Cores=4","Fast="]`), `labels/Engine="8.0"`, `labels/Cores="4" labels/Fast=""`, nil},
		"AttributeText":     {"Or annotations, where no label may be so.", plan(`"tags":["Use=for trying out"]`), ``, `annotations/Use="for trying out"`, nil},
		"AttributeName":     {"What has no lawful name was not meant as one.", `"tags":["see https://x/?a=b","=c"],` + one, ``, ``, nil},
		"AttributeTwice":    {"The first of a name stays.", plan(`"tags":["A=1","A=2"]`), ``, `labels/A="1"`, []string{`plan "small" of service "db": its attribute A=2 is left out: it has one of that name`}},
		"Defaults":          {"Defaults of both.", `"metadata":{"defaultProvisionParameters":{"a":1}},` + plan(`"metadata":{"defaultBindParameters":{"b":[1.50]}}`), `defaultProvisionParameters={"a":1}`, `defaultBindParameters={"b":[1.5]}`, nil},
		"DefaultsEmpty":     {"Nothing is no default.", `"metadata":{"defaultProvisionParameters":{},"defaultBindParameters":null,"defaultSecretTransforms":[]},` + one, ``, ``, nil},
		"DefaultsNoObject":  {"They are objects.", `"metadata":{"defaultProvisionParameters":[1]},` + one, ``, ``, []string{`service "db": its metadata.defaultProvisionParameters is left out: cannot decode parameters: they must be a JSON object`}},
		"Transforms":        {"In their order.", `"metadata":{"defaultSecretTransforms":[{"removeKey":{"key":"a"}},{"addKey":{"key":"b","stringValue":"c"}}]},` + one, `defaultSecretTransforms=[{"removeKey":{"key":"a"}},{"addKey":{"jsonPathExpression":null,"key":"b","stringValue":"c","value":null}}]`, ``, nil},
		"TransformsNoList":  {"They are a list.", `"metadata":{"defaultSecretTransforms":{"a":1}},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: it is not a list of transforms`}},
		"TransformSecret":   {"Others' Secrets are not a broker's to hand out.", `"metadata":{"defaultSecretTransforms":[{"addKeysFrom":{"secretRef":{"name":"x","namespace":"y"}}},{"removeKey":{"key":"a"}}]},` + one, `defaultSecretTransforms=[{"removeKey":{"key":"a"}}]`, ``, []string{`service "db": its metadata.defaultSecretTransforms[0] is left out: a broker may not suggest addKeysFrom`}},
		"TransformNone":     {"One with nothing in it.", `"metadata":{"defaultSecretTransforms":[{}]},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: entry 0 is not exactly one of renameKey, addKey and removeKey`}},
		"TransformKey":      {"One without a key.", `"metadata":{"defaultSecretTransforms":[{"removeKey":{}}]},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: entry 0 has a key that is empty, or longer than 253 characters`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, skipped := Wanted(Broker{Name: "b"}, catalogOf(t, `{"services":[{"id":"s","name":"db",`+tc.service+`}]}`))
			require.Len(t, objects.Classes, 1, tc.reason)
			want := strings.ReplaceAll(tc.class, `"jsonPathExpression":null,`, "")
			want = strings.ReplaceAll(want, `,"value":null`, "")
			got := strings.ReplaceAll(strings.ReplaceAll(say(objects.Classes[0].Suggestions), `"jsonPathExpression":null,`, ""), `,"value":null`, "")
			assert.Equal(t, want, got, tc.reason)
			assert.Equal(t, tc.plan, say(objects.Classes[0].Plans[0].Suggestions), tc.reason)
			var told []string
			for _, one := range skipped {
				told = append(told, one.String())
			}
			assert.Equal(t, tc.skipped, told, tc.reason)
		})
	}
}

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
		"Good":        {"Nothing is wrong.", service("a", "db", plans), "db:small", nil},
		"Empty":       {"No services are no fault.", ``, "", nil},
		"NoPlans":     {"A service has plans.", service("a", "db", `"plans":[]`) + "," + service("b", "mq", plans), "mq:small", []string{`service "db": it has no plans`}},
		"NoID":        {"And an ID.", service("", "db", plans), "", []string{`service "db": it has no id`}},
		"NoName":      {"And a name.", service("a", "", plans), "", []string{`service "a": it has no name; its id is "a"`}},
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
