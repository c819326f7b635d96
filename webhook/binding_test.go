package webhook

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The worked example: the plan's user and the plan's name of a key, and a binding that wants another user.
func TestBindingWorkedExample(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"", "dev/"} {
		catalog, class, plan := db, "clusterServiceClassRef", "clusterServicePlanRef"
		if scope != "" {
			catalog, class, plan = inNamespace(db), "serviceClassRef", "servicePlanRef"
		}
		w := stocked(t, catalog, bindDefaultsOf(scope+"db-small", `{"user":"reader","tls":true}`),
			transformsOf(scope+"db-small", `[{"renameKey":{"from":"db-name","to":"database"}}]`), hasInstance("mydb", scope+"db-small", typed("mysql"))).world()
		o := w.bindTo(`{"instanceRef":{"name":"mydb"},"parameters":{"user":"admin"}}`)
		stored := o.admitted()
		id := at(t, stored, "/spec/externalID")
		assert.Len(t, id, 38, "a UUID in quotes")
		for pointer, want := range map[string]string{
			"/spec/" + class: `{"name":"db"}`, "/spec/" + plan: `{"name":"db-small"}`,
			"/spec/parameters":       `{"tls":true,"user":"admin"}`,
			"/spec/secretTransforms": `[{"renameKey":{"from":"db-name","to":"database"}}]`,
			"/spec/serviceType":      `"mysql"`,
			"/spec/secretName":       `"creds"`,
			"/spec/userInfo":         `{"extra":{"scope":["a"]},"groups":["devs"],"uid":"u-1","username":"alice"}`,
			"/metadata/finalizers":   `["kubernetes-incubator/service-catalog"]`,
			"/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id": id,
		} {
			assert.Equal(t, want, at(t, stored, pointer), pointer)
		}
		assert.Empty(t, cmp.Diff(v1beta1.AppliedDefaults{
			Rule: "instance", Class: "db", Plan: "small", From: map[string]string{"/tls": "plan"}, Transforms: []string{"plan"},
		}, recordOf(t, stored)))
		assert.Equal(t, []string{"defaults set tls", "defaults of plan db/small add 1 secret transforms"}, o.mutate.Warnings)
		assert.Equal(t, map[string]string{"rule": "instance", "plan": "db/small"}, o.mutate.AuditAnnotations)
		assert.Empty(t, o.validate.Warnings)
		assert.Empty(t, w.reviews.taken(), "nobody's rights are in question")
		assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is made whole once")
	}
}

