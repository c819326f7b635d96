package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// offeringAccessRules are about what others do with what a class or plan names.
func offeringAccessRules() map[string]ruleCase {
	all := map[string]ruleCase{}
	for _, cases := range []map[string]ruleCase{transformRules(), useRules()} {
		for name, tc := range cases {
			if all[name] = tc; tc.kind == "" {
				tc.kind = "ClusterServicePlan"
				all[name] = tc
			}
		}
	}
	return all
}

// transformRules are about the Secrets whose keys defaults add.
func transformRules() map[string]ruleCase {
	adds := func(secrets ...string) string {
		var items []string
		for _, secret := range secrets {
			namespace, name, _ := strings.Cut(secret, "/")
			items = append(items, fmt.Sprintf(`{"addKeysFrom":{"secretRef":{"namespace":%q,"name":%q}}}`, namespace, name))
		}
		return `"defaultSecretTransforms":[{"renameKey":{"from":"a","to":"b"}},` + strings.Join(items, ",") + `]`
	}
	read := func(secret string) string { return "alice get secrets " + secret }
	return map[string]ruleCase{
		"SecretReadable":   {reason: "Who may read it may hand it on.", spec: with(onePlan, adds("own/a")), granted: []string{read("own/a")}, asked: []string{read("own/a")}},
		"SecretForbidden":  {reason: "Who may not, may not.", spec: with(onePlan, adds("own/a")), asked: []string{read("own/a")}, denied: "SecretForbidden"},
		"SecretOfClass":    {reason: "A class is no other.", kind: "ClusterServiceClass", spec: with(oneClass, adds("own/a")), asked: []string{read("own/a")}, denied: "SecretForbidden"},
		"SecretElsewhere":  {reason: "Attack: a namespace's plan at another namespace's Secret.", spec: with(onePlan, adds("kube-system/ca")), granted: []string{read("kube-system/ca")}, scope: onlyNamespace, denied: "SecretElsewhere"},
		"SecretAnywhere":   {reason: "A cluster's plan may name any that its writer may read.", spec: with(onePlan, adds("kube-system/ca")), granted: []string{read("kube-system/ca")}, asked: []string{read("kube-system/ca")}, scope: onlyCluster},
		"SecretNowhere":    {reason: "It must be said where it is.", spec: with(onePlan, adds("/a")), denied: "SecretElsewhere"},
		"SecretSeveral":    {reason: "Each is asked once, and all are told.", spec: with(onePlan, adds("own/a", "own/b", "own/a", "/c")), asked: []string{read("own/a"), read("own/b")}, denied: "SecretForbidden"},
		"SecretKept":       {reason: "Who edits something else is not asked.", old: with(onePlan, adds("own/a")), spec: with(onePlan, adds("own/a")+`,"description":"x"`)},
		"SecretsOrdered":   {reason: "Nor who puts them in another order.", old: with(onePlan, adds("own/a", "own/b")), spec: with(onePlan, adds("own/b", "own/a"))},
		"SecretAdded":      {reason: "Only what is new is asked.", old: with(onePlan, adds("own/a")), spec: with(onePlan, adds("own/b", "own/a")), asked: []string{read("own/b")}, denied: "SecretForbidden"},
		"SecretReplaced":   {reason: "Another name is new.", old: with(onePlan, adds("own/a")), spec: with(onePlan, adds("own/b")), granted: []string{read("own/b")}, asked: []string{read("own/b")}},
		"SecretGateOff":    {reason: "The gate may be on again.", spec: with(onePlan, adds("own/a")), asked: []string{read("own/a")}, denied: "SecretForbidden", adjust: func(c *catalogEnv) { gatesOff(c.env, options.BindDefaults) }},
		"SecretOfCatalog":  {reason: "Attack: what the controller may read, a broker may not hand on.", spec: with(onePlan, adds("own/a")), granted: []string{"system:serviceaccount:defaultplan-system:defaultplan-controller get secrets own/a"}, adjust: asController, denied: "SecretOfCatalog"},
		"SecretOfOperator": {reason: "The relist leaves what an operator wrote.", old: with(onePlan, adds("own/a")), spec: with(onePlan, adds("own/a")+`,"description":"x"`), adjust: asController},
		"SecretDropped":    {reason: "Less is never asked.", old: with(onePlan, adds("own/a", "own/b")), spec: with(onePlan, adds("own/a"))},
	}
}

// asController makes the write one of the controller, which may read every Secret.
func asController(c *catalogEnv) { c.user.Username = options.New().Controllers[0] }

