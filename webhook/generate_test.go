package webhook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A generator makes catalogs and writes up, the same ones for the same seeds.
type generator struct {
	*rand.Rand

	tb testing.TB
}

func newGenerator(tb testing.TB, seed, stream uint64) generator {
	tb.Helper()
	return generator{rand.New(rand.NewPCG(seed, stream)), tb}
}

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) maybe(percent int, text string) string {
	if g.IntN(100) < percent {
		return text
	}
	return ""
}

// catalog is a text for resolvetest.Catalog.
func (g generator) catalog() string {
	var text strings.Builder
	for i := range 1 + g.IntN(4) {
		scope := g.one("", "", "dev|", "dev|", "elsewhere|")
		fmt.Fprintf(&text, "%s%s%s@c%d%s%s:", scope, g.one("", "mysql/", "mysql/", "redis/"), g.one("db", "cache"), i, g.maybe(20, "{tier=gold,zone=a}"), g.maybe(5, "!"))
		for j := range g.IntN(4) {
			name := fmt.Sprintf("%s@c%d-p%d", g.one("small", "large"), i, j)
			marks := g.maybe(20, "<mysql>") + g.maybe(20, "*") + g.maybe(20, "?") + g.maybe(10, "!") + g.maybe(30, "=7") + g.maybe(30, "{tier=lead}")
			text.WriteString(" " + name + marks)
		}
		text.WriteString("\n")
	}
	for _, record := range []string{"mysql", "redis", "dev|mysql"} {
		text.WriteString(g.maybe(30, fmt.Sprintf("record %s c%d-p%d\n", record, g.IntN(3), g.IntN(3))))
	}
	return text.String()
}

// defaults gives random parameters to random classes and plans.
func (g generator) defaults(s *stock) {
	for _, object := range s.objects {
		defaults := marshal(s.tb, g.object(3))
		switch {
		case g.IntN(3) == 0:
		case isPlan(object):
			planSpec(object).DefaultProvisionParameters = rawExtension(defaults)
		case isClass(object):
			name := object.GetName()
			if object.GetNamespace() != "" {
				name = object.GetNamespace() + "/" + name
			}
			s.class(name).DefaultProvisionParameters = rawExtension(defaults)
		}
	}
}

func (g generator) object(depth int) map[string]any {
	object := map[string]any{}
	for range g.IntN(4) {
		object[g.one("a", "b", "c", "a/b", "a~b", "ключ", "")] = g.value(depth - 1)
	}
	return object
}

func (g generator) value(depth int) any {
	switch n := g.IntN(10); {
	case n < 4 && depth > 0:
		return g.object(depth)
	case n == 4:
		return nil
	case n == 5:
		return []any{g.IntN(9), nil, map[string]any{}}
	case n == 6:
		return json.Number("9007199254740993")
	case n == 7:
		return g.IntN(2) == 0
	default:
		return g.one("", "x", "<&>")
	}
}

// spec is that of a write; most name something that there may be.
func (g generator) spec() string {
	members := map[string]any{}
	scope := g.one("clusterService", "clusterService", "service")
	class := func() {
		members[scope+g.one("ClassExternalName", "ClassName", "ClassExternalID")] = g.one("db", "cache", "c0", "c1", "id-db")
	}
	plan := func() {
		members[scope+g.one("PlanExternalName", "PlanName", "PlanExternalID")] = g.one("small", "large", "c0-p0", "c1-p1", "id-small")
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		members["serviceType"] = g.one("mysql", "redis", "nope")
	case 3, 4:
		class()
	case 5, 6:
		class()
		plan()
	case 7:
		members["planSelector"] = map[string]any{"matchLabels": map[string]any{"tier": g.one("gold", "lead")}}
	case 8:
		members["planSelector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": "tier", "operator": g.one("Exists", "DoesNotExist")}}}
	}
	if g.IntN(4) == 0 {
		class()
	}
	if g.IntN(5) == 0 {
		members["serviceType"] = "mysql"
	}
	if g.IntN(10) == 0 {
		members[scope+"ClassRef"], members[scope+"PlanRef"] = map[string]any{"name": "c0"}, map[string]any{"name": "c0-p0"}
		members["externalID"] = g.one("", "e-1")
	}
	if g.IntN(3) > 0 {
		members["parameters"] = g.object(3)
	}
	return marshal(g.tb, members)
}