// What is stored of a binding's parameters, and what is recorded of their defaults: class < plan < binding.
func TestBindingParameters(t *testing.T) {
	t.Parallel()
	type record struct {
		from    map[string]string
		removed []string
	}
	cases := map[string]struct {
		reason, class, plan, user, want string
		record                          record
	}{
		"ThreeLayers": {
			reason: "Objects merge by key, the binding over the plan over the class.",
			class:  `{"a":1,"b":1,"c":1,"o":{"x":1,"y":1}}`, plan: `{"b":2,"c":2,"o":{"y":2}}`, user: `{"c":3,"o":{"z":3}}`,
			want:   `{"a":1,"b":2,"c":3,"o":{"x":1,"y":2,"z":3}}`,
			record: record{from: map[string]string{"/a": "class", "/b": "plan", "/o/x": "class", "/o/y": "plan"}},
		},
		"NullOfTheBinding": {
			reason: "A null over a default stays, and is recorded.",
			plan:   `{"user":"reader","role":"r"}`, user: `{"user":null}`, want: `{"role":"r","user":null}`,
			record: record{from: map[string]string{"/role": "plan"}, removed: []string{"/user"}},
		},
		"NullOverNothing": {
			reason: "A null over nothing is sent as it is.", plan: `{"role":"r"}`, user: `{"user":null}`, want: `{"role":"r","user":null}`,
			record: record{from: map[string]string{"/role": "plan"}},
		},
		"NullOfThePlan": {
			reason: "A plan's null takes the class's default away.", class: `{"user":"reader","role":"r"}`, plan: `{"user":null}`, want: `{"role":"r"}`,
			record: record{from: map[string]string{"/role": "class"}},
		},
		"NoneOfTheBinding": {
			reason: "Without parameters there are the defaults.", class: `{"n":9007199254740993}`, want: `{"n":9007199254740993}`,
			record: record{from: map[string]string{"/n": "class"}},
		},
		"NoDefaults": {reason: "Without defaults there is what was written.", user: `{"z":1,"a":1.50}`, want: `{"a":1.50,"z":1}`},
		"Nothing":    {reason: "Nothing comes of nothing.", want: "absent"},
		"Keys": {
			reason: "A key is a key.", plan: `{"a/b":{"~":1},"":2}`, user: `{"a/b":{}}`, want: `{"":2,"a/b":{"~":1}}`,
			record: record{from: map[string]string{"/a~1b/~0": "plan", "/": "plan"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*stock)
			if tc.class != "" {
				edits = append(edits, bindDefaultsOf("db", tc.class))
			}
			if tc.plan != "" {
				edits = append(edits, bindDefaultsOf("db-small", tc.plan))
			}
			// The defaults for instances are none for bindings.
			edits = append(edits, planDefaults("db-small", `{"size":"P1"}`), hasInstance("mydb", "db-small"))
			spec := toMydb
			if tc.user != "" {
				spec = fmt.Sprintf(`{"instanceRef":{"name":"mydb"},"parameters":%s}`, tc.user)
			}
			w := stocked(t, db, edits...).world()
			stored := w.bindTo(spec).admitted()
			assert.Equal(t, tc.want, at(t, stored, "/spec/parameters"), tc.reason)
			want := v1beta1.AppliedDefaults{Rule: "instance", Class: "db", Plan: "small", From: tc.record.from, Removed: tc.record.removed}
			assert.Empty(t, cmp.Diff(want, recordOf(t, stored)), tc.reason)
			assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is made whole once")
		})
	}
}

// What is stored of a binding's transforms, and who gave each: class, plan, binding, in order.
func TestBindingTransforms(t *testing.T) {
	t.Parallel()
	rename := func(from, to string) string { return fmt.Sprintf(`{"renameKey":{"from":%q,"to":%q}}`, from, to) }
	cases := map[string]struct {
		reason, class, plan, user string
		none                      bool
		want                      string
		layers                    []string
	}{
		"Order": {
			reason: "Class, plan, binding.", class: rename("a", "1"), plan: rename("b", "2"), user: rename("c", "3"),
			want: "[" + rename("a", "1") + "," + rename("b", "2") + "," + rename("c", "3") + "]", layers: []string{"class", "plan", "user"},
		},
		"SameTarget": {
			reason: "A later one on the same target takes the place of the earlier.", class: rename("a", "1") + "," + rename("z", "9"), plan: rename("a", "2"), user: rename("a", "3"),
			want: "[" + rename("a", "3") + "," + rename("z", "9") + "]", layers: []string{"user", "class"},
		},
		"AllReplaced": {
			reason: "Where the binding replaces every default, there is no default to record.", plan: rename("a", "2"), user: rename("a", "3") + "," + rename("b", "4"),
			want: "[" + rename("a", "3") + "," + rename("b", "4") + "]",
		},
		"None": {
			reason: "None ignores what class and plan give.", class: rename("a", "1"), plan: rename("b", "2"), user: rename("c", "3"), none: true,
			want: "[" + rename("c", "3") + "]",
		},
		"NoneAndNothing": {reason: "Also where the binding has none of its own.", plan: rename("b", "2"), none: true, want: "absent"},
		"NoDefaults":     {reason: "Without defaults the list is what it was.", user: rename("c", "3"), want: "[" + rename("c", "3") + "]"},
		"AllKinds": {
			reason: "Each kind is carried whole.", plan: `{"addKey":{"key":"k","stringValue":"` + canary + `"}},{"removeKey":{"key":"r"}}`, user: `{"addKey":{"key":"v","value":"AAE="}}`,
			want:   `[{"addKey":{"key":"k","stringValue":"` + canary + `"}},{"removeKey":{"key":"r"}},{"addKey":{"key":"v","value":"AAE="}}]`,
			layers: []string{"plan", "plan", "user"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edits := []func(*stock){transformsOf("db", "["+tc.class+"]"), transformsOf("db-small", "["+tc.plan+"]"), hasInstance("mydb", "db-small")}
			spec := `{"instanceRef":{"name":"mydb"},"secretTransforms":[` + tc.user + `]`
			if tc.user == "" {
				spec = `{"instanceRef":{"name":"mydb"}`
			}
			if tc.none {
				spec += `,"secretTransformDefaults":"None"`
			}
			w := stocked(t, db, edits...).world()
			stored := w.bindTo(spec + "}").admitted()
			got := "absent"
			if list := listAt(t, stored, "secretTransforms"); list != nil {
				got = marshal(t, list)
			}
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.layers, recordOf(t, stored).Transforms, tc.reason)
			assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is made whole once")
		})
	}
}

