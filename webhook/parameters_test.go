package webhook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What is stored of parameters, and what is recorded of their defaults.
func TestParameters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 253)

	type record struct {
		from    map[string]string
		removed []string
	}
	cases := map[string]struct {
		reason      string
		class, plan string // default parameters
		user        string // the member of spec, as the user wrote it; "" for none
		want        string
		record      record
	}{
		"TheProposal": {
			reason: "The worked example: the user's location, the plan's size, the class's rules.",
			class:  `{"firewallRules":[{"name":"AllowAll"}],"location":"eastus"}`, plan: `{"size":"P1"}`,
			user: `{"location":"westus"}`, want: `{"firewallRules":[{"name":"AllowAll"}],"location":"westus","size":"P1"}`,
			record: record{from: map[string]string{"/firewallRules": "class", "/size": "plan"}},
		},
		"BigInteger": {
			reason: "64 bits survive, in a default and beside one.",
			plan:   `{"d":9007199254740993}`, user: `{"u":9007199254740993}`, want: `{"d":9007199254740993,"u":9007199254740993}`,
			record: record{from: map[string]string{"/d": "plan"}},
		},
		"NumberText": {
			reason: "The text of a number is not rounded.",
			plan:   `{"d":1.50,"e":1E400}`, user: `{"u":0.1000}`, want: `{"d":1.50,"e":1E400,"u":0.1000}`,
			record: record{from: map[string]string{"/d": "plan", "/e": "plan"}},
		},
		"EmptyValuesOfTheUser": {
			reason: "Empty is a value: none of them is overwritten.",
			plan:   `{"o":{"x":1},"a":[1],"s":"x","b":true,"n":5}`, user: `{"o":{},"a":[],"s":"","b":false,"n":0}`,
			want:   `{"a":[],"b":false,"n":0,"o":{"x":1},"s":""}`,
			record: record{from: map[string]string{"/o/x": "plan"}},
		},
		"EmptyValuesAsDefaults": {
			reason: "Empty is a default as well.",
			plan:   `{"o":{},"a":[],"s":"","b":false,"n":0}`, user: `{}`, want: `{"a":[],"b":false,"n":0,"o":{},"s":""}`,
			record: record{from: map[string]string{"/o": "plan", "/a": "plan", "/s": "plan", "/b": "plan", "/n": "plan"}},
		},
		"NullOverDefault": {
			reason: "The null stays in spec, and it is recorded what it took away.",
			plan:   `{"size":"P1","x":1}`, user: `{"size":null}`, want: `{"size":null,"x":1}`,
			record: record{from: map[string]string{"/x": "plan"}, removed: []string{"/size"}},
		},
		"NullOverNothing": {
			reason: "A null over nothing is a value.",
			plan:   `{"x":1}`, user: `{"size":null}`, want: `{"size":null,"x":1}`,
			record: record{from: map[string]string{"/x": "plan"}},
		},
		"NestedNulls": {
			reason: "The rule holds at every depth.",
			class:  `{"a":{"b":{"c":1,"d":2}}}`, plan: `{"a":{"b":{"d":null,"e":3}}}`,
			user:   `{"a":{"b":{"c":null,"z":null}}}`,
			want:   `{"a":{"b":{"c":null,"e":3,"z":null}}}`,
			record: record{from: map[string]string{"/a/b/e": "plan"}, removed: []string{"/a/b/c"}},
		},
		"NullOfThePlanOverTheClass": {
			reason: "A default's null takes a lower default away without a trace.",
			class:  `{"a":1,"b":2}`, plan: `{"a":null}`, user: `{}`, want: `{"b":2}`,
			record: record{from: map[string]string{"/b": "class"}},
		},
		"KeysToEscape": {
			reason: "A key is a key, whatever it is made of.",
			plan:   `{"a/b":1,"a~b":2,"~1":3,"":4,"ключ ☃":5,"` + long + `":6,"quote\"\\":7}`, user: `{"other":{}}`,
			want: `{"":4,"a/b":1,"a~b":2,"` + long + `":6,"other":{},"quote\"\\":7,"~1":3,"ключ ☃":5}`,
			record: record{from: map[string]string{
				"/a~1b": "plan", "/a~0b": "plan", "/~01": "plan", "/": "plan", "/ключ ☃": "plan", "/" + long: "plan", `/quote"\`: "plan",
			}},
		},
		"EscapedKeysBelowTheUsers": {
			reason: "The way to an added key may have to be escaped too.",
			plan:   `{"a/b":{"c~d":{"e/f":1}}}`, user: `{"a/b":{"c~d":{}}}`, want: `{"a/b":{"c~d":{"e/f":1}}}`,
			record: record{from: map[string]string{"/a~1b/c~0d/e~1f": "plan"}},
		},
		"BelowTheEmptyKey": {
			reason: "A key may be empty, also on the way to another.",
			plan:   `{"":{"":{"a":1}}}`, user: `{"":{"":{}}}`, want: `{"":{"":{"a":1}}}`,
			record: record{from: map[string]string{"///a": "plan"}},
		},
		"ObjectOverScalarAndBack": {
			reason: "Only objects merge: anything else is replaced whole.",
			class:  `{"a":1,"b":{"x":1},"c":[1,2]}`, plan: `{"a":{"y":1},"b":2,"c":{"z":1}}`, user: `{"a":3,"b":{"w":1},"c":[3]}`,
			want:   `{"a":3,"b":{"w":1},"c":[3]}`,
			record: record{},
		},
		"Absent": {
			reason: "Who has no parameters gets the defaults.",
			plan:   `{"size":"P1"}`, want: `{"size":"P1"}`, record: record{from: map[string]string{"/size": "plan"}},
		},
		"Null": {
			reason: "Typed clients send null for none.",
			plan:   `{"size":"P1"}`, user: `null`, want: `{"size":"P1"}`, record: record{from: map[string]string{"/size": "plan"}},
		},
		"Empty": {
			reason: "An empty object is there already, and defaults are added to it.",
			plan:   `{"size":"P1"}`, user: `{}`, want: `{"size":"P1"}`, record: record{from: map[string]string{"/size": "plan"}},
		},
		"AbsentWithoutDefaults": {reason: "Nothing comes of nothing.", want: "absent"},
		"EmptyWithoutDefaults":  {reason: "What is empty stays empty.", user: `{}`, want: `{}`},
		"NullWithoutDefaults":   {reason: "What is null stays null: there is nothing to add.", user: `null`, want: `null`},
		"ArraysAreWhole": {
			reason: "Lists are not merged: a diff would show them for ever.",
			plan:   `{"l":[{"a":1}]}`, user: `{"l":[{"b":2}]}`, want: `{"l":[{"b":2}]}`,
		},
		"Markup": {
			reason: "Nothing is escaped that was not.",
			plan:   `{"q":"a<b>&c\u2028"}`, user: `{"u":"<&>"}`, want: `{"q":"a<b>&c\u2028","u":"<&>"}`,
			record: record{from: map[string]string{"/q": "plan"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*stock)
			if tc.class != "" {
				edits = append(edits, classDefaults("db", tc.class))
			}
			if tc.plan != "" {
				edits = append(edits, planDefaults("db-small", tc.plan))
			}
			spec := `{"serviceType":"mysql"}`
			if tc.user != "" {
				spec = fmt.Sprintf(`{"serviceType":"mysql","parameters":%s}`, tc.user)
			}
			w := stocked(t, "mysql/db: small*", edits...).env()
			stored := w.created(spec)
			assert.Equal(t, tc.want, at(t, stored, "/spec/parameters"), tc.reason)
			want := v1beta1.AppliedDefaults{Rule: "cluster-default", Class: "db", Plan: "small", From: tc.record.from, Removed: tc.record.removed}
			assert.Empty(t, cmp.Diff(want, recordOf(t, stored)), tc.reason)
			assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is decided once")
		})
	}
}

// An update that leaves the parameters out drops what its user wrote, and keeps the defaults. What has parameters, be they
// empty, says all; it is told which defaults it drops.
func TestDefaultsOfAnUpdate(t *testing.T) {
	t.Parallel()
	const (
		kept    = "spec.parameters is left out, which drops only your own; a null drops a default, parameters: {} drops them all; kept: net/vlan (class), size (plan)"
		dropped = "this update drops defaults, and none is applied again; to keep them, write them out, or patch only what changes; dropped: "
	)
	both := map[string]string{"/net/vlan": "class", "/size": "plan"}
	for name, tc := range map[string]struct {
		reason string
		// write is a merge patch over the stored object; put is a whole spec instead.
		write, put string
		want       string
		from       map[string]string
		warned     string
	}{
		"ClientSideApply": {reason: "what kubectl apply sends for a manifest whose last parameter went", write: `{"spec":{"parameters":null}}`, want: `{"net":{"vlan":1},"size":"P1"}`, from: both, warned: kept},
		"Put":             {reason: "a manifest without parameters", put: `{"serviceType":"mysql"}`, want: `{"net":{"vlan":1},"size":"P1"}`, from: both, warned: kept},
		"PutNull":         {reason: "a null is no value", put: `{"serviceType":"mysql","parameters":null}`, want: `{"net":{"vlan":1},"size":"P1"}`, from: both, warned: kept},
		"OldClient":       {reason: "with the decision it leaves the defaults as they were", put: `{}`, want: `{"net":{"vlan":1},"size":"P1"}`, from: both, warned: kept},
		"Empty":           {reason: "an explicit empty value", put: `{"serviceType":"mysql","parameters":{}}`, want: `{}`, warned: dropped + "net/vlan (class), size (plan)"},
		"PutOwn":          {reason: "a manifest with parameters: what it means to keep is unknown", put: `{"serviceType":"mysql","parameters":{"user":1}}`, want: `{"user":1}`, warned: dropped + "net/vlan (class), size (plan)"},
		"PutHalf":         {reason: "only what is gone is told", put: `{"serviceType":"mysql","parameters":{"size":"P1"}}`, want: `{"size":"P1"}`, from: map[string]string{"/size": "plan"}, warned: dropped + "net/vlan (class)"},
		"NullOver":        {reason: "a null in its place is the user's word", put: `{"serviceType":"mysql","parameters":{"size":null,"net":{"vlan":1}}}`, want: `{"size":null,"net":{"vlan":1}}`, from: map[string]string{"/net/vlan": "class"}},
		"ValueOver":       {reason: "so is a value where an object was", put: `{"serviceType":"mysql","parameters":{"size":"P1","net":7}}`, want: `{"size":"P1","net":7}`, from: map[string]string{"/size": "plan"}},
		"OwnGone":         {reason: "nothing of a default goes", write: `{"spec":{"parameters":{"user":null}}}`, want: `{"net":{"mtu":1400,"vlan":1},"zone":null,"size":"P1"}`, from: both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "mysql/db: small*", classDefaults("db", `{"net":{"vlan":1},"zone":"a"}`), planDefaults("db-small", `{"size":"P1"}`)).env()
			stored := w.created(`{"serviceType":"mysql","parameters":{"user":1,"net":{"mtu":1400},"zone":null}}`)
			w.restock(stocked(t, "mysql/db: small*", planDefaults("db-small", `{"size":"other"}`)))
			written := stored
			if tc.write != "" {
				written = changed(t, stored, tc.write)
			}
			if tc.put != "" {
				written = instanceOf(tc.put)
			}
			o := w.write(written, stored)
			got := o.admitted()
			assert.JSONEq(t, tc.want, at(t, got, "/spec/parameters"), tc.reason)
			record := recordOf(t, got)
			if tc.from == nil {
				tc.from = record.From
				assert.Empty(t, record.From, tc.reason)
			}
			assert.Equal(t, tc.from, record.From, tc.reason)
			told := slices.DeleteFunc(o.warnings(), func(text string) bool { return !strings.Contains(text, "default") })
			if tc.warned == "" {
				assert.Empty(t, told, tc.reason)
			} else {
				assert.Equal(t, []string{tc.warned}, told, tc.reason)
			}
			again := w.write(written, got)
			assert.JSONEq(t, at(t, got, "/spec"), at(t, again.admitted(), "/spec"), "the same write again")
		})
	}
}

// What the user changes is the user's: the record forgets it.
func TestAppliedDefaultsFollowTheUser(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		patch   string
		from    map[string]string
		removed []string
	}{
		"ValueChanged":  {"A changed value is no default.", `{"spec":{"parameters":{"size":"P2"}}}`, map[string]string{"/net/vlan": "class"}, []string{"/zone"}},
		"ValueDropped":  {"Neither is one that is gone.", `{"spec":{"parameters":{"net":null}}}`, map[string]string{"/size": "plan"}, []string{"/zone"}},
		"OtherChanged":  {"Everything else stays as it was.", `{"spec":{"parameters":{"user":2}}}`, map[string]string{"/net/vlan": "class", "/size": "plan"}, []string{"/zone"}},
		"NullAnswered":  {"A null that has got a value took nothing away.", `{"spec":{"parameters":{"zone":"b"}}}`, map[string]string{"/net/vlan": "class", "/size": "plan"}, nil},
		"AllDropped":    {"Parameters are the user's to drop, and stay dropped.", `{"spec":{"parameters":{"user":null,"net":null,"zone":null,"size":null}}}`, nil, nil},
		"NothingAtAll":  {"A write that changes nothing changes no record.", `{}`, map[string]string{"/net/vlan": "class", "/size": "plan"}, []string{"/zone"}},
		"RecordEdited":  {"A user's edit of the record is undone.", `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{}"}}}`, map[string]string{"/net/vlan": "class", "/size": "plan"}, []string{"/zone"}},
		"RecordRemoved": {"So is its removal.", `{"metadata":{"annotations":null}}`, map[string]string{"/net/vlan": "class", "/size": "plan"}, []string{"/zone"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "mysql/db: small*", classDefaults("db", `{"net":{"vlan":1},"zone":"a"}`), planDefaults("db-small", `{"size":"P1"}`)).env()
			stored := w.created(`{"serviceType":"mysql","parameters":{"user":1,"net":{"mtu":1400},"zone":null}}`)
			written := changed(t, stored, tc.patch)
			got := w.write(written, stored).admitted()
			want := v1beta1.AppliedDefaults{Rule: "cluster-default", Class: "db", Plan: "small", From: tc.from, Removed: tc.removed}
			assert.Empty(t, cmp.Diff(want, recordOf(t, got)), tc.reason)
			assert.Equal(t, at(t, written, "/spec"), at(t, got, "/spec"), "spec is stored as written")
		})
	}
}
