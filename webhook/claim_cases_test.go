package webhook

import "github.com/defaultplan/defaultplan/webhook/options"

// asksToAdopt denies adoption without permission to adopt.
func asksToAdopt(w *env) { w.reviews.adopting = false }

func nothingThere(string) []func(*stock) { return []func(*stock){} }

// claimDefaults are defaults of every kind.
func claimDefaults(at string) []func(*stock) {
	return []func(*stock){
		classDefaults(at+"db", `{"zone":"a","net":{"mtu":1400}}`), planDefaults(at+"db-small", `{"size":1}`),
		bindDefaultsOf(at+"db-small", `{"user":"reader"}`), transformsOf(at+"db-small", `[{"renameKey":{"from":"db-name","to":"database"}}]`),
	}
}

func decidedClaims() map[string]bindingCase {
	const resolved = "mysql resolved to plan db/small (default)"
	return map[string]bindingCase{
		"ByType": {reason: "The default of the type.", edits: nothingThere, spec: byType, plan: "db-small", warnings: []string{resolved}, scope: onlyCluster},
		"ByTypeInNamespace": {
			reason: "The namespace's comes first.", catalog: "mysql/db: small*", edits: nothingThere, spec: byType, plan: "db-small",
			warnings: []string{"mysql resolved to plan db/small (default of the namespace)"}, scope: onlyNamespace,
		},
		"ByName": {reason: "Both are named.", edits: nothingThere, spec: byName, plan: "db-small"},
		"ByClass": {
			reason: "The plan's name is filled in, as with instances.", edits: nothingThere, spec: `{"clusterServiceClassExternalName":"db"}`, plan: "db-small",
			want: `{"clusterServicePlanExternalName":"small"}`, warnings: []string{"class db resolved to plan db/small (default)"},
		},
		"BySelector": {
			reason: "The heaviest that matches.", catalog: "mysql/db: small{tier=gold} large", edits: nothingThere, spec: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			plan: "db-small", warnings: []string{"the plan selector resolved to plan db/small (the heaviest match)"},
		},
		"Defaults": {
			reason: "Those for the instance go where its parameters are.", edits: claimDefaults, spec: byName, plan: "db-small",
			want:     `{"provisionParameters":{"zone":"a","net":{"mtu":1400},"size":1},"parameters":{"user":"reader"},"secretTransforms":[{"renameKey":{"from":"db-name","to":"database"}}]}`,
			warnings: []string{"defaults for its instance set net, size, zone", "defaults set user", "defaults of plan db/small add 1 secret transforms"},
		},
		"OwnParameters": {
			reason: "The user's win, each in its own, and a null takes a default away.", edits: claimDefaults, plan: "db-small",
			spec: `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","secretTransformDefaults":"None",` +
				`"provisionParameters":{"size":2,"zone":null,"net":{"vlan":7}},"parameters":{"user":"` + canary + `"}}`,
			want: `{"provisionParameters":{"net":{"mtu":1400}}}`, warnings: []string{"defaults for its instance set net"},
		},
		"Sources": {
			reason: "Sources are for the bind request; of its schema only what they may add to is left open.", edits: func(at string) []func(*stock) {
				return []func(*stock){bindSchemaOf(at+"db-small", `{"type":"object","required":["user"]}`)}
			}, plan: "db-small",
			spec: `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]}`,
		},
		"ChosenID": {
			reason: "An ID of one's choosing takes a right; the instance is new, and has its defaults.", edits: claimDefaults, plan: "db-small", scope: onlyCluster,
			granted: []string{"alice adopt servicebindings dev/creds"}, asked: []string{"alice adopt servicebindings dev/creds"}, adjust: asksToAdopt,
			spec:     `{"externalID":"e-1","secretTransformDefaults":"None","parameters":{"user":"u"},"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small"}`,
			want:     `{"provisionParameters":{"zone":"a","net":{"mtu":1400},"size":1}}`,
			warnings: []string{"defaults for its instance set net, size, zone"},
		},
	}
}