// useRules are about cluster's brokers at which instances of a namespace are provisioned.
func useRules() map[string]ruleCase {
	const use = "alice use clusterservicebrokers azure"
	copied := func(spec string) string { return with(spec, `"clusterServiceBrokerName":"azure"`) }
	classAt := func(broker string) func(string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){func(s *stock) {
				if class, ok := s.object(at+"db", isClass).(*v1beta1.ServiceClass); ok {
					class.Spec.ClusterServiceBrokerName = broker
				}
			}}
		}
	}
	cases := map[string]ruleCase{
		"BrokerUsable":          {reason: "A copy, with the right.", spec: copied(onePlan), granted: []string{use}, asked: []string{use}},
		"BrokerForbidden":       {reason: "A copy, without: its external ID may be forged.", spec: copied(onePlan), asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerOfClass":         {reason: "A class is a copy, too.", kind: "ClusterServiceClass", spec: copied(oneClass), asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerOfClassUsable":   {reason: "And may be.", kind: "ClusterServiceClass", spec: copied(oneClass), granted: []string{use}, asked: []string{use}},
		"BrokerNamed":           {reason: "It is named later.", old: onePlan, spec: copied(onePlan), asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerIDForged":        {reason: "Attack: the ID becomes another plan's.", old: copied(onePlan), patch: `{"spec":{"externalID":"premium"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerClassChanged":    {reason: "Or the class.", old: copied(onePlan), patch: `{"spec":{"serviceClassRef":{"name":"other"}}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerOtherEdit":       {reason: "Any other edit is free.", old: copied(onePlan), patch: `{"spec":{"description":"x"}}`},
		"BrokerLabelEdit":       {reason: "Attack: policies and limits tell plans apart by labels.", old: copied(onePlan), patch: `{"metadata":{"labels":{"a":"b"}}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerLabelAllowed":    {reason: "Who may use the broker says what its plans are.", old: copied(onePlan), patch: `{"metadata":{"labels":{"a":"b"}}}`, granted: []string{use}, asked: []string{use}},
		"BrokerClassLabelEdit":  {reason: "Attack: and by those of the class.", kind: "ClusterServiceClass", old: copied(oneClass), patch: `{"metadata":{"labels":{"a":"b"}}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerRenamed":         {reason: "Attack: and by names.", old: copied(onePlan), patch: `{"spec":{"externalName":"harmless"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerClassRenamed":    {reason: "Attack: and by those of the class.", kind: "ClusterServiceClass", old: copied(oneClass), patch: `{"spec":{"externalName":"harmless"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerRetyped":         {reason: "Attack: and by types.", old: copied(onePlan), patch: `{"spec":{"serviceType":"harmless"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerClassRetyped":    {reason: "Attack: and by those of the class.", kind: "ClusterServiceClass", old: copied(oneClass), patch: `{"spec":{"serviceType":"harmless"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerLeftToClass":     {reason: "Attack: a plan that leaves the broker to its class, with a forged ID.", catalog: "db:", edits: classAt("azure"), spec: onePlan, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerLeftAllowed":     {reason: "Who may use it may leave it out, though it is never chosen so.", catalog: "db:", edits: classAt("azure"), spec: onePlan, granted: []string{use}, asked: []string{use}},
		"BrokerLeftLabelled":    {reason: "Attack: the same with a plan that was there.", catalog: "db:", edits: classAt("azure"), old: onePlan, patch: `{"spec":{"externalName":"harmless"}}`, asked: []string{use}, denied: "BrokerForbidden"},
		"BrokerOfTwoMinds":      {reason: "What it names itself is asked, whatever its class says.", catalog: "db:", edits: classAt("gcp"), spec: copied(onePlan), granted: []string{use}, asked: []string{use}},
		"BrokerOfTheNamespace":  {reason: "One's own broker needs no right.", catalog: "db:", edits: classAt(""), spec: with(onePlan, `"serviceBrokerName":"mine"`)},
		"BrokerAgreesWithClass": {reason: "One broker is asked once.", catalog: "db:", edits: classAt("azure"), spec: copied(onePlan), granted: []string{use}, asked: []string{use}},
	}
	for name, tc := range cases {
		tc.scope = onlyNamespace
		cases[name] = tc
	}
	cases["BrokerOfTheCluster"] = ruleCase{reason: "In the cluster's catalog, who writes it decides.", spec: copied(onePlan), scope: onlyCluster}
	return cases
}

func TestOfferingAccessRules(t *testing.T) {
	t.Parallel()
	check(t, offeringAccessRules())
}