// With a gate off, a binding is decided all the same.
func TestBindingGatesOff(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"BindDefaults": false, "All": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, bindDefaultsOf("db-small", `{"user":"reader"}`), transformsOf("db-small", `[{"removeKey":{"key":"r"}}]`),
				bindSchemaOf("db-small", countSchema), hasInstance("mydb", "db-small")).world()
			gatesOff(w, BindDefaults)
			if all {
				gatesOff(w, ServiceTypes, ParameterDefaults, SuggestedPlans, SchemaChecks)
			}
			o := w.bindTo(`{"instanceRef":{"name":"mydb"},"parameters":{"count":1},"secretTransforms":[{"removeKey":{"key":"own"}}]}`)
			stored := o.admitted()
			assert.Equal(t, `{"name":"db-small"}`, at(t, stored, "/spec/clusterServicePlanRef"))
			assert.Equal(t, `{"count":1}`, at(t, stored, "/spec/parameters"))
			assert.Equal(t, v1beta1.AppliedDefaults{Rule: "instance", Class: "db", Plan: "small"}, recordOf(t, stored))
			assert.Len(t, listAt(t, stored, "secretTransforms"), 1)
			assert.Empty(t, o.warnings())
			assert.Equal(t, all, w.bindTo(toMydb).denied() == nil, "schemas have a gate of their own")
		})
	}
}

// What a binding is decided on is what its instance is, whatever the cache has seen of it.
func TestBindingToInstance(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingInstanceCases())
}