func deniedClaims() map[string]bindingCase {
	denied := func(reason, spec, label string, edits ...func(*stock)) bindingCase {
		return bindingCase{reason: reason, spec: spec, denied: label, scope: onlyCluster, edits: func(string) []func(*stock) { return append([]func(*stock){}, edits...) }}
	}
	named := func(members string) string {
		return `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small",` + members + `}`
	}
	secret := denied("The Secret's name is the claim's, too.", named(`"secretName":"taken"`), "SecretReserved", hasBinding("other", toSecret("taken")))
	ambiguous := denied("Several plans, none of which is the default.", byType, "NoDefault")
	ambiguous.catalog = "mysql/db: small large"
	typeless := denied("Without types there is nothing to go by.", byType, "NothingNamed")
	typeless.adjust = func(w *env) { gatesOff(w, options.ServiceTypes) }
	forbidden := denied("A transform takes the right to the Secret.", named(`"secretTransforms":[{"addKeysFrom":{"secretRef":{"name":"s"}}}]`), "SecretForbidden")
	forbidden.asked = []string{"alice get secrets dev/s"}
	chosen := denied("An ID of one's choosing takes a right.", named(`"externalID":"e-1"`), "AdoptForbidden")
	chosen.asked, chosen.adjust = []string{"alice adopt servicebindings dev/creds"}, asksToAdopt
	return map[string]bindingCase{
		"NoDefault": ambiguous, "WithTypesOff": typeless, "SecretTaken": secret, "AddKeysFrom": forbidden, "ChosenIDForbidden": chosen,
		"TypeUnknown":    denied("Nothing is of that type.", `{"serviceType":"redis"}`, "NoDefault"),
		"ClassUnknown":   denied("A class alone must be there.", `{"clusterServiceClassExternalName":"nowhere"}`, "ClassNotFound"),
		"PlanAlone":      denied("A plan is named within a class.", `{"clusterServicePlanExternalName":"small"}`, "InvalidReference"),
		"TwoNames":       denied("Names must not contradict each other.", `{"clusterServiceClassExternalName":"db","clusterServiceClassName":"db"}`, "InvalidReference"),
		"BadSelector":    denied("A selector must be one.", `{"planSelector":{"matchExpressions":[{"key":"tier","operator":"Near","values":["gold"]}]}}`, "InvalidSelector"),
		"Unbindable":     denied("What cannot be bound to is no claim's.", byType, "NotBindable", listedBy("broker", false)),
		"NotAnObject":    denied("Parameters are an object.", named(`"provisionParameters":["`+canary+`"]`), "InvalidParameters"),
		"Schema":         denied("What is for the instance is held against the schema of instances.", named(`"provisionParameters":{"size":"`+canary+`"}`), "SchemaViolation", createSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"integer"}}}`)),
		"DefaultRefused": denied("So is a default, and it is told whose it is.", byName, "SchemaViolation", createSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"string"}}}`), planDefaults("db-small", `{"size":1}`)),
		"BindSchema":     denied("What is for the bind request against that of bindings.", named(`"parameters":{"user":"`+canary+`"}`), "SchemaViolation", bindSchemaOf("db-small", `{"type":"object","properties":{"user":{"type":"integer"}}}`)),
		"BrokenDefaults": denied("Defaults that cannot be read are not left out.", byName, "BrokenDefaults", planDefaults("db-small", `["x"]`)),
		"Forged":         denied("References are admission's.", `{"serviceType":"mysql",`+bindRefs+`}`, "ForgedReference"),
	}
}

func policedClaims() map[string]bindingCase {
	denied := func(reason string, policies ...string) bindingCase {
		return bindingCase{reason: reason, spec: byType, denied: "PolicyDenied", scope: onlyCluster, edits: func(string) []func(*stock) { return []func(*stock){ruled(policies...)} }}
	}
	allowed := denied("One that names instances does not know its own.", "bind-deny x instance=dev/creds", "bind-deny y ilabel=stage:test")
	allowed.denied, allowed.plan, allowed.warnings = "", "db-small", []string{"mysql resolved to plan db/small (default)"}
	passed := denied("A selector passes over what it may not have.", "deny x plan=large")
	passed.catalog, passed.spec = "mysql/db: small{tier=gold} large{tier=gold}=9", `{"planSelector":{"matchLabels":{"tier":"gold"}}}`
	passed.denied, passed.plan, passed.warnings = "", "db-small", []string{"the plan selector resolved to plan db/small (the heaviest match)"}
	byClass := denied("The field that asks is told.", "deny x class=db says=ask-ann")
	byClass.spec = `{"clusterServiceClassExternalName":"db"}`
	return map[string]bindingCase{
		"Provisioning": denied("There may be no instance.", "deny x plan=small says=ask-ann"), "Binding": denied("Nor a binding.", "bind-deny x type=mysql says=ask-ann"),
		"AllowedToProvision": denied("It takes the leave of both.", "allow x type=mysql in=dev", "bind-allow y type=mysql in=qa"),
		"OtherInstances":     allowed, "PassedOver": passed, "ProvisioningByClass": byClass,
	}
}

