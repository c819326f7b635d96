package webhook

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
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
			transformsOf(scope+"db-small", `[{"renameKey":{"from":"db-name","to":"database"}}]`), hasInstance("mydb", scope+"db-small", typed("mysql"))).env()
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
		assert.Empty(t, w.reviews.taken(), "no permission is checked")
		assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is decided once")
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
			w := stocked(t, db, edits...).env()
			stored := w.bindTo(spec).admitted()
			assert.Equal(t, tc.want, at(t, stored, "/spec/parameters"), tc.reason)
			want := v1beta1.AppliedDefaults{Rule: "instance", Class: "db", Plan: "small", From: tc.record.from, Removed: tc.record.removed}
			assert.Empty(t, cmp.Diff(want, recordOf(t, stored)), tc.reason)
			assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is decided once")
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
			w := stocked(t, db, edits...).env()
			stored := w.bindTo(spec + "}").admitted()
			got := "absent"
			if list := listAt(t, stored, "secretTransforms"); list != nil {
				got = marshal(t, list)
			}
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.layers, recordOf(t, stored).Transforms, tc.reason)
			assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is decided once")
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
				bindSchemaOf("db-small", countSchema), hasInstance("mydb", "db-small")).env()
			gatesOff(w, options.BindDefaults)
			if all {
				gatesOff(w, options.ServiceTypes, options.ParameterDefaults, options.SuggestedPlans, options.SchemaChecks)
			}
			o := w.bindTo(`{"instanceRef":{"name":"mydb"},"parameters":{"count":1},"secretTransforms":[{"removeKey":{"key":"own"}}]}`)
			stored := o.admitted()
			assert.JSONEq(t, `{"name":"db-small"}`, at(t, stored, "/spec/clusterServicePlanRef"))
			assert.Equal(t, `{"count":1}`, at(t, stored, "/spec/parameters"))
			assert.Equal(t, v1beta1.AppliedDefaults{Rule: "instance", Class: "db", Plan: "small"}, recordOf(t, stored))
			assert.Len(t, listAt(t, stored, "secretTransforms"), 1)
			assert.Empty(t, o.warnings())
			assert.Equal(t, all, w.bindTo(toMydb).denied() == nil, "schemas have a gate of their own")
		})
	}
}