func bindingInstanceCases() map[string]bindingCase {
	const waits = "no plan is decided yet: instance \"mydb\" %s; the binding waits"
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	bindable := func(broker string, class bool, plan *bool) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){hasInstance("mydb", at+"db-small"), listedBy(broker, class), func(s *stock) { s.plan(at + "db-small").Bindable = plan }}
		}
	}
	yes, no := true, false
	return map[string]bindingCase{
		"Cached": {reason: "The cache knows the instance.", spec: toMydb, plan: "db-small"},
		"JustCreated": {
			reason: "The instance was stored a moment ago: the cache has not seen it.", spec: toMydb, behind: nothing, plan: "db-small",
		},
		"JustDecided": {
			reason: "The cache has seen it only before it was decided.", spec: toMydb, plan: "db-small",
			behind: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "")} },
		},
		"JustReplaced": {
			reason: "The cache still shows the instance that was deleted, and there is another of its name.", spec: toMydb, plan: "db-large",
			edits:  func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-large")} },
			behind: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"JustDeleted": {
			reason: "A plan that the cache has lost and the API server has is a plan.", spec: toMydb, plan: "db-small",
			behind: func(at string) []func(*stock) {
				return []func(*stock){uncatalogued, hasInstance("mydb", at+"db-small")}
			},
		},
		"Absent":    {reason: "The instance may come later.", spec: toMydb, edits: nothing, warnings: []string{fmt.Sprintf(waits, "does not exist yet")}},
		"Undecided": {reason: "Or its plan.", spec: toMydb, edits: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "")} }, warnings: []string{fmt.Sprintf(waits, "has no plan yet")}},
		"PlanGone": {
			reason: "A plan object that is gone gives no defaults and no answers.", spec: toMydb, warnings: []string{fmt.Sprintf(waits, "is of a plan that is gone")},
			edits: func(at string) []func(*stock) {
				return []func(*stock){uncatalogued, hasInstance("mydb", at+"db-small")}
			},
		},
		"PlanRemoved": {
			reason: "A plan that its broker offers no more is that of its instances still.", spec: toMydb, plan: "db-small",
			edits: func(at string) []func(*stock) {
				return []func(*stock){removed("db-small"), removed("db"), hasInstance("mydb", at+"db-small")}
			},
		},
		"AskedTooOften": {
			reason: "Over the limit the cache decides: that which it lacks is waited for.", spec: toMydb, behind: nothing, adjust: exhaust,
			warnings: []string{fmt.Sprintf(waits, "does not exist yet")},
		},
		"Deleting": {
			reason: "An instance that is being deleted takes no binding.", spec: toMydb, denied: "InstanceDeleting",
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"DeletingUndecided": {
			reason: "Nor does one that was never decided.", spec: toMydb, denied: "InstanceDeleting",
			edits: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "", ending)} },
		},
		"DeletingAskedTooOften": {
			reason: "Over the limit the refusal says that it is the cache's.", spec: toMydb, denied: "InstanceDeleting", adjust: exhaust,
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"ClassNotBindable":    {reason: "The class says that it cannot be bound to.", spec: toMydb, edits: bindable("broker", false, nil), denied: "NotBindable"},
		"ClassBindable":       {reason: "Or that it can.", spec: toMydb, edits: bindable("broker", true, nil), plan: "db-small"},
		"PlanNotBindable":     {reason: "The plan has the last word.", spec: toMydb, edits: bindable("broker", true, &no), denied: "NotBindable"},
		"PlanBindable":        {reason: "In both directions.", spec: toMydb, edits: bindable("broker", false, &yes), plan: "db-small"},
		"PartialClass":        {reason: "A class that no broker has listed does not say.", spec: toMydb, edits: bindable("", false, nil), plan: "db-small"},
		"PartialClassAndPlan": {reason: "Its plan may.", spec: toMydb, edits: bindable("", false, &no), denied: "NotBindable"},
	}
}

// listedBy is what a broker says of every class, "" where none has listed it.
func listedBy(broker string, bindable bool) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			switch class := object.(type) {
			case *v1beta1.ClusterServiceClass:
				class.Spec.ClusterServiceBrokerName, class.Spec.Bindable = broker, bindable
			case *v1beta1.ServiceClass:
				class.Spec.ServiceBrokerName, class.Spec.Bindable = broker, bindable
			}
		}
	}
}

// What a binding says of its type, class and plan describes its instance.
func TestBindingDescribesItsInstance(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingDescriptionCases())
}

func bindingDescriptionCases() map[string]bindingCase {
	mysql := func(at string) []func(*stock) {
		return []func(*stock){hasInstance("mydb", at+"db-small", typed("mysql"))}
	}
	with := func(members string) string { return `{"instanceRef":{"name":"mydb"},` + members + `}` }
	return map[string]bindingCase{
		"TypeFilled":     {reason: "The instance's type is filled in.", edits: mysql, spec: toMydb, plan: "db-small", want: `{"serviceType":"mysql"}`},
		"TypeNotFilled":  {reason: "An instance that was asked for by name has none.", spec: toMydb, plan: "db-small"},
		"TypeAgrees":     {reason: "The same type may be written.", edits: mysql, spec: with(`"serviceType":"mysql"`), plan: "db-small"},
		"TypeOfThePlan":  {reason: "Also where only the plan has it.", spec: with(`"serviceType":"mysql"`), plan: "db-small"},
		"OtherType":      {reason: "Another is refused.", edits: mysql, spec: with(`"serviceType":"redis"`), denied: "TypeMismatch"},
		"OtherThanPlans": {reason: "Also where only the plan has one.", spec: with(`"serviceType":"redis"`), denied: "TypeMismatch"},
		"NoType": {
			reason: "Where no one has a type, any may be written.", catalog: "db: small", spec: with(`"serviceType":"redis"`), plan: "db-small",
		},
		"OtherTypeOfUndecided": {
			reason: "What is not decided yet cannot disagree.", spec: with(`"serviceType":"redis"`),
			edits:    func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "", typed("mysql"))} },
			warnings: []string{`no plan is decided yet: instance "mydb" has no plan yet; the binding waits`},
		},
		"NamesAgree":  {reason: "Class and plan may be named.", spec: with(`"clusterServiceClassExternalName":"db","clusterServicePlanName":"db-small"`), plan: "db-small"},
		"OtherPlan":   {reason: "Others are refused.", spec: with(`"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"`), denied: "Disagreement"},
		"OtherClass":  {reason: "Of either kind.", spec: with(`"clusterServiceClassExternalID":"id-other"`), denied: "Disagreement"},
		"OtherScope":  {reason: "And of the other scope.", spec: with(`"serviceClassExternalName":"db"`), denied: "Disagreement", scope: onlyCluster},
		"TwoOfAClass": {reason: "Names that contradict each other are refused.", spec: with(`"clusterServiceClassExternalName":"db","clusterServiceClassName":"db"`), denied: "InvalidReference"},
	}
}

