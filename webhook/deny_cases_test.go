package webhook

import (
	"fmt"
	"maps"
	"strings"

	"github.com/defaultplan/defaultplan/webhook/options"
)

func denialCases() map[string]denialCase {
	all := resolveDenials()
	for _, cases := range []map[string]denialCase{referenceDenials(), changeDenials(), parameterDenials(), schemaDenials()} {
		maps.Copy(all, cases)
	}
	return all
}

// resolveDenials: no plan can be decided on.
func resolveDenials() map[string]denialCase {
	const classOnly = `{"clusterServiceClassExternalName":"db"}`
	many := "mysql/db:"
	for i := range 15 {
		many += fmt.Sprintf(" p%02d", i)
	}
	return map[string]denialCase{
		"WrongKind":                {catalog: db, create: byType, adjust: func(w *env) { w.kind = "ServiceBinding" }},
		"Nameless":                 {catalog: "other:", create: byType, adjust: func(w *env) { w.nameless = true }},
		"NothingNamed":             {catalog: db, create: `{"parameters":{"password":"` + canary + `"}}`},
		"NoSpec":                   {catalog: db, create: `null`},
		"PlanWithoutClass":         {catalog: db, create: `{"clusterServicePlanExternalName":"small"}`, namespaced: true},
		"TwoNamesOfAClass":         {catalog: db, create: `{"clusterServiceClassExternalName":"db","clusterServiceClassName":"db"}`},
		"BothScopes":               {catalog: db, create: `{"clusterServiceClassExternalName":"db","servicePlanExternalName":"small"}`},
		"SelectorBesidePlan":       {catalog: db, create: `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","planSelector":{"matchLabels":{"a":"b"}}}`},
		"SelectorEmpty":            {catalog: db, create: `{"planSelector":{}}`},
		"SelectorBadOperator":      {catalog: db, create: `{"planSelector":{"matchExpressions":[{"key":"tier","operator":"Near","values":["gold"]}]}}`},
		"SelectorNoMatch":          {catalog: "mysql/db: small{tier=lead} gone{tier=gold}!", create: `{"planSelector":{"matchLabels":{"tier":"gold"}}}`},
		"ClassNotFound":            {catalog: "mysql/db2: small", create: classOnly, namespaced: true},
		"ClassUnusable":            {catalog: "mysql/db!: small", create: classOnly, namespaced: true},
		"ClassAmbiguous":           {catalog: "mysql/db@db-a: small;mysql/db@db-b: small", create: classOnly, namespaced: true},
		"ClassWithoutPlans":        {catalog: "mysql/db: small!", create: classOnly, namespaced: true},
		"ClassWithoutDefault":      {catalog: "mysql/db: small large", create: classOnly, namespaced: true},
		"ClassWithTwoDefaults":     {catalog: "mysql/db: small* large*", create: classOnly, namespaced: true},
		"ClassWithTwoSuggested":    {catalog: "mysql/db: small? large?", create: classOnly, namespaced: true},
		"ClassOfOtherType":         {catalog: "redis/db: small", create: `{"clusterServiceClassExternalName":"db","serviceType":"mysql"}`},
		"PlanOfOtherClass":         {catalog: "db: small;db2: large", create: `{"clusterServiceClassName":"db","clusterServicePlanName":"db2-large"}`, namespaced: true},
		"PlanOfOtherType":          {catalog: "redis/db: small", create: `{"clusterServiceClassName":"db","clusterServicePlanName":"db-small","serviceType":"mysql"}`, namespaced: true},
		"PlanAmbiguous":            {catalog: "db: small@a small@b", create: byName, namespaced: true},
		"TypeUnknown":              {catalog: "redis/db: small", create: byType},
		"TypeWithoutDefault":       {catalog: "mysql/db: small gone!;dev|mysql/own: tiny", create: byType},
		"TypeWithManyPlans":        {catalog: many, create: byType},
		"TypeWithTwoDefaults":      {catalog: "mysql/azure: basic*;mysql/aws: rds*", create: byType, namespaced: true},
		"TypeWithTwoSuggested":     {catalog: "mysql/azure: basic?;mysql/aws: rds?", create: byType, namespaced: true},
		"TypeOfTwinClasses":        {catalog: "mysql/db@db-a: small? x;mysql/db@db-b: large?", create: byType, namespaced: true},
		"TypeAskedTooOften":        {catalog: "mysql/db: small", create: byType, adjust: exhaust},
		"TypeTooLong":              {catalog: db, create: `{"serviceType":"` + strings.Repeat("x", 400) + `"}`},
		"WithTypesOffTypeOnly":     {catalog: db, create: byType, adjust: func(w *env) { gatesOff(w, options.ServiceTypes) }},
		"WithTypesOffClassOnly":    {catalog: db, create: classOnly, adjust: func(w *env) { gatesOff(w, options.ServiceTypes) }},
		"WithSuggestionsOff":       {catalog: "mysql/db: small? large", create: byType, adjust: func(w *env) { gatesOff(w, options.SuggestedPlans) }},
		"ReplanToNoSuchPlan":       {catalog: db, create: byType, write: `{"spec":{"clusterServicePlanExternalName":"huge"}}`, namespaced: true},
		"ReplanToOtherScope":       {catalog: db + ";dev|db: small", create: `{"clusterServiceClassExternalName":"db"}`, put: `{"servicePlanExternalName":"small"}`},
		"ReplanByPlanOfOtherScope": {catalog: db + ";dev|db: small", create: byType, put: `{"servicePlanExternalName":"small"}`},
		"ReplanToUnusable":         {catalog: "mysql/db: small* large!", create: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`},
	}
}

// referenceDenials: references that are not what they should be.
func referenceDenials() map[string]denialCase {
	backup := func(spec string) string { return `{"externalID":"e-1",` + spec[1:] }
	refs := `{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}`
	return map[string]denialCase{
		"Forged":             {catalog: db, create: refs, namespaced: true},
		"ForgedClassOnly":    {catalog: db, create: `{"serviceType":"mysql","clusterServiceClassRef":{"name":"db"}}`},
		"BackupOfNothing":    {catalog: "other:", create: backup(refs), namespaced: true},
		"BackupOfBothScopes": {catalog: db, create: backup(`{"clusterServicePlanRef":{"name":"db-small"},"servicePlanRef":{"name":"db-small"}}`)},
		"BackupWithoutPlan":  {catalog: db, create: backup(`{"clusterServiceClassRef":{"name":"db"}}`), namespaced: true},
		"BackupWithoutClass": {catalog: db, create: backup(`{"clusterServicePlanRef":{"name":"db-small"}}`), namespaced: true},
		"BackupOfOtherClass": {catalog: db + ";db2:", create: backup(`{"clusterServiceClassRef":{"name":"db2"},"clusterServicePlanRef":{"name":"db-small"}}`), namespaced: true},
		"BackupOfOtherType":  {catalog: db, create: backup(`{"serviceType":"redis",` + refs[1:])},
		"BackupMisnamed":     {catalog: db, create: backup(`{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large",` + refs[1:]), namespaced: true},
		"BackupOtherScope":   {catalog: db, create: backup(`{"serviceClassExternalName":"db","servicePlanExternalName":"small",` + refs[1:])},
	}
}

// changeDenials: what cannot change.
func changeDenials() map[string]denialCase {
	return map[string]denialCase{
		"ChangeClass":         {catalog: db + ";db2: small", create: byName, write: `{"spec":{"clusterServiceClassExternalName":"db2"}}`, namespaced: true},
		"ChangeReference":     {catalog: db, create: byType, write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`, namespaced: true},
		"ChangePlanForbidden": {catalog: db, create: byType, edits: []func(*stock){fixedPlans}, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, namespaced: true},
		"ChangePlanFixed":     {catalog: db, create: byType, edits: []func(*stock){planSays("small", false)}, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, namespaced: true},
		"ChangeType":          {catalog: db, create: byType, write: `{"spec":{"serviceType":"redis"}}`},
		"ChangeSelector":      {catalog: db, create: byType, write: `{"spec":{"planSelector":{"matchLabels":{"tier":"gold"}}}}`},
		"ChangeExternalID":    {catalog: db, create: byType, write: `{"spec":{"externalID":"other"}}`},
		"ChangeUnseen": {
			catalog: db, create: `{"serviceType":"mysql","parameters":{"n":9007199254740993}}`, unseen: true,
			adjust: func(w *env) { w.user.Username = "bob" }, write: `{"spec":{"parameters":{"n":9007199254740992}}}`,
		},
		"ChangeUnseenRequests": {
			catalog: db, create: `{"serviceType":"mysql","updateRequests":9007199254740995}`, unseen: true,
			adjust: func(w *env) { w.user.Username = "bob" }, write: `{"spec":{"updateRequests":9007199254740996}}`,
		},
		"ChangeUpdateRequests": {catalog: db, create: `{"serviceType":"mysql","updateRequests":3}`, write: `{"spec":{"updateRequests":2}}`},
		"ChangeThree":          {catalog: db, create: byType, write: `{"spec":{"externalID":"other","serviceType":"redis","planSelector":{"matchLabels":{"tier":"gold"}}}}`},
		"ForgedOnUndecided": {
			catalog: "other:", create: byName, later: db,
			write: `{"spec":{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}}`,
		},
	}
}

// parameterDenials: parameters and their sources.
func parameterDenials() map[string]denialCase {
	with := func(member string) string { return `{"serviceType":"mysql",` + member + `}` }
	deep := strings.Repeat(`{"a":`, 70) + `"` + canary + `"` + strings.Repeat(`}`, 70)
	large := `{"big":"` + strings.Repeat(canary, 30000) + `"}`
	half := `{"half":"` + strings.Repeat("x", 140<<10) + `"}`
	return map[string]denialCase{
		"ParametersNoObject":      {catalog: db, create: with(`"parameters":"` + canary + `"`)},
		"ParametersTwice":         {catalog: db, create: with(`"parameters":{"a":{"b":"` + canary + `","b":1}}`)},
		"ParametersTooDeep":       {catalog: db, create: with(`"parameters":` + deep)},
		"ParametersTooLarge":      {catalog: db, create: with(`"parameters":` + large)},
		"ParametersTooLargeMerge": {catalog: db, create: with(`"parameters":{"mine":"` + strings.Repeat("y", 140<<10) + `"}`), edits: []func(*stock){planDefaults("db-small", half)}},
		"ParametersOfUndecided":   {catalog: "other:", create: `{"clusterServiceClassName":"db","clusterServicePlanName":"db-small","parameters":[` + `"` + canary + `"]}`},
		"ParametersChangedDeep":   {catalog: db, create: byType, write: `{"spec":{"parameters":` + deep + `}}`},
		"BrokenPlanDefaults":      {catalog: db, create: byType, edits: []func(*stock){planDefaults("db-small", `{"a":"`+canary+`","a":1}`)}},
		"BrokenClassDefaults":     {catalog: db, create: byType, edits: []func(*stock){classDefaults("db", `["`+canary+`"]`)}},
		"BrokenNamespacedDefaults": {
			catalog: "dev|mysql/db: small*", create: byType, edits: []func(*stock){planDefaults("dev/db-small", `["`+canary+`"]`)},
		},
		"Sources": {catalog: db, create: with(`"parametersFrom":[{},{"secretKeyRef":{"name":"","key":"k"}},{"secretKeyRef":{"name":"s","key":""}},` +
			`{"secretKeyRef":{"name":"s","key":"k"}},{"secretKeyRef":{"name":"s","key":"k"}}]`)},
		"UnreadableType":   {catalog: db, create: `{"serviceType":7}`},
		"UnreadableNumber": {catalog: db, create: with(`"updateRequests":99999999999999999999`)},
		"UnreadableSource": {catalog: db, create: with(`"parametersFrom":[{"secretKeyRef":{"name":["` + canary + `"]}}]`)},
		"UnreadableSpec":   {catalog: db, create: `["` + canary + `"]`},
	}
}

// schemaDenials: what the plan's schema does not allow.
func schemaDenials() map[string]denialCase {
	schema := `{"type":"object","properties":{"size":{"enum":["S","M"]},"count":{"type":"integer","maximum":3},"it's":{"type":"integer"}},"required":["count"],"additionalProperties":false}`
	lots := `{"count":1,"a1":"` + canary + `","a2":2,"a3":3,"a4":4,"a5":5,"a6":6,"a7":7,"a8":8,"a9":9}`
	strict := []func(*stock){createSchemaOf("db-small", schema)}
	return map[string]denialCase{
		"SchemaValue":        {catalog: db, create: `{"serviceType":"mysql","parameters":{"size":"` + canary + `","count":9}}`, edits: strict},
		"SchemaMissing":      {catalog: db, create: byType, edits: strict},
		"SchemaMany":         {catalog: db, create: `{"serviceType":"mysql","parameters":` + lots + `}`, edits: strict},
		"SchemaOfDefault":    {catalog: db, create: `{"serviceType":"mysql","parameters":{"count":1}}`, edits: append(strict, classDefaults("db", `{"size":"`+canary+`"}`))},
		"SchemaInANamespace": {catalog: "dev|mysql/db: small*", create: byType, edits: []func(*stock){createSchemaOf("dev/db-small", schema)}},
		"SchemaOfNewPlan": {
			catalog: db, create: byType, edits: []func(*stock){planDefaults("db-small", `{"count":1,"it's":"`+canary+`","net":{"a/b":1}}`), createSchemaOf("db-large", schema)},
			write: `{"spec":{"clusterServicePlanExternalName":"large"}}`,
		},
		"SchemaOfNewPlanForSelector": {
			catalog: "mysql/db: small{a=b} large", create: `{"planSelector":{"matchLabels":{"a":"b"}}}`,
			edits: []func(*stock){planDefaults("db-small", `{"count":1,"net":1}`), createSchemaOf("db-large", schema)},
			put:   `{"planSelector":{},"parameters":{"net":1,"count":1},"clusterServicePlanExternalName":"large"}`,
		},
	}
}
