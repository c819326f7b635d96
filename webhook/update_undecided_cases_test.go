package webhook

import (
	"fmt"
	"strings"
)

// decidedBy is the merge patch of an instance that is decided on db/small by a rule; names are other members of its spec.
func decidedBy(rule, names string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"%s\",\"class\":\"db\",\"plan\":\"small\"}"},`+
		`"labels":{"servicecatalog.k8s.io/spec.clusterServiceClassRef.name":"<hash of db>","servicecatalog.k8s.io/spec.clusterServicePlanRef.name":"<hash of db-small>"}},`+
		`"spec":{%s"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}}`, rule, names)
}

// undecidedCases: decided at the first admission that can.
func undecidedCases() map[string]updateCase {
	const terminating = `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z"}}`
	return map[string]updateCase{
		"TouchDecides": {
			reason:  "A waiting instance is decided at a touch, and the stored user stays its user.",
			catalog: "other:", create: byType, later: db, write: `{"metadata":{}}`, want: decidedBy("<scope>-default", ""),
		},
		"TouchDecidesByName": {
			reason:  "The same for one that names what was not there.",
			catalog: "other:", create: byName, later: db, write: `{"metadata":{}}`, want: decidedBy("named", ""),
		},
		"TouchStillWaits": {
			reason:  "A touch is never refused for being undecidable.",
			catalog: "other:", create: byType, write: `{}`, want: `{}`, warned: "no plan is decided yet",
		},
		"ChangeStillUndecidable": {
			reason:  "A change of spec is refused like a create.",
			catalog: "other:", create: byType, write: `{"spec":{"parameters":{"a":1}}}`,
			denied: "spec.serviceType", says: "no plan is of that type",
		},
		"TypeChanged": {
			reason:  "Nothing is decided, so the type may change.",
			catalog: "mysql/db: small", create: `{"serviceType":"nope"}`, write: `{"spec":{"serviceType":"mysql","clusterServiceClassName":"db"}}`,
			want: decidedBy("only-plan", `"serviceType":"mysql","clusterServiceClassName":"db","clusterServicePlanName":"db-small","userInfo":{"username":"bob"},`),
		},
		"TypeEmptied": {
			reason:  "An explicit empty type is not put back; the CRD says that a type cannot go.",
			catalog: "mysql/db: small", create: `{"serviceType":"nope"}`, put: `{"serviceType":"","clusterServiceClassName":"db"}`,
			want: decidedBy("only-plan", `"serviceType":"","clusterServiceClassName":"db","clusterServicePlanName":"db-small","userInfo":{"username":"bob"},`),
		},
		"SelectorReplaced": {
			reason:  "An explicit empty selector clears the one that matched nothing.",
			catalog: "mysql/db: small", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`, put: `{"planSelector":{},"clusterServiceClassName":"db","clusterServicePlanName":"db-small"}`,
			want: decidedBy("named", `"planSelector":{"matchLabels":null},"clusterServiceClassName":"db","clusterServicePlanName":"db-small","userInfo":{"username":"bob"},`),
		},
		"Forged": {
			reason:  "References are not written by hand onto what waits.",
			catalog: "mysql/db: small", create: `{"serviceType":"nope"}`, write: `{"spec":{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}}`,
			denied: "spec.clusterServiceClassRef", says: "it must not be present",
		},
		"RecordForged": {
			reason:  "Nor a record of defaults.",
			catalog: "other:", create: byType, write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"named\"}"}}}`,
			want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":""}}}`,
		},
		"ClassRefOfOldObject": {
			reason:  "An object of the retired catalog may have only its class: a touch decides the rest.",
			catalog: "other:", create: byName, stored: `{"spec":{"clusterServiceClassRef":{"name":"db"}}}`, later: "mysql/db: small", write: `{"metadata":{}}`,
			want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"named\",\"class\":\"db\",\"plan\":\"small\"}"},` +
				`"labels":{"servicecatalog.k8s.io/spec.clusterServiceClassRef.name":"<hash of db>","servicecatalog.k8s.io/spec.clusterServicePlanRef.name":"<hash of db-small>"}},` +
				`"spec":{"clusterServicePlanRef":{"name":"db-small"}}}`,
		},
		"Terminating": {
			reason:  "A terminating object is never decided.",
			catalog: "other:", create: byType, stored: terminating, later: db, write: `{}`, want: `{}`,
		},
		"Started": {
			reason:  "Nor is one for which an operation was ever started.",
			catalog: "other:", create: byType, stored: `{"status":{"currentOperation":"Provision"}}`, later: db, write: `{}`, want: `{}`,
		},
		"StartedOnce": {
			reason:  "Whatever became of it.",
			catalog: "other:", create: byType, stored: `{"status":{"deprovisionStatus":"Failed"}}`, later: db, write: `{}`, want: `{}`,
		},
		"StartedAndMitigated": {
			reason:  "Even if all that is left of it is what was sent.",
			catalog: "other:", create: byType, stored: `{"status":{"externalProperties":{"parameters":{}}}}`, later: db, write: `{}`, want: `{}`,
		},
		"NotStarted": {
			reason:  "The status that the retired catalog gave at once starts nothing.",
			catalog: "other:", create: byName, stored: `{"status":{"deprovisionStatus":"NotRequired"}}`, later: db, write: `{"metadata":{}}`,
			want: decidedBy("named", ""),
		},
	}
}

// planGoneCases: the plan is gone before anything was sent to a broker.
func planGoneCases() map[string]updateCase {
	const change, changed = `{"spec":{"updateRequests":1}}`, `{"spec":{"updateRequests":1,"userInfo":{"username":"bob"}}}`
	return map[string]updateCase{
		"GoneTouch": {
			reason:  "The old reference stays until the next change of spec.",
			catalog: db, create: byType, later: "mysql/db: large*", write: `{}`, want: `{}`,
		},
		"GoneChange": {
			reason:  "At a change of spec, it is resolved again.",
			catalog: db, create: byType, later: "mysql/db: large*", write: change, want: movedToLarge("<scope>-default", ""),
		},
		"GoneChangeOfDeletedPlan": {
			reason:  "A plan that is being deleted is gone as well.",
			catalog: db, create: byType, later: "mysql/db: small! large*", write: change, want: movedToLarge("<scope>-default", ""),
		},
		"GoneChangeOfNames": {
			reason:  "A plan that the user named is not replaced by another: it may come back.",
			catalog: db, create: byName, later: "mysql/db: large*", write: change, want: changed, warned: "is gone, and no other is found",
		},
		"GoneChangeOfClassOnly": {
			reason:  "A plan name that an earlier choice filled in does not count as the user's.",
			catalog: db, create: byClass, later: "mysql/db: small! large", write: change,
			want: movedToLarge("only-plan", `"clusterServicePlanExternalName":"large",`),
		},
		"GoneChangeToAbsentName": {
			reason:  "Another plan that is absent is refused as such: to wait for it, the instance would have to be undecided.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"huge"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "no such plan",
		},
		"GoneChangeToAbsentNameOfAbsentPlan": {
			reason:  "Also where the decided plan does not even exist.",
			catalog: db, create: byType, later: "mysql/db: large*",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"huge"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "no such plan",
		},
		"GoneNamesItself": {
			reason:  "The names of the plan that it has, which may come back, ask for no other.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small"}}`,
			want:   `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","userInfo":{"username":"bob"}}}`,
			warned: "is gone, and no other is found",
		},
		"GoneNamesItselfOtherwise": {
			reason:  "Nor do other names of it.",
			catalog: db, create: byName, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small"}}`,
			want:   `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small","userInfo":{"username":"bob"}}}`,
			warned: "is gone, and no other is found",
		},
		"GoneNamesItsClass": {
			reason:  "Nor does the name of its class.",
			catalog: db, create: byType, later: "mysql/db: small! large third",
			write:  `{"spec":{"clusterServiceClassExternalName":"db"}}`,
			want:   `{"spec":{"clusterServiceClassExternalName":"db","userInfo":{"username":"bob"}}}`,
			warned: "is gone, and no other is found",
		},
		"GoneNamesItselfOfClassOnly": {
			reason:  "From then on the name is the user's, and no longer one that the choice filled in.",
			catalog: db, create: byClass, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small"}}`,
			want:   asNamed(`"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small",`),
			warned: "is gone, and no other is found",
		},
		"GoneNamesItselfAlone": {
			reason:  "A plan that is named alone is of the decided class, here too.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServicePlanExternalName":"small"}}`,
			want:   `{"spec":{"clusterServicePlanExternalName":"small","userInfo":{"username":"bob"}}}`,
			warned: "is gone, and no other is found",
		},
		"GoneNamesAnotherAlone": {
			reason:  "So another of the class is chosen.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write: `{"spec":{"updateRequests":1,"clusterServicePlanExternalName":"large"}}`,
			want:  movedToLarge("named", `"clusterServicePlanExternalName":"large",`),
		},
		"GoneNamesItsClassOtherwise": {
			reason:  "The name that the choice filled in becomes that of the new plan, in the way in which it stands there.",
			catalog: db, create: byClass, later: "mysql/db: small! large",
			write: `{"spec":{"updateRequests":1,"clusterServiceClassExternalName":null,"clusterServiceClassName":"db"}}`,
			want: movedToLarge("only-plan",
				`"clusterServiceClassExternalName":null,"clusterServiceClassName":"db","clusterServicePlanExternalName":"large",`),
		},
		"GoneReplacedByClassOnly": {
			reason:  "A name that the choice filled in stays with the plan.",
			catalog: db, create: byClass, later: "mysql/db: large third",
			put:  `{"clusterServiceClassExternalName":"db","updateRequests":1}`,
			want: changed, warned: "is gone, and no other is found",
		},
		"GoneNamesItselfBesideSelector": {
			reason:  "A write that contradicts itself is refused, whatever it names.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			later:  "mysql/db: small!{tier=gold} large{tier=gold}",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small"}}`,
			denied: "spec.planSelector", says: "no plan can be named beside it",
		},
		"GoneNamesItselfBesideStoredSelector": {
			reason:  "Unless it did before the write.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			stored: `{"spec":{"clusterServicePlanExternalName":"small"}}`, later: "mysql/db: small!{tier=gold} large{tier=gold}",
			write:  `{"spec":{"clusterServiceClassExternalName":"db"}}`,
			want:   `{"spec":{"clusterServiceClassExternalName":"db","userInfo":{"username":"bob"}}}`,
			warned: "is gone, and no other is found",
		},
		"GoneSelectorEmptied": {
			reason:  "An explicit empty selector clears the selector, where there is none, too.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write: `{"spec":{"updateRequests":1,"planSelector":{}}}`,
			want:  movedToLarge("<scope>-default", `"planSelector":{},`),
		},
		"GoneNamesAnother": {
			reason:  "A plan that the write names is chosen, also where an earlier choice filled in the name of the one before.",
			catalog: "mysql/db: small* large third", create: byClass, later: "mysql/db: small! large* third",
			write: `{"spec":{"updateRequests":1,"clusterServicePlanExternalName":"third"}}`,
			want:  strings.ReplaceAll(movedToLarge("named", `"clusterServicePlanExternalName":"large",`), "large", "third"),
		},
		"GoneNamesAbsent": {
			reason:  "One that is absent is refused there, too.",
			catalog: db, create: byClass, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServicePlanExternalName":"huge"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "no such plan",
		},
		"GoneNamesItselfOfAnotherType": {
			reason:  "A type that it does not have asks for another.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","serviceType":"redis"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "cannot be chosen any more",
		},
		"GoneNamesTwice": {
			reason:  "Names that contradict each other are refused.",
			catalog: db, create: byType, later: "mysql/db: small! large*",
			write:  `{"spec":{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","clusterServicePlanName":"db-small"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "cannot stand beside",
		},
		"GoneStarted": {
			reason:  "What a broker was asked for keeps its plan.",
			catalog: db, create: byType, stored: provisioned, later: "mysql/db: large*", write: change, want: changed,
		},
		"GoneNothingElse": {
			reason:  "With no plan to go to, it stays as it is, and is told.",
			catalog: db, create: byType, later: "other:", write: change, want: changed, warned: "is gone, and no other is found",
		},
		"GoneRefByHand": {
			reason:  "Not even then is a reference written by hand.",
			catalog: db, create: byType, later: "mysql/db: large*", write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
		"GoneRefByHandUndecidable": {
			reason:  "Nor where nothing else can be chosen.",
			catalog: db, create: byType, later: "mysql/db: large", write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
	}
}

// asNamed is the merge patch of an instance on db/small that is named from now on; names are other members of its spec.
func asNamed(names string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"named\",\"class\":\"db\",\"plan\":\"small\"}"}},`+
		`"spec":{%s"userInfo":{"username":"bob"}}}`, names)
}

// movedToLarge is the merge patch of an instance that goes to db/large by a rule, with a change of spec.
func movedToLarge(rule, names string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"%s\",\"class\":\"db\",\"plan\":\"large\"}"},`+
		`"labels":{"servicecatalog.k8s.io/spec.clusterServicePlanRef.name":"<hash of db-large>"}},`+
		`"spec":{%s"clusterServicePlanRef":{"name":"db-large"},"updateRequests":1,"userInfo":{"username":"bob"}}}`, rule, names)
}