func (g generator) env() *env { return stocked(g.tb, g.catalog(), g.defaults).env() }

func marshal(tb testing.TB, value any) string {
	tb.Helper()
	text, err := json.Marshal(value)
	require.NoError(tb, err)
	return string(text)
}

// bindingSpec is that of a write of a binding to one of the instances of bindingStock.
func (g generator) bindingSpec() string {
	members := map[string]any{"instanceRef": map[string]any{"name": g.one("mydb", "mydb", "mydb", "owndb", "waits", "absent")}}
	if g.IntN(3) > 0 {
		members["parameters"] = g.object(3)
	}
	if g.IntN(3) == 0 {
		members["secretTransforms"] = g.transforms()
	}
	if g.IntN(5) == 0 {
		members["secretTransformDefaults"] = g.one("None", "")
	}
	if g.IntN(5) == 0 {
		members["serviceType"] = g.one("mysql", "mysql", "redis", "")
	}
	if g.IntN(6) == 0 {
		members["secretName"] = g.one("creds", "other", "extra", "")
	}
	if g.IntN(8) == 0 {
		members[g.one("clusterServiceClassName", "serviceClassName", "clusterServicePlanName")] = g.one("c0", "c1", "c0-p0", "")
	}
	if g.IntN(10) == 0 {
		members["clusterServiceClassRef"], members["clusterServicePlanRef"] = map[string]any{"name": "c0"}, map[string]any{"name": "c0-p0"}
	}
	if g.IntN(6) == 0 {
		members["externalID"] = g.one("", "e-1")
	}
	if g.IntN(12) == 0 {
		members["parametersFrom"] = []any{map[string]any{"secretKeyRef": map[string]any{"name": g.one("creds", "more"), "key": "k"}}}
	}
	if g.IntN(15) == 0 {
		members[g.one("serviceName", "planSelector", "provisionParameters", "userInfo")] = nil
	}
	return marshal(g.tb, members)
}

func (g generator) transforms() []any {
	list := []any{}
	for range g.IntN(4) {
		switch g.IntN(4) {
		case 0:
			list = append(list, map[string]any{"renameKey": map[string]any{"from": g.one("a", "b"), "to": g.one("c", "d")}})
		case 1:
			list = append(list, map[string]any{"addKey": map[string]any{"key": g.one("a", "b"), "stringValue": canary}})
		case 2:
			list = append(list, map[string]any{"removeKey": map[string]any{"key": g.one("a", "b")}})
		default:
			secret := map[string]any{"name": g.one("extra", "creds")}
			if g.IntN(2) == 0 {
				secret["namespace"] = g.one("infra", "dev")
			}
			list = append(list, map[string]any{"addKeysFrom": map[string]any{"secretRef": secret}})
		}
	}
	return list
}

// bindingStock is a catalog with instances, other bindings and policies.
func (g generator) bindingStock() *stock {
	s := stocked(g.tb, g.catalog(), g.defaults)
	for _, object := range s.objects {
		if !isPlan(object) && !isClass(object) {
			continue
		}
		name := object.GetName()
		if object.GetNamespace() != "" {
			name = object.GetNamespace() + "/" + name
		}
		if g.IntN(2) == 0 {
			bindDefaultsOf(name, marshal(g.tb, g.object(3)))(s)
		}
		if g.IntN(3) == 0 {
			transformsOf(name, marshal(g.tb, g.transforms()))(s)
		}
		if isPlan(object) && g.IntN(6) == 0 {
			bindSchemaOf(name, g.one(`{"properties":{"a":{"type":"object"}}}`, `{"required":["b"]}`, `{"type":7}`))(s)
		}
	}
	for _, edit := range []func(*stock){
		hasInstance("mydb", g.one("c0-p0", "c0-p1", "c1-p0"), typed(g.one("", "mysql"))), hasInstance("owndb", "dev/"+g.one("c0-p0", "c1-p0", "c2-p0")),
		hasInstance("waits", ""), hasBinding("other"), hasNamespace("dev", "team", "a"),
	} {
		edit(s)
	}
	if g.IntN(4) == 0 {
		ruled(g.one("bind-deny x type=mysql", "deny y plan=small", "bind-allow z instance=dev/mydb in=qa", "bind-deny v ilabel=a:b"))(s)
	}
	return s
}
