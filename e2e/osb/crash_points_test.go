package osb_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// crashesAtOnce is how many scenes are at their points when the controller is killed.
const crashesAtOnce = 48

// TestCrashes kills the controller at the points of every operation, and at random. The
// short form leaves points of operations that are variants of others to the long form.
//
//nolint:tparallel // its groups share a controller that is killed.
func TestCrashes(t *testing.T) {
	t.Parallel()
	g := newCrashStack(t)
	scenes := crashScenes(suite.Long(),
		instanceOperations, bindingOperations, removalOperations, mitigationOperations, meanwhileOperations, adoptOperations)
	t.Logf("the controller is killed at %d points", len(scenes))
	for names := range slices.Chunk(slices.Sorted(maps.Keys(scenes)), crashesAtOnce) {
		some := map[string]crashScene{}
		for _, name := range names {
			some[name] = scenes[name]
		}
		t.Run(names[0]+"-"+names[len(names)-1], func(t *testing.T) { g.play(t, some, g.killed) })
	}
	t.Run("Random", g.atRandom)
	t.Run("Namespace", g.namespaceEnds)
	if suite.Long() {
		return // The rest has only one form.
	}
	t.Run("LaggingCache", g.lagsBehind)
	t.Run("APIServerAway", g.outlivesAbsence)
	t.Run("Elected", g.elected)
}

// inDoubt are the moments of a variant that the short form plays: the broker did something,
// and the controller does not know.
var inDoubt = []string{"BrokerActed", "BrokerAccepted", "PollEnded"}

// crashScenes are the scenes of operations: in the long form those that the short form
// leaves out.
func crashScenes(long bool, groups ...map[string]crashOperation) map[string]crashScene {
	scenes := map[string]crashScene{}
	for _, operations := range groups {
		for name, o := range operations {
			for at, moment := range o.moments {
				if short := !o.variant || slices.Contains(inDoubt, at); short != long {
					scenes[name+at] = crashScene{operation: o, moment: moment}
				}
			}
		}
	}
	return scenes
}

var instanceOperations = map[string]crashOperation{
	"Provision": {
		reason: "an instance is made at once", class: openClass, resource: ofInstances, prepare: nothingBefore, begin: toProvision,
		moments: atCall(osbtest.Provision),
	},
	"ProvisionAsync": {
		reason: "an instance is made in a while", class: shutClass, resource: ofInstances, prepare: takingPolls(0, osbtest.Provision), begin: toProvision,
		moments: atAccepted(osbtest.Provision, osbtest.PollInstance).and(atPolled(osbtest.PollInstance)),
	},
	"ProvisionPolledTwice": {
		reason: "a poll said that it goes on", class: openClass, resource: ofInstances, prepare: takingPolls(1, osbtest.Provision), begin: toProvision,
		variant: true, moments: atPolled(osbtest.PollInstance),
	},
	"Update": {
		reason: "an instance is changed at once", class: openClass, resource: ofInstances, prepare: wasProvisioned, begin: toUpdate,
		moments: atCall(osbtest.Update),
	},
	"UpdateAsync": {
		reason: "an instance is changed in a while", class: shutClass, resource: ofInstances, prepare: inTurn(wasProvisioned, takingPolls(0, osbtest.Update)), begin: toUpdate,
		variant: true, moments: atAccepted(osbtest.Update, osbtest.PollInstance).and(atPolled(osbtest.PollInstance)).but("BrokerAccepted", "BeforeAccepted"),
	},
	"UpdateUnheard": {
		reason: "it is unknown that a change takes a while: it is asked for again when the broker is done with it", class: shutClass, resource: ofInstances,
		prepare: inTurn(wasProvisioned, takingPolls(0, osbtest.Update)), begin: toResize,
		variant: true, moments: atAccepted(osbtest.Update, osbtest.PollInstance).only("BrokerAccepted", "BeforeAccepted").ended(),
	},
}

var bindingOperations = map[string]crashOperation{
	"Bind": {
		reason: "credentials are made at once", class: openClass, resource: ofBindings, prepare: wasProvisioned, begin: toBind,
		moments: atCall(osbtest.Bind).and(atSecret),
	},
	"BindShut": {
		reason: "credentials cannot be fetched, but are told again", class: shutClass, resource: ofBindings, prepare: wasProvisioned, begin: toBind,
		variant: true, moments: atCall(osbtest.Bind).and(atSecret).only("CallActsLate", "BrokerActed", "BeforeSecret", "AfterSecret", "AfterOutcome"),
	},
	"BindOneShot": {
		reason: "credentials are returned once: those that are lost are created again, under another ID",
		class:  shutClass, resource: ofBindings, options: osbtest.Options{OneShot: true}, prepare: wasProvisioned, begin: toBind,
		variant: true, moments: atCall(osbtest.Bind).and(atSecret).only("CallActsLate", "BrokerActed", "BeforeSecret", "AfterSecret", "AfterOutcome"),
	},
	"BindAsync": {
		reason: "credentials are made in a while, and fetched", class: openClass, resource: ofBindings,
		prepare: inTurn(wasProvisioned, takingPolls(0, osbtest.Bind)), begin: toBind,
		variant: true, moments: atAccepted(osbtest.Bind, osbtest.PollBinding).and(atPolled(osbtest.PollBinding), atSecret, crashMoments{
			"BeforeFetch": onCall(osbtest.FetchBinding), "Fetched": onAct(osbtest.FetchBinding),
			"BeforeOutcome": beforeWrite(concludes(osbtest.FetchBinding)), "AfterOutcome": afterWrite(concludes(osbtest.FetchBinding)),
		}),
	},
	"BindAsyncShut": {
		reason: "credentials are made in a while, and asked for by the same request", class: shutClass, resource: ofBindings,
		prepare: inTurn(wasProvisioned, takingPolls(0, osbtest.Bind)), begin: toBind,
		variant: true, moments: atPolled(osbtest.PollBinding).and(atSecret, crashMoments{"PollEnded": onAct(osbtest.PollBinding)}),
	},
}