func waitingClaims() map[string]bindingCase {
	const waits = "no plan is decided yet: "
	wait := func(w *env) { w.options.Unresolved = options.UnresolvedWait }
	const typeWaits = waits + `spec.serviceType "mysql": no plan is of that type; the binding waits`
	record := `{\"rule\":\"cluster-default\",\"class\":\"db\",\"plan\":\"small\",\"from\":{\"/user\":\"plan\"},\"provision\":{\"from\":{\"/net\":\"class\",\"/size\":\"plan\",\"/zone\":\"class\"}}}`
	return map[string]bindingCase{
		"NamedWaits": {
			reason: "A class and plan that are both named may yet come.", catalog: "other:", edits: nothingThere, spec: byName, scope: onlyCluster,
			warnings: []string{waits + `spec.clusterServiceClassExternalName "db": there is no such class in the cluster; the binding waits`},
		},
		"TypeWaits": {reason: "A type may where the operator lets it.", catalog: "other:", edits: nothingThere, adjust: wait, spec: byType, scope: onlyCluster, warnings: []string{typeWaits}},
		"Touched": {
			reason: "A touch decides it when the plan has come; its user stays.", catalog: db, adjust: func(w *env) { wait(w); w.restock(stocked(w.tb, "other:")) }, edits: nothingThere,
			later: claimDefaults, spec: `{"serviceType":"mysql","secretTransformDefaults":"None"}`, write: `{}`, scope: onlyCluster,
			want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"` + record + `"}},` +
				`"spec":{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"},"parameters":{"user":"reader"},"provisionParameters":{"net":{"mtu":1400},"size":1,"zone":"a"}}}`,
			warnings: []string{"mysql resolved to plan db/small (default)", "defaults for its instance set net, size, zone", "defaults set user"},
		},
		"TouchedUnderPolicy": {
			reason: "What would be refused is not decided by a touch.", catalog: db, adjust: func(w *env) { wait(w); w.restock(stocked(w.tb, "other:")) }, edits: nothingThere,
			later: func(string) []func(*stock) { return []func(*stock){ruled("bind-deny x type=mysql")} }, spec: byType, write: `{}`, scope: onlyCluster,
			warnings: []string{waits + `spec.serviceType: BindingPolicy "x" does not let namespace "dev" use plan db/small; the binding waits`},
		},
		"TouchedUnbindable": {
			reason: "Nor what cannot be bound to.", catalog: db, adjust: func(w *env) { wait(w); w.restock(stocked(w.tb, "other:")) }, edits: nothingThere,
			later: func(string) []func(*stock) { return []func(*stock){listedBy("broker", false)} }, spec: byType, write: `{}`, scope: onlyCluster,
			warnings: []string{waits + `spec.serviceType: it means plan db/small, which its broker does not let anyone bind to; the binding waits`},
		},
		"TouchedBrokenSchema": {
			reason: "Nor what a schema refuses.", catalog: db, adjust: func(w *env) { wait(w); w.restock(stocked(w.tb, "other:")) }, edits: nothingThere,
			later: func(string) []func(*stock) {
				return []func(*stock){planDefaults("db-small", `{"size":1}`), createSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"string"}}}`)}
			}, spec: byType, write: `{}`, scope: onlyCluster,
			warnings: []string{waits + `spec.provisionParameters/size: must be of type string, not number; the binding waits`},
		},
		"NamesInstance": {
			reason: "While it waits it may yet name an instance.", catalog: db, adjust: func(w *env) { wait(w); w.restock(stocked(w.tb, "other:")) }, edits: nothingThere,
			later: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small")} }, spec: byType, write: `{"spec":{"instanceRef":{"name":"mydb"}}}`, scope: onlyCluster,
			want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\"}"}},` +
				`"spec":{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"},"instanceRef":{"name":"mydb"},"userInfo":{"username":"bob"}}}`,
		},
		"ForgedLater": {
			reason: "References are admission's.", catalog: "other:", edits: nothingThere, spec: byName, write: `{"spec":{` + bindRefs + `}}`, denied: "ForgedReference", scope: onlyCluster,
		},
		"NothingLeft": {
			reason: "Something must be asked for.", catalog: "other:", edits: nothingThere, adjust: wait, spec: byType, write: `{"spec":{"serviceType":""}}`, denied: "NoInstance", scope: onlyCluster,
		},
	}
}

func restoredClaims() map[string]bindingCase {
	const taken = "taken as decided: plan db/small, as the references say; no default was applied"
	marked := `{"name":"creds","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"cluster-default\",\"provision\":{\"from\":{\"/size\":\"plan\"}}}"}}`
	backup := `{"serviceType":"mysql","provisionParameters":{"size":1},` + bindRefs + `}`
	return map[string]bindingCase{
		"Restored": {
			reason: "A backup is taken as it is.", edits: claimDefaults, spec: backup, meta: marked, plan: "db-small", warnings: []string{taken}, scope: onlyCluster,
		},
		"RestoredFromNothing": {
			reason: "If what it refers to is there.", catalog: "other:", edits: nothingThere, spec: backup, meta: marked, denied: "Disagreement", scope: onlyCluster,
		},
		"RestoredUnbindable": {
			reason: "And may be bound to.", edits: func(string) []func(*stock) { return []func(*stock){listedBy("broker", false)} }, spec: backup, meta: marked, denied: "NotBindable", scope: onlyCluster,
		},
		"RestoredUnderPolicy": {
			reason: "And no policy keeps it away.", edits: func(string) []func(*stock) { return []func(*stock){ruled("deny x plan=small")} }, spec: backup, meta: marked, denied: "PolicyDenied", scope: onlyCluster,
		},
	}
}
