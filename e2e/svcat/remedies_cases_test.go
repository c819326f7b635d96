package svcat_test

import (
	"strings"
)

const (
	makeDefault = `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":"true"}}}`
	suggested   = `servicecatalog.kubernetes.io/is-suggested-plan: "true"`
)

// A remedyCase is a request that is refused, and what svcat's commands in the
// refusal make of it.
type remedyCase struct {
	reason string
	offers []remedyOffer
	// before come about first, and must work.
	before func(*remedies) [][]string
	// unrecorded says that they make no default.
	unrecorded bool
	// refused is the request.
	refused func(*remedies) []string
	// want are the commands, without what is unique; paste of them are run, the
	// first ones, and then the request is admitted, unless looks says that they only
	// show something.
	want  []string
	paste int
	looks bool
	// later says that the command is obeyed in the background.
	later bool
}

var remedyCases = map[string]remedyCase{
	"Suggestions": {
		reason: "several plans are suggested", offers: []remedyOffer{{name: "c", typed: "db", annotations: suggested}},
		refused: func(r *remedies) []string { return r.instance("serviceType: db-SUFFIX") },
		want:    []string{"svcat set plan c/large --default PLACE"}, paste: 1,
	},
	"NoDefault": {
		reason: "no default is chosen", offers: []remedyOffer{{name: "c", typed: "db"}},
		refused: func(r *remedies) []string { return r.instance("serviceType: db-SUFFIX") },
		want:    []string{"svcat set plan c/large --default PLACE"}, paste: 1,
	},
	"NamesThatTwoShare": {
		reason: "plans that only their Kubernetes names tell apart", offers: []remedyOffer{{name: "c", typed: "db", twins: true}},
		refused: func(r *remedies) []string { return r.instance("serviceType: db-SUFFIX") },
		want:    []string{"svcat set plan --kube-name c-SUFFIX-a --default PLACE"}, paste: 1,
	},
	"RecordedDefault": {
		reason: "another is recorded", offers: []remedyOffer{{name: "c", typed: "db"}},
		before:  func(r *remedies) [][]string { return [][]string{r.patchPlan("c-SUFFIX-a", makeDefault)} },
		refused: func(r *remedies) []string { return r.patchPlan("c-SUFFIX-b", makeDefault) },
		want:    []string{"svcat set plan c/small --default PLACE", "svcat set plan c/large --default=false PLACE"}, paste: 1,
	},
	"TypeOfADefault": {
		reason: "a default comes to a type that has one", offers: []remedyOffer{{name: "c", typed: "db"}, {name: "d", typed: "cache"}},
		before: func(r *remedies) [][]string {
			return [][]string{r.patchPlan("c-SUFFIX-a", makeDefault), r.patchPlan("d-SUFFIX-a", makeDefault)}
		},
		refused: func(r *remedies) []string { return r.patchPlan("d-SUFFIX-a", `{"spec":{"serviceType":"db-SUFFIX"}}`) },
		want: []string{
			"svcat set plan d/large --default=false PLACE", "svcat set plan d/large --default PLACE", "svcat set plan c/large --default=false PLACE",
		}, paste: 1,
	},
	"RecordOfAnAnnotated": {
		reason: "a record is cleared whose plan is annotated still", offers: []remedyOffer{{name: "c", typed: "db"}},
		before:  func(r *remedies) [][]string { return [][]string{r.patchPlan("c-SUFFIX-a", makeDefault)} },
		refused: func(r *remedies) []string { return r.patchType(`{"spec":{"defaultPlanRef":null}}`) },
		want:    []string{"svcat set plan c/large --default=false PLACE"}, paste: 1,
	},
	"IDOfAnother": {
		reason: "what another has at the broker is left there", offers: []remedyOffer{{name: "c", typed: "db"}},
		before: func(r *remedies) [][]string {
			other := r.instance(r.spelled("ClassExternalName: c-SUFFIX") + ", " + r.spelled("PlanExternalName: large") + ", externalID: id-SUFFIX")
			other[0] = strings.ReplaceAll(other[0], "mydb", "other")
			return [][]string{other}
		},
		unrecorded: true,
		refused: func(r *remedies) []string {
			return r.instance(r.spelled("ClassExternalName: c-SUFFIX") + ", " + r.spelled("PlanExternalName: large") + ", externalID: id-SUFFIX")
		},
		want: []string{"svcat deprovision other --abandon --yes -n NAMESPACE"}, paste: 1, later: true,
	},
	"UnfitRecord": {
		reason: "what there is", offers: []remedyOffer{{name: "c", typed: "db"}},
		before:  func(r *remedies) [][]string { return [][]string{r.patchPlan("c-SUFFIX-a", makeDefault)} },
		refused: func(r *remedies) []string { return r.patchType(`{"spec":{"defaultPlanRef":{"name":"none"}}}`) },
		want:    []string{"svcat get plans PLACE"}, paste: 1, looks: true,
	},
	"NothingNamed": {
		reason: "which types there are", offers: []remedyOffer{{name: "c", typed: "db"}},
		refused: func(r *remedies) []string { return r.instance("parameters: {}") },
		want:    []string{"svcat get types"}, paste: 1, looks: true,
	},
	"NoSuchClass": {
		reason: "which classes there are", offers: []remedyOffer{{name: "c", typed: "db"}},
		refused: func(r *remedies) []string { return r.instance(r.spelled("ClassExternalName: none-SUFFIX")) },
		want:    []string{"svcat get classes PLACE"}, paste: 1, looks: true,
	},
	"NoMatch": {
		reason: "which plans there are, with what can be matched", offers: []remedyOffer{{name: "c", typed: "db"}},
		refused: func(r *remedies) []string {
			return r.instance(r.spelled("ClassExternalName: c-SUFFIX") + ", planSelector: {matchLabels: {tier: none}}")
		},
		want: []string{"svcat get plans PLACE -o wide"}, paste: 1, looks: true,
	},
	"ClassDefault": {
		reason: "a second default of a class whose plans have no type", offers: []remedyOffer{{name: "c"}},
		before:  func(r *remedies) [][]string { return [][]string{r.patchPlan("c-SUFFIX-a", makeDefault)} },
		refused: func(r *remedies) []string { return r.patchPlan("c-SUFFIX-b", makeDefault) },
		want:    []string{"svcat set plan c/large --default=false PLACE"}, paste: 1,
	},
	"WrongParameters": {
		reason: "what the plan takes",
		offers: []remedyOffer{{name: "c", typed: "db", schema: "instanceCreateParameterSchema: {type: object, required: [size]}"}},
		refused: func(r *remedies) []string {
			return r.instance(r.spelled("ClassExternalName: c-SUFFIX") + ", " + r.spelled("PlanExternalName: large"))
		},
		want: []string{"svcat describe plan c/large PLACE"}, paste: 1, looks: true,
	},
}