var removalOperations = map[string]crashOperation{
	"Unbind": {
		reason: "credentials are removed at once", class: openClass, resource: ofBindings, prepare: wasBound, begin: toUnbind,
		moments: atEnding(osbtest.Unbind).and(atSecretGone),
	},
	"UnbindAsync": {
		reason: "credentials are removed in a while", class: shutClass, resource: ofBindings, prepare: inTurn(wasBound, takingPolls(0, osbtest.Unbind)), begin: toUnbind,
		variant: true, moments: atAccepted(osbtest.Unbind, osbtest.PollBinding).and(atRelease),
	},
	"Deprovision": {
		reason: "an instance is removed at once", class: openClass, resource: ofInstances, prepare: wasProvisioned, begin: toDeprovision,
		moments: atEnding(osbtest.Deprovision),
	},
	"DeprovisionAsync": {
		reason: "an instance is removed in a while", class: shutClass, resource: ofInstances, prepare: inTurn(wasProvisioned, takingPolls(0, osbtest.Deprovision)), begin: toDeprovision,
		variant: true, moments: atAccepted(osbtest.Deprovision, osbtest.PollInstance).and(atRelease),
	},
}

// atMitigated are the points of a removal that was not requested, after a
// failure of the verb that makes.
func atMitigated(makes, removes osbtest.Verb) crashMoments {
	return crashMoments{
		"BeforeFailure": beforeWrite(concludes(makes)), "AfterFailure": afterWrite(concludes(makes)),
		"BeforeIntent": beforeWrite(after(makes, intends)), "AfterIntent": afterWrite(after(makes, intends)),
	}.and(atCall(removes).but("BeforeIntent", "AfterIntent"))
}

var mitigationOperations = map[string]crashOperation{
	"MitigateProvision": {
		reason: "a provision failed after it was acted on", class: openClass, resource: ofInstances, prepare: failingOnce(osbtest.Provision), begin: toProvision,
		variant: true, moments: atMitigated(osbtest.Provision, osbtest.Deprovision),
	},
	"MitigateProvisionAsync": {
		reason: "the removal takes a while", class: shutClass, resource: ofInstances,
		prepare: inTurn(failingOnce(osbtest.Provision), takingPolls(0, osbtest.Deprovision)), begin: toProvision,
		variant: true, moments: atAccepted(osbtest.Deprovision, osbtest.PollInstance).and(atPolled(osbtest.PollInstance)),
	},
	"MitigateBind": {
		reason: "a bind failed after it was acted on", class: openClass, resource: ofBindings, prepare: inTurn(wasProvisioned, failingOnce(osbtest.Bind)), begin: toBind,
		variant: true, moments: atMitigated(osbtest.Bind, osbtest.Unbind),
	},
	"MitigateBindAsync": {
		reason: "the removal takes a while", class: shutClass, resource: ofBindings,
		prepare: inTurn(wasProvisioned, failingOnce(osbtest.Bind), takingPolls(0, osbtest.Unbind)), begin: toBind,
		variant: true, moments: atAccepted(osbtest.Unbind, osbtest.PollBinding).and(atPolled(osbtest.PollBinding)),
	},
}

// undecided are the points after which it is unknown what the broker did.
func undecided(verb osbtest.Verb) crashMoments {
	return atCall(verb).only("AfterIntent", "CallArrived", "CallActsLate", "BrokerActed", "BeforeOutcome")
}

var meanwhileOperations = map[string]crashOperation{
	"ProvisionDeleted": {
		reason: "an instance is deleted while it is unknown whether it was created", class: openClass, resource: ofInstances,
		prepare: nothingBefore, begin: toProvision, meanwhile: toDeprovision, variant: true, moments: undecided(osbtest.Provision),
	},
	"ProvisionEdited": {
		reason: "something else is asked for while it is unknown whether the first was created", class: shutClass, resource: ofInstances,
		prepare: nothingBefore, begin: toProvision, meanwhile: toResize, variant: true, moments: undecided(osbtest.Provision),
	},
	"UpdateEdited": {
		reason: "something else is asked for while it is unknown whether the first was accepted", class: openClass, resource: ofInstances,
		prepare: wasProvisioned, begin: toUpdate, meanwhile: toResizeAgain, variant: true, moments: undecided(osbtest.Update),
	},
	"UpdateDeleted": {
		reason: "an instance is deleted while its plan is unknown", class: shutClass, resource: ofInstances,
		prepare: wasProvisioned, begin: toUpdate, meanwhile: toDeprovision, variant: true, moments: undecided(osbtest.Update),
	},
	"BindDeleted": {
		reason: "a binding is deleted while it is unknown whether it was created", class: openClass, resource: ofBindings,
		prepare: wasProvisioned, begin: toBind, meanwhile: toUnbind, variant: true, moments: undecided(osbtest.Bind).and(atSecret),
	},
}
