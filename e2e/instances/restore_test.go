package instances_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// A restoration is a row of DESIGN.md section 4's table for what a write leaves
// out, or forges.
type restoration struct {
	reason string
	// edits of the instance as alice creates it.
	created []env.InstanceEdit
	// write is what bob changes of the whole object before he PUTs it.
	write func(object map[string]any)
	// warning is in a warning that bob gets; empty: he gets none.
	warning string
	// changes is what the write changes; nil for nothing.
	changes func(*env.Holding)
}

// TestWhatAWriteLeavesOutIsRestored is the first and the fourth row of the
// table, in both scopes of the catalog.
func TestWhatAWriteLeavesOutIsRestored(t *testing.T) {
	t.Parallel()
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, row := range restorations(scope) {
			t.Run(scope.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				restores(offering.New(env.New(t), scope), row)
			})
		}
	}
}

func restores(o *offering.Offer, row restoration) {
	o.Helper()
	edits := []env.InstanceEdit{}
	for _, edit := range row.created {
		edits = append(edits, o.Named(edit))
	}
	o.As(env.Alice).CreateInstance("db", edits...)
	o.Patch(o.Instance("db"), `{}`)
	want := o.HoldingOf("db")
	require.Equal(o, want.Plan, o.Ref(o.Plan))
	o.TurnDefault()

	theirs := o.As(env.Bob)
	for _, time := range []string{"first", "second"} {
		object := wire(o.Env)
		row.write(object.Object)
		require.NoError(o, theirs.Client().Update(o.Context(), object), row.reason)
		heard := theirs.Warnings.Take()
		if time == "first" && row.changes != nil {
			row.changes(&want)
		}
		assert.Empty(o, cmp.Diff(want, o.HoldingOf("db")), "(-want +got) %s write: %s", time, row.reason)
		if row.warning == "" {
			assert.Empty(o, heard, row.reason)
			continue
		}
		require.Len(o, heard, 1, row.reason)
		assert.Contains(o, heard[0], row.warning, row.reason)
	}
}

// without removes fields of spec.
func without(fields ...string) func(map[string]any) {
	return func(object map[string]any) {
		for _, field := range fields {
			unstructured.RemoveNestedField(object, "spec", field)
		}
	}
}

// setting sets a member of the object.
func setting(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) {
		if err := unstructured.SetNestedField(object, value, path...); err != nil {
			panic(err) // the scenario itself is wrong
		}
	}
}

// restorations are the rows; a field's name is that of the scope.
func restorations(s offering.Scope) map[string]restoration {
	byType := []env.InstanceEdit{env.OfType("type"), env.WithParameters(`{"size":1}`)}
	byName := []env.InstanceEdit{s.Names("class", "plan"), env.WithParameters(`{"size":1}`)}
	bobAsked := func(h *env.Holding) { h.User, h.Generation = env.Bob, h.Generation+1 }
	rows := map[string]restoration{
		"Names": {
			reason: "names that are left out are those that were", created: byName,
			write:   without(s.ClassPrefix+"ExternalName", s.PlanPrefix+"ExternalName"),
			warning: "kept spec." + s.ClassPrefix + "ExternalName, spec." + s.PlanPrefix + "ExternalName",
		},
		"Refs": {
			reason: "references cannot be removed", created: byType,
			write:   without(s.ClassPrefix+"Ref", s.PlanPrefix+"Ref"),
			warning: "kept spec." + s.ClassPrefix + "Ref, spec." + s.PlanPrefix + "Ref",
		},
		"NullRefs": {
			reason: "null is as good as left out", created: byType, write: setting(nil, "spec", s.PlanPrefix+"Ref"),
			warning: "kept spec." + s.PlanPrefix + "Ref",
		},
		"Type": {reason: "an old client knows no types", created: byType, write: without("serviceType"), warning: "kept spec.serviceType"},
		"Selector": {
			reason: "nor selectors", created: []env.InstanceEdit{env.WithSelector(map[string]string{"offer": "plan"})},
			write: without("planSelector"), warning: "kept spec.planSelector",
		},
		"Sharing": {
			reason: "nor sharing", created: append(byType, withSharing("team-a")),
			write: without("sharing"), warning: "kept spec.sharing",
		},
		"SharingCleared": {
			reason: "an explicit empty value clears it", created: append(byType, withSharing("team-a")),
			write: setting(map[string]any{}, "spec", "sharing"),
			changes: func(h *env.Holding) {
				bobAsked(h)
				h.Sharing = "{}"
			},
		},
		"ExternalID":      {reason: "the identity at the broker stays", created: byType, write: without("externalID")},
		"EmptyExternalID": {reason: "old clients send it empty", created: byType, write: setting("", "spec", "externalID")},
		"UserInfo":        {reason: "who asked last stays on record", created: byType, write: without("userInfo")},
		"ForgedUserInfo":  {reason: "a user cannot act in another's name", created: byType, write: setting("root", "spec", "userInfo", "username")},
		"Parameters": {
			reason: "parameters that are left out are dropped, but for the defaults in them", created: byType, write: without("parameters"),
			warning: "kept: backup (class), pool (plan)",
			changes: func(h *env.Holding) {
				bobAsked(h)
				h.Parameters = `{"backup":true,"pool":{"mode":"cold"}}`
			},
		},
		"DefaultedKeyWithinParameters": {
			reason: "a default that is edited is the user's; the others are not", created: byType,
			write: setting("warm", "spec", "parameters", "pool", "mode"),
			changes: func(h *env.Holding) {
				bobAsked(h)
				h.Parameters = `{"backup":true,"pool":{"mode":"warm"},"size":1}`
				h.Applied.From = map[string]string{"/backup": "class"}
			},
		},
	}
	maps.Copy(rows, annotationRestorations(byType))
	return rows
}

// annotationRestorations are the rows for what admission writes in metadata.
func annotationRestorations(created []env.InstanceEdit) map[string]restoration {
	forged := `{"rule":"named","from":{"/size":"plan"}}`
	return map[string]restoration{
		"AppliedDefaults":       {reason: "the record stays", created: created, write: withoutAnnotation(api.AnnotationAppliedDefaults)},
		"ForgedAppliedDefaults": {reason: "an edit of the record is undone", created: created, write: setting(forged, "metadata", "annotations", api.AnnotationAppliedDefaults)},
		"Minted":                {reason: "the marker stays", created: created, write: withoutAnnotation(api.AnnotationMintedExternalID)},
		"ForgedMinted":          {reason: "an edit of the marker is undone", created: created, write: setting("mine", "metadata", "annotations", api.AnnotationMintedExternalID)},
		"Annotations": {
			reason: "so they do if all annotations go", created: created,
			write: func(object map[string]any) { unstructured.RemoveNestedField(object, "metadata", "annotations") },
		},
		"LabelsWithSpec": {
			reason: "hashed labels come back with the next write that admission sees", created: created,
			write: func(object map[string]any) {
				unstructured.RemoveNestedField(object, "metadata", "labels")
				unstructured.RemoveNestedField(object, "spec", "externalID")
			},
		},
		"Label": {reason: "a label belongs to the user who sets it", created: created, write: setting("a", "metadata", "labels", "team")},
	}
}

func withoutAnnotation(key string) func(map[string]any) {
	return func(object map[string]any) { unstructured.RemoveNestedField(object, "metadata", "annotations", key) }
}

func withSharing(namespaces ...string) env.InstanceEdit {
	return func(i *api.ServiceInstance) { i.Spec.Sharing = &api.Sharing{Namespaces: namespaces} }
}
