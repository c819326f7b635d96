package webhook

// restoreCases: what an update leaves out does not change what was decided.
func restoreCases() map[string]updateCase {
	withUser := `{"spec":{"parameters":{"a":1},"userInfo":{"username":"bob"}}}`
	return map[string]updateCase{
		"Touch": {
			reason:  "An empty merge patch changes nothing.",
			catalog: db, create: byType, write: `{}`, want: `{}`,
		},
		"TouchByName": {
			reason:  "Nor does it where class and plan are named.",
			catalog: db, create: byName, write: `{}`, want: `{}`,
		},
		"LabelWrite": {
			reason:  "Who only labels is not the user of the instance.",
			catalog: db, create: byType, write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`,
		},
		"ReplaceByType": {
			reason:  "A replace drops what was decided: it is put back, but for the parameters, and the stored user stays the user.",
			catalog: db, create: byType, put: byType, want: `{}`, warned: "kept spec.clusterServiceClassRef, spec.clusterServicePlanRef",
		},
		"ReplaceByName": {
			reason:  "The same where names are written.",
			catalog: db, create: byName, put: byName, want: `{}`,
		},
		"ReplaceByClass": {
			reason:  "The plan's name that a choice filled in is kept.",
			catalog: db, create: byClass, put: byClass, want: `{}`,
		},
		"ReplaceByNothing": {
			reason:  "An old typed client's write of an object that a type decided: names, refs, type and identity are kept.",
			catalog: db, create: byType, put: `{"externalID":"","parameters":{"a":1}}`, want: withUser,
		},
		"EmptyNames": {
			reason:  "An empty string names nothing.",
			catalog: db, create: byName, put: `{"clusterServiceClassExternalName":"","clusterServicePlanExternalName":""}`, want: `{}`,
		},
		"ParametersDropped": {
			reason:  "Parameters are the user's to drop; nothing is merged again.",
			catalog: db, create: `{"serviceType":"mysql","parameters":{"a":1}}`, edits: nil,
			put: byType, want: `{"spec":{"parameters":null,"userInfo":{"username":"bob"}}}`,
		},
		"SelectorKept": {
			reason:  "A selector is a field that old clients do not know.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			put: `{"parameters":{"a":1}}`, want: withUser, warned: "spec.planSelector",
		},
		"SelectorNull": {
			reason:  "A null is no explicit empty value: it is what an absent field reads like.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			put: `{"planSelector":null,"parameters":{"a":1}}`, want: withUser,
		},
		"SharingKept": {
			reason:  "So is sharing.",
			catalog: db, create: `{"serviceType":"mysql","sharing":{"namespaces":["a"]}}`, put: byType, want: `{}`, warned: "spec.sharing",
		},
		"SharingCleared": {
			reason:  "An explicit empty value clears it.",
			catalog: db, create: `{"serviceType":"mysql","sharing":{"namespaces":["a"]}}`, put: `{"serviceType":"mysql","sharing":{}}`,
			want: `{"spec":{"sharing":{"namespaces":null},"userInfo":{"username":"bob"}}}`,
		},
		"RequestsKept": {
			reason:  "A counter that is absent, or 0, keeps its value.",
			catalog: db, create: `{"serviceType":"mysql","updateRequests":3}`, put: `{"serviceType":"mysql","updateRequests":0}`, want: `{}`,
		},
		"UserForged": {
			reason:  "A user cannot write another user's name: the stored user stays.",
			catalog: db, create: byType, write: `{"spec":{"userInfo":{"username":"root"}}}`, want: `{}`,
		},
		"UserForgedWithChange": {
			reason:  "With a change, it is the requester.",
			catalog: db, create: byType, write: `{"spec":{"updateRequests":1,"userInfo":{"username":"root"}}}`,
			want: `{"spec":{"updateRequests":1,"userInfo":{"username":"bob"}}}`,
		},
		"UserForgedOverNone": {
			reason:  "If no user is recorded, the writer is.",
			catalog: db, create: byType, stored: `{"spec":{"userInfo":null}}`, write: `{"spec":{"userInfo":{"username":"root"}}}`,
			want: `{"spec":{"userInfo":{"username":"bob","uid":"u-1","groups":["devs"],"extra":{"scope":["a"]}}}}`,
		},
		"MarkerEdited": {
			reason:  "The mark of a minted ID is admission's.",
			catalog: db, create: byType, write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/minted-external-id":"x"}}}`, want: `{}`,
		},
		"MarkerForged": {
			reason:  "An ID that was given never becomes a minted one.",
			catalog: db, create: `{"serviceType":"mysql","externalID":"mine"}`,
			write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/minted-external-id":"mine"}}}`,
			want:  `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/minted-external-id":""}}}`,
		},
		"RecordForged": {
			reason:  "On an object from before, a record that a user writes says that it was restored.",
			catalog: db, create: byType, stored: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":null}}}`,
			write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"named\"}"}}}`,
			want:  `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"restored\"}"}}}`,
		},
		"LabelsRestored": {
			reason:  "The hashed labels are what old clients look instances up by.",
			catalog: db, create: byType, write: `{"metadata":{"labels":null}}`, want: `{}`,
		},
		"FinalizerTaken": {
			reason:  "The finalizer is the controller's to take away.",
			catalog: db, create: byType, write: `{"metadata":{"finalizers":null}}`, want: `{"metadata":{"finalizers":null}}`,
		},
		"DefaultsChangedLater": {
			reason:  "Who is decided is decided: another default does not move it.",
			catalog: db, create: byType, later: "mysql/db: small large*", write: `{"spec":{"parameters":{"a":1}}}`, want: withUser,
		},
		"CatalogGone": {
			reason:  "With nothing left of the catalog, parameters of what runs can still be written.",
			catalog: db, create: byType, stored: provisioned, later: "other:", write: `{"spec":{"parameters":{"a":1}}}`, want: withUser,
		},
	}
}

// renameCases: another plan by name, or the same by another kind of name.
func renameCases() map[string]updateCase {
	return map[string]updateCase{
		"PlanByExternalName": {
			reason:  "A plan's name alone is looked up in the decided class.",
			catalog: db, create: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			want: refsToLarge(`"clusterServicePlanExternalName":"large",`), warned: "plan changed from db-small to large",
		},
		"PlanByExternalID": {
			reason:  "By any of its names.",
			catalog: db, create: byType, write: `{"spec":{"clusterServicePlanExternalID":"id-large"}}`,
			want: refsToLarge(`"clusterServicePlanExternalID":"id-large",`),
		},
		"PlanByName": {
			reason:  "Also the Kubernetes name; a name of another kind that a replace leaves out is not put back.",
			catalog: db, create: byName, put: `{"clusterServiceClassExternalName":"db","clusterServicePlanName":"db-large"}`,
			want: refsToLarge(`"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-large",`),
		},
		"PlanOfProvisioned": {
			reason:  "That works on what runs, too.",
			catalog: db, create: byType, stored: provisioned, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			want: refsToLarge(`"clusterServicePlanExternalName":"large",`),
		},
		"SamePlanByName": {
			reason:  "The same class and plan by other names: nothing is decided again.",
			catalog: db, create: byName, put: `{"clusterServiceClassName":"db","clusterServicePlanName":"db-small"}`,
			want: `{"spec":{"clusterServiceClassExternalName":null,"clusterServiceClassName":"db","clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small","userInfo":{"username":"bob"}}}`,
		},
		"ChosenPlanByName": {
			reason:  "Where the write names the plan that a choice filled in, the record says that it is named.",
			catalog: db, create: byClass, write: `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small"}}`,
			want: asNamed(`"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small",`),
		},
		"ClassAdded": {
			reason:  "A name that was not there and is right may be written.",
			catalog: db, create: byType, write: `{"spec":{"clusterServiceClassExternalName":"db"}}`,
			want: `{"spec":{"clusterServiceClassExternalName":"db","userInfo":{"username":"bob"}}}`,
		},
		"SelectorCleared": {
			reason:  "A plan cannot be named beside a selector, so the selector is cleared with the same write.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			put:  `{"planSelector":{},"clusterServicePlanExternalName":"large"}`,
			want: refsToLarge(`"planSelector":{"matchLabels":null},"clusterServicePlanExternalName":"large",`),
		},
		"ChosenNameChanged": {
			reason:  "A plan name that a choice filled in is changed like any.",
			catalog: db, create: byClass, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			want: refsToLarge(`"clusterServicePlanExternalName":"large",`),
		},
		"NotUpdatable": {
			reason:  "Only where the class allows it.",
			catalog: db, create: byType, edits: []func(*stock){fixedPlans}, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			denied: "spec", says: `class "db" does not allow an instance to change its plan`,
		},
		"NotUpdatableButTheSame": {
			reason:  "Naming the plan that it has changes nothing.",
			catalog: db, create: byType, edits: []func(*stock){fixedPlans}, write: `{"spec":{"clusterServicePlanExternalName":"small"}}`,
			want: `{"spec":{"clusterServicePlanExternalName":"small","userInfo":{"username":"bob"}}}`,
		},
		"NoSuchPlan": {
			reason:  "A name that leads nowhere is refused, with what there is.",
			catalog: db, create: byType, write: `{"spec":{"clusterServicePlanExternalName":"huge"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "db/large",
		},
		"TwoNames": {
			reason:  "Two names of one plan contradict each other, or will.",
			catalog: db, create: byName, write: `{"spec":{"clusterServicePlanName":"db-large"}}`,
			denied: "spec.clusterServicePlanExternalName", says: "give one name",
		},
		"PlanOfOtherType": {
			reason:  "A plan of another type is not what the type says.",
			catalog: "mysql/db: small* pg<postgres>", create: byType, write: `{"spec":{"clusterServicePlanExternalName":"pg"}}`,
			denied: "spec.serviceType", says: "of type postgres",
		},
		"NothingMergedAgain": {
			reason:  "The new plan's defaults are not applied.",
			catalog: db, create: byType, edits: []func(*stock){largeDefaults}, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
			want: refsToLarge(`"clusterServicePlanExternalName":"large",`),
		},
	}
}