// What a binding cannot have yet is refused, and says so.
func TestBindingNotServed(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingNotServedCases())
}

func bindingNotServedCases() map[string]bindingCase {
	with := func(members string) string { return `{"instanceRef":{"name":"mydb"},` + members + `}` }
	return map[string]bindingCase{
		"NoInstance":          {reason: "A dedicated instance is not made yet.", spec: `{"serviceType":"mysql"}`, denied: "NoInstance", scope: onlyCluster},
		"NothingAtAll":        {reason: "Nothing is no instance either.", spec: `{}`, denied: "NoInstance", scope: onlyCluster},
		"NullInstance":        {reason: "Nor is null.", spec: `{"instanceRef":null}`, denied: "NoInstance", scope: onlyCluster},
		"NoInstanceWithPlan":  {reason: "Nor a plan by name.", spec: byName, denied: "NoInstance", scope: onlyCluster},
		"NoInstanceButRefs":   {reason: "Nor references.", spec: `{"externalID":"e-1",` + bindRefs + `}`, denied: "NoInstance", scope: onlyCluster},
		"OtherNamespace":      {reason: "Nor an instance from elsewhere, though there is one of that name here.", spec: `{"instanceRef":{"name":"mydb","namespace":"prod"}}`, denied: "OtherNamespace", scope: onlyCluster},
		"OwnNamespace":        {reason: "The binding's own namespace may be written.", spec: `{"instanceRef":{"name":"mydb","namespace":"dev"}}`, plan: "db-small"},
		"ServiceName":         {reason: "No Service is made yet.", spec: with(`"serviceName":"mydb"`), denied: "NotServed", scope: onlyCluster},
		"ProvisionParameters": {reason: "They would be lost.", spec: with(`"provisionParameters":{"size":"` + canary + `"}`), denied: "NotServed", scope: onlyCluster},
		"NoParameters":        {reason: "A typed client's null is nothing.", spec: with(`"provisionParameters":null,"planSelector":null,"serviceName":""`), plan: "db-small"},
		"Selector":            {reason: "So would a selector.", spec: with(`"planSelector":{"matchLabels":{"a":"b"}}`), denied: "NotServed", scope: onlyCluster},
	}
}

// A live read is only made where the cache cannot answer.
func TestBindingReads(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, bindDefaultsOf("db-small", `{"user":"reader"}`), hasInstance("mydb", "db-small")).world()
	w.clock.SetTime(founded.Add(time.Second))
	w.bindTo(toMydb).admitted()
	assert.Empty(t, w.live.taken(), "all is in the cache")
	w.cached.show(stocked(t, db))
	w.bindTo(toMydb).admitted()
	once := []string{"get ServiceInstance dev/mydb", "get ClusterServicePlan /db-small", "get ClusterServiceClass /db"}
	assert.Equal(t, append(once, once...), w.live.taken(), "once for each half")
}
