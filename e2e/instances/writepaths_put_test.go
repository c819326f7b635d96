package instances_test

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// What PUTs, patches and helm do to a database.

// putPaths are replacements of the whole object.
func putPaths() map[string]writePath {
	created := create(with(written))
	return map[string]writePath{
		"Replace": {
			reason: "what was decided is restored; the defaults in the parameters are the user's to drop",
			create: created, write: replace(env.Bob, with(written)),
			changes: func(h *env.Holding) {
				bobWrote(`{"firewall":{"name":"office","start":null},"location":"westus","size":9007199254740993,"tier":null}`)(h)
				h.Applied.From = nil
			},
		},
		"ReplaceWithoutParameters": {
			reason: "a whole object without parameters, such as an old typed client's, drops what alice wrote, and keeps the defaults",
			create: created, write: replace(env.Bob, (*database).manifestWithout), changes: defaultsByBob,
		},
		"ReplaceByTheSame": {
			reason: "all that the manifest lacks is restored: nothing changed, and alice asked last",
			create: created, write: replace(env.Bob, func(d *database) string { return d.manifest(stored[1 : len(stored)-1]) }),
			changes: untold,
		},
		"OldClient": {
			reason: "what an old typed client does not know is restored; its zero in updateRequests is stored once, and bob asked nothing",
			create: created, write: rewrite(asOldClient), changes: func(h *env.Holding) { h.Generation++ },
		},
		"OldClientOtherValue": {
			reason: "an old typed client changes what it changes",
			create: created, write: rewrite(func(object *unstructured.Unstructured) {
				asOldClient(object)
				moveEast(object)
			}),
			changes: bobWrote(storedEast),
		},
		"ReadModifyWrite": {
			reason: "a controller that writes back what it read changes nothing",
			create: created, write: rewrite(func(*unstructured.Unstructured) {}),
		},
		"ReadModifyWriteOtherValue": {
			reason: "a changed value is all that changes",
			create: created, write: rewrite(moveEast), changes: bobWrote(storedEast),
		},
	}
}

// moveEast changes the location. That the parameters are an object is the
// scenario's premise.
func moveEast(object *unstructured.Unstructured) {
	if err := unstructured.SetNestedField(object.Object, "eastus", "spec", "parameters", "location"); err != nil {
		panic(err)
	}
}

// patchPaths are merge patches and JSON patches.
func patchPaths() map[string]writePath {
	created := create(with(written))
	withoutSSL := func(parameters string) func(*env.Holding) {
		return func(h *env.Holding) {
			bobWrote(parameters)(h)
			delete(h.Applied.From, "/ssl")
		}
	}
	return map[string]writePath{
		"MergePatchNothing": {reason: "a touch changes nothing", create: created, write: patch(env.Bob, types.MergePatchType, `{}`)},
		"MergePatchLabel": {
			reason: "a label is no change of what is asked for",
			create: created, write: patch(env.Bob, types.MergePatchType, `{"metadata":{"labels":{"team":"a"}}}`), changes: untold,
		},
		"MergePatchOtherValue": {
			reason: "a changed value is all that changes",
			create: created, write: patch(env.Bob, types.MergePatchType, `{"spec":{"parameters":{"location":"eastus"}}}`),
			changes: bobWrote(storedEast),
		},
		"MergePatchAwayADefault": {
			reason: "parameters are the user's to drop; no default is applied again",
			create: created, write: patch(env.Bob, types.MergePatchType, `{"spec":{"parameters":{"ssl":null}}}`),
			changes: withoutSSL(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","size":9007199254740993,"tags":["a","b"],"tier":null}`),
		},
		"MergePatchAwayDecisions": {
			reason: "what was decided is restored",
			create: created, write: patch(env.Bob, types.MergePatchType,
				`{"metadata":{"annotations":null},"spec":{"serviceType":null,"clusterServiceClassRef":null,"clusterServicePlanRef":null,"externalID":null,"userInfo":null}}`),
			changes: untold,
		},
		"JSONPatchOtherValue": {
			reason: "a changed value is all that changes",
			create: created, write: patch(env.Bob, types.JSONPatchType, `[{"op":"replace","path":"/spec/parameters/location","value":"eastus"}]`),
			changes: bobWrote(storedEast),
		},
		"JSONPatchNullOverADefault": {
			reason: "a null stays as it is written",
			create: created, write: patch(env.Bob, types.JSONPatchType, `[{"op":"add","path":"/spec/parameters/ssl","value":null}]`),
			changes: withoutSSL(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","size":9007199254740993,"ssl":null,"tags":["a","b"],"tier":null}`),
			owns:    []string{patcher + " f:ssl"},
		},
		"JSONPatchAwayDecisions": {
			reason: "what was decided is restored, before and after the patch there is something to remove",
			create: created, write: patch(env.Bob, types.JSONPatchType,
				`[{"op":"remove","path":"/spec/clusterServicePlanRef"},{"op":"remove","path":"/spec/serviceType"},{"op":"remove","path":"/spec/externalID"}]`),
			changes: untold,
		},
	}
}

// helmPaths are what helm does to an object of a kind that it has no types for.
func helmPaths() map[string]writePath {
	created := create(with(written))
	return map[string]writePath{
		"HelmSameChart": {reason: "no change, no request", create: created, write: upgrade(env.Bob, with(written), with(written))},
		"HelmOtherValue": {
			reason: "a changed value is all that changes",
			create: created, write: upgrade(env.Bob, with(written), with(east)), changes: bobWrote(storedEast),
		},
		"HelmWithoutAKey": {
			reason: "a key that the chart no longer has goes; nothing else does",
			create: created, write: upgrade(env.Bob, with(written), with(`"location":"westus","firewall":{"name":"office","start":null},"tier":null`)),
			changes: bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","ssl":false,"tags":["a","b"],"tier":null}`),
		},
	}
}
