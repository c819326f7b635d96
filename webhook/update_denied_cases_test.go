package webhook

// refusedCases: another class, ref, type, selector or externalID.
func refusedCases() map[string]updateCase {
	const two = "mysql/db: small* large;mysql/db2: small"
	return map[string]updateCase{
		"AnotherClass": {
			reason:  "A class is for life.",
			catalog: two, create: byName, write: `{"spec":{"clusterServiceClassExternalName":"db2"}}`,
			denied: "spec", says: `the class cannot change from "db" to "db2"`,
		},
		"AnotherClassOfType": {
			reason:  "Also where a type decided.",
			catalog: two, create: byType, write: `{"spec":{"clusterServiceClassExternalName":"db2","clusterServicePlanExternalName":"small"}}`,
			denied: "spec", says: "the class cannot change",
		},
		"NoSuchClass": {
			reason:  "Nor can it become one that is not there.",
			catalog: two, create: byName, write: `{"spec":{"clusterServiceClassExternalName":"nope"}}`,
			denied: "spec.clusterServiceClassExternalName", says: "there is no such class",
		},
		"PlanRef": {
			reason:  "References are not written by hand.",
			catalog: db, create: byType, write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
		"PlanRefWithName": {
			reason:  "Not beside a name that says otherwise, either.",
			catalog: "mysql/db: small* large huge", create: byType, write: `{"spec":{"clusterServicePlanExternalName":"large","clusterServicePlanRef":{"name":"db-huge"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
		"PlanRefOfProvisioned": {
			reason:  "Whatever became of it.",
			catalog: db, create: byType, stored: provisioned, write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
		"ClassRef": {
			reason:  "The class's reference is held like the plan's.",
			catalog: two, create: byType, write: `{"spec":{"clusterServiceClassRef":{"name":"db2"}}}`,
			denied: "spec.clusterServiceClassRef", says: "cannot be edited",
		},
		"Type": {
			reason:  "A type is immutable once decided.",
			catalog: db + ";redis/cache: c*", create: byType, write: `{"spec":{"serviceType":"redis"}}`,
			denied: "spec.serviceType", says: "it cannot change",
		},
		"TypeAdded": {
			reason:  "Also where there was none.",
			catalog: db, create: byName, write: `{"spec":{"serviceType":"mysql"}}`,
			denied: "spec.serviceType", says: "it cannot change",
		},
		"Selector": {
			reason:  "A selector of something decided cannot select something else.",
			catalog: "mysql/db: small{tier=gold} large", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`,
			write:  `{"spec":{"planSelector":{"matchLabels":{"tier":"lead"}}}}`,
			denied: "spec.planSelector", says: "it cannot change",
		},
		"SelectorAdded": {
			reason:  "Nor can there be one where none was.",
			catalog: db, create: byType, write: `{"spec":{"planSelector":{"matchLabels":{"tier":"lead"}}}}`,
			denied: "spec.planSelector", says: "it cannot change",
		},
		"ExternalID": {
			reason:  "The identity at the broker is for life.",
			catalog: db, create: byType, write: `{"spec":{"externalID":"other"}}`,
			denied: "spec.externalID", says: "identity at its broker",
		},
		"ExternalIDOfUndecided": {
			reason:  "Also of an instance that waits.",
			catalog: "other:", create: byName, write: `{"spec":{"externalID":"other"}}`,
			denied: "spec.externalID", says: "identity at its broker",
		},
		"UpdateRequests": {
			reason:  "A counter does not go back.",
			catalog: db, create: `{"serviceType":"mysql","updateRequests":3}`, write: `{"spec":{"updateRequests":2}}`,
			denied: "spec.updateRequests", says: "cannot go back from 3 to 2",
		},
		"TerminatingRef": {
			reason:  "The spec of a terminating object is guarded as well.",
			catalog: db, create: byType, stored: `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z"}}`,
			write:  `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`,
			denied: "spec.clusterServicePlanRef", says: "cannot be edited",
		},
	}
}
