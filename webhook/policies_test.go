package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/policy"
)

// ruled adds policies, each in a text such as
//
//	deny budget plan=large in=dev,qa says=ask-ann
//
// "deny" or "allow", for bindings with "bind-" before it; its name; what it is about: type, class, plan, label (of plans),
// instance (namespace/name) and ilabel (of instances); where it holds: in (names) and where (a label of namespaces); and its
// message. A label is written key:value. "broken" makes a selector of it that cannot be read.
func ruled(texts ...string) func(*stock) {
	return func(s *stock) {
		for _, text := range texts {
			s.objects = append(s.objects, policyObject(s.tb, text))
		}
	}
}

func policyObject(tb testing.TB, text string) client.Object {
	tb.Helper()
	words := strings.Fields(text)
	meta := metav1.ObjectMeta{Name: words[1], UID: types.UID("uid-policy-" + words[1])}
	action, binds := strings.CutPrefix(words[0], "bind-")
	rule := v1beta1.PolicyRule{Action: map[string]v1beta1.PolicyAction{"deny": v1beta1.PolicyDeny, "allow": v1beta1.PolicyAllow}[action]}
	var subject v1beta1.BindingPolicySubject
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "type":
			subject.ServiceType = value
		case "class":
			subject.ClassName = value
		case "plan":
			subject.PlanName = value
		case "label":
			subject.PlanSelector = selecting(value)
		case "instance":
			namespace, name, _ := strings.Cut(value, "/")
			subject.Instance = &v1beta1.PolicyInstance{Namespace: namespace, Name: name}
		case "ilabel":
			subject.InstanceSelector = selecting(value)
		case "in":
			rule.Namespaces = placesOf(rule.Namespaces)
			rule.Namespaces.Names = strings.Split(value, ",")
		case "where":
			rule.Namespaces = placesOf(rule.Namespaces)
			rule.Namespaces.Selector = selecting(value)
		case "says":
			rule.Message = strings.ReplaceAll(value, "-", " ")
		case "broken":
			subject.PlanSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}
		default:
			require.FailNow(tb, "no such word", word)
		}
	}
	if binds {
		return &v1beta1.BindingPolicy{ObjectMeta: meta, Spec: v1beta1.BindingPolicySpec{PolicyRule: rule, Subjects: []v1beta1.BindingPolicySubject{subject}}}
	}
	return &v1beta1.ProvisioningPolicy{ObjectMeta: meta, Spec: v1beta1.ProvisioningPolicySpec{
		PolicyRule: rule, Subjects: []v1beta1.PolicySubject{{PlanSubject: subject.PlanSubject}},
	}}
}

func placesOf(places *v1beta1.PolicyNamespaces) *v1beta1.PolicyNamespaces {
	if places == nil {
		return &v1beta1.PolicyNamespaces{}
	}
	return places
}

func selecting(text string) *metav1.LabelSelector {
	key, value, _ := strings.Cut(text, ":")
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// hasNamespace adds a namespace with a label.
func hasNamespace(name, label, value string) func(*stock) {
	return func(s *stock) {
		s.objects = append(s.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: value}}})
	}
}

// A policedCase is a write of an instance under policies.
type policedCase struct {
	reason  string
	catalog string
	edits   []func(*stock)
	// policies are those that the API server has; known are those that the cache has, if they are others.
	policies []string
	known    []string
	behind   bool
	adjust   func(*world)
	// spec is that of a new instance; where write is set, that is stored first, before there were policies.
	spec, write string
	// denied is the label of the refusal, and then says is part of its text.
	denied, says string
	plan         string
	warnings     string
}

func (tc policedCase) run(t *testing.T) *outcome {
	t.Helper()
	known := tc.policies
	if tc.known != nil || tc.behind {
		known = tc.known
	}
	live := append([]func(*stock){ruled(tc.policies...)}, tc.edits...)
	cached := append([]func(*stock){ruled(known...)}, tc.edits...)
	w := worldOf(t, stocked(t, tc.catalog, tc.edits...), stocked(t, tc.catalog, tc.edits...))
	if tc.write == "" {
		w = worldOf(t, stocked(t, tc.catalog, cached...), stocked(t, tc.catalog, live...))
		if tc.adjust != nil {
			tc.adjust(w)
		}
		return w.create(tc.spec)
	}
	stored := w.created(tc.spec)
	w.cached.show(stocked(t, tc.catalog, cached...))
	w.live.show(stocked(t, tc.catalog, live...))
	if tc.adjust != nil {
		tc.adjust(w)
	}
	return w.write(changed(t, stored, tc.write), stored)
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range policedInstances() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.run(t)
			if tc.denied != "" {
				require.NotNil(t, o.denied(), tc.reason)
				assert.Equal(t, tc.denied, o.label(), tc.reason)
				assert.Contains(t, o.denied().Message, tc.says, tc.reason)
				return
			}
			stored := o.admitted()
			ref := at(t, stored, "/spec/clusterServicePlanRef/name")
			if ref == "absent" {
				ref = at(t, stored, "/spec/servicePlanRef/name")
			}
			assert.Equal(t, tc.plan, strings.Trim(ref, `"`), tc.reason)
			if tc.warnings != "" {
				assert.Contains(t, strings.Join(o.warnings(), "\n"), tc.warnings, tc.reason)
			}
		})
	}
}

func policedInstances() map[string]policedCase {
	const two = "mysql/db{tier=paid}: small* large{cores=9}"
	const bySelector = `{"planSelector":{"matchLabels":{"a":"b"}}}`
	const large = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`
	labelledNS := []func(*stock){hasNamespace("dev", "stage", "test")}
	refs := `{"externalID":"e-1",` + bindRefs + `}`
	return map[string]policedCase{
		"None":         {reason: "No policy, no refusal.", catalog: two, spec: byType, plan: "db-small"},
		"DeniedByType": {reason: "The type's default is refused by the policy's name and message.", catalog: two, policies: []string{"deny freeze type=mysql says=no-databases-until-May"}, spec: byType, denied: "PolicyDenied", says: `ProvisioningPolicy "freeze" does not let namespace "dev" use plan db/small: no databases until May`},
		"DeniedNamed":  {reason: "So is a plan by name.", catalog: two, policies: []string{"deny budget plan=large in=dev,qa"}, spec: large, denied: "PolicyDenied", says: "budget"},
		"OtherPlan":    {reason: "Another plan is not.", catalog: two, policies: []string{"deny budget plan=large in=dev"}, spec: byType, plan: "db-small"},
		"OtherPlace":   {reason: "Nor another namespace.", catalog: two, policies: []string{"deny budget plan=large in=qa"}, spec: large, plan: "db-large"},
		"ByClass":      {reason: "A class's name is all of its plans.", catalog: two, policies: []string{"deny x class=db"}, spec: `{"clusterServiceClassName":"db"}`, denied: "PolicyDenied"},
		"ByLabel":      {reason: "Labels of plans select them.", catalog: two, policies: []string{"deny x label=cores:9"}, spec: large, denied: "PolicyDenied"},
		"ByClassLabel": {reason: "Those of their classes, too.", catalog: two, policies: []string{"deny x label=tier:paid"}, spec: byType, denied: "PolicyDenied"},
		"ByExternalID": {reason: "An ID is no name: a copy has its original's.", catalog: two, policies: []string{"deny x plan=id-large", "deny y class=id-db"}, spec: large, plan: "db-large"},
		"ByNamespaceLabel": {
			reason: "Labels of namespaces select them.", catalog: two, edits: labelledNS, policies: []string{"deny x type=mysql where=stage:test"}, spec: byType, denied: "PolicyDenied",
		},
		"ByOtherNamespaceLabel": {reason: "Other labels do not.", catalog: two, edits: labelledNS, policies: []string{"deny x type=mysql where=stage:prod"}, spec: byType, plan: "db-small"},
		"NamespaceUnknown":      {reason: "A namespace that is not there has no labels.", catalog: two, policies: []string{"deny x type=mysql where=stage:test"}, spec: byType, plan: "db-small"},
		"AllowedHere":           {reason: "Who is allowed, may.", catalog: two, policies: []string{"allow x type=mysql in=dev", "allow y type=mysql in=qa"}, spec: byType, plan: "db-small"},
		"AllowedElsewhere": {
			reason: "Once any policy allows a plan, only where one allows it.", catalog: two, policies: []string{"allow x type=mysql in=qa says=ask-ann", "allow y plan=small in=prod"}, spec: byType,
			denied: "PolicyDenied", says: `plan db/small is only for the namespaces that ProvisioningPolicy "x", "y" names, and "dev" is not one of them: ask ann`,
		},
		"AllowedElsewhereByMany": {
			reason: "Many are counted.", catalog: two, policies: []string{"allow a type=mysql in=qa", "allow b type=mysql in=qb", "allow c type=mysql in=qc", "allow d type=mysql in=qd", "allow e type=mysql in=qe"}, spec: byType,
			denied: "PolicyDenied", says: `ProvisioningPolicy "a", "b", "c" or one of 2 more names`,
		},
		"AllowElseOfOthers": {reason: "What is allowed elsewhere of other plans matters not.", catalog: two, policies: []string{"allow x plan=large in=qa"}, spec: byType, plan: "db-small"},
		"DenyWins":          {reason: "Any deny wins.", catalog: two, policies: []string{"allow a type=mysql in=dev", "deny z plan=small"}, spec: byType, denied: "PolicyDenied", says: `"z"`},
		"OfBindings":        {reason: "A policy about bindings is none about instances.", catalog: two, policies: []string{"bind-deny x type=mysql", "bind-allow y type=mysql in=qa"}, spec: byType, plan: "db-small"},
		"NamespacedPlan": {
			reason: "A namespace's own plans are plans.", catalog: "dev|mysql/db: small*", policies: []string{"deny x type=mysql in=dev"}, spec: byType, denied: "PolicyDenied",
		},
		"NamespaceDefaultDenied": {
			reason: "A default that is denied is refused, not passed over for a lower tier.", catalog: "dev|mysql/own: tiny*;mysql/db: small*", policies: []string{"deny x class=own"}, spec: byType, denied: "PolicyDenied", says: "own/tiny",
		},
		"ClassDefaultDenied": {reason: "So is a class's.", catalog: two, policies: []string{"deny x plan=small"}, spec: `{"clusterServiceClassExternalName":"db"}`, denied: "PolicyDenied", says: "db/small"},
		"OnlyPlanDenied":     {reason: "And its only one.", catalog: "db: small", policies: []string{"deny x plan=small"}, spec: `{"clusterServiceClassExternalName":"db"}`, denied: "PolicyDenied"},
		"SelectorPasses": {
			reason: "A selector passes over what is denied here.", catalog: "db: small{a=b}=9 large{a=b}=1", policies: []string{"deny x plan=small in=dev"}, spec: bySelector, plan: "db-large",
		},
		"SelectorElsewhere": {reason: "And not over what is denied elsewhere.", catalog: "db: small{a=b}=9 large{a=b}=1", policies: []string{"deny x plan=small in=qa"}, spec: bySelector, plan: "db-small"},
		"SelectorAllDenied": {
			reason: "Where all are denied, it is told by what.", catalog: "db: small{a=b} large{a=b}", policies: []string{"deny x plan=small", "allow y plan=large in=qa"}, spec: bySelector, denied: "NoMatch", says: "denied by policy y",
		},
		"SelectorJustDenied": {
			reason: "A policy that only the API server has does not hold yet: replicas learn of it in a moment.", catalog: "db: small{a=b}=9 large{a=b}=1", behind: true, policies: []string{"deny x plan=small"}, spec: bySelector, plan: "db-small",
		},
		"SelectorJustAllowed": {
			reason: "Where all are denied by policies that are gone, the API server decides.", catalog: "db: small{a=b}=9 large{a=b}=1", known: []string{"deny x plan=small", "deny y plan=large"}, spec: bySelector, plan: "db-small",
		},
		"JustDeleted": {reason: "A policy that was just deleted refuses no one.", catalog: two, known: []string{"deny x type=mysql"}, spec: byType, plan: "db-small"},
		"JustChanged": {reason: "What is refused is told by the policy as it is now.", catalog: two, known: []string{"deny x type=mysql says=old"}, policies: []string{"deny x type=mysql says=new"}, spec: byType, denied: "PolicyDenied", says: "db/small: new"},
		"JustCreated": {reason: "One that the cache has not seen holds in a moment.", catalog: two, behind: true, policies: []string{"deny x type=mysql"}, spec: byType, plan: "db-small"},
		"AskedTooOften": {
			reason: "Over the limit the cache decides, and the refusal says so.", catalog: two, known: []string{"deny x type=mysql"}, adjust: exhaust, spec: byType, denied: "PolicyDenied", says: "judged by the webhook's cache",
		},
		"Restored":          {reason: "What comes with its references is held against the policies too.", catalog: db, policies: []string{"deny x plan=small"}, spec: refs, denied: "PolicyDenied"},
		"RestoredAllowed":   {reason: "And admitted where they allow it.", catalog: db, policies: []string{"deny x plan=large"}, spec: refs, plan: "db-small"},
		"PlanChange":        {reason: "So is another plan.", catalog: db, policies: []string{"deny x plan=large says=too-dear"}, spec: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, denied: "PolicyDenied", says: "too dear"},
		"PlanChangeAllowed": {reason: "Unless it is allowed.", catalog: db, policies: []string{"deny x plan=small"}, spec: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, plan: "db-large"},
		"OtherUpdate":       {reason: "What has its plan keeps it, whatever the policies say now.", catalog: db, policies: []string{"deny x type=mysql"}, spec: byType, write: `{"spec":{"parameters":{"a":1}}}`, plan: "db-small"},
		"Unreadable":        {reason: "A policy that cannot be read refuses no one.", catalog: two, policies: []string{"deny x broken"}, spec: byType, plan: "db-small"},
	}
}

// A policy does not refuse who touches what waits: it keeps waiting, and is told why.
func TestPolicyLeavesUndecided(t *testing.T) {
	t.Parallel()
	w := stocked(t, "other:").world()
	waits := w.created(byName)
	w.restock(stocked(t, db, ruled("deny x type=mysql says=ask-ann")))
	o := w.write(changed(t, waits, `{"metadata":{"labels":{"a":"b"}}}`), waits)
	assert.Equal(t, at(t, waits, "/spec"), at(t, o.admitted(), "/spec"))
	assert.Equal(t, []string{`no plan is decided yet: spec: ProvisioningPolicy "x" does not let namespace "dev" use plan db/small: ask ann; the instance waits`}, o.warnings())
	assert.Equal(t, "PolicyDenied", o.mutate.AuditAnnotations["undecided"])
	edited := w.write(changed(t, waits, `{"spec":{"parameters":{"a":1}}}`), waits)
	require.NotNil(t, edited.denied(), "an edit is refused")
	w.restock(stocked(t, db))
	assert.Equal(t, `{"name":"db-small"}`, at(t, w.write(waits, waits).admitted(), "/spec/clusterServicePlanRef"), "without the policy it is decided")
}

// A refusal does not advise what would be refused next.
func TestRefusalsDoNotAdviseDenied(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ catalog, spec, advice string }{
		"NoDefault":      {"mysql/db: small large huge", byType, "name one: spec.clusterServiceClassExternalName: db, spec.clusterServicePlanExternalName: small"},
		"ClassAmbiguous": {"mysql/db: small large huge", `{"clusterServiceClassExternalName":"db"}`, "spec.clusterServicePlanExternalName: small"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, tc.catalog, ruled("deny budget plan=huge", "deny frugal plan=large in=dev")).world()
			o := w.create(tc.spec)
			require.NotNil(t, o.denied())
			_, way, _ := strings.Cut(o.denied().Message, "→")
			assert.Contains(t, way, tc.advice)
			assert.NotContains(t, way, "huge")
			assert.NotContains(t, way, "large")
		})
	}
}

// Bindings are held against the policies of both kinds.
func TestBindingPolicies(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingPolicyCases())
}

func bindingPolicyCases() map[string]bindingCase {
	under := func(policies ...string) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){hasInstance("mydb", at+"db-small", labelled("stage", "test")), hasNamespace("dev", "team", "a"), ruled(policies...)}
		}
	}
	denied := func(reason string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(policies...), spec: toMydb, denied: "PolicyDenied"}
	}
	allowed := func(reason string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(policies...), spec: toMydb, plan: "db-small"}
	}
	backup := `{"instanceRef":{"name":"mydb"},"externalID":"e-1",` + bindRefs + `}`
	taken := []string{"taken as it is: plan db/small; no default was applied"}
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	unready := denied("Over the limit the cache decides, and says so.", "bind-deny x type=mysql")
	unready.adjust = exhaust
	deleted := allowed("A policy that was just deleted refuses no one.")
	deleted.behind = under("bind-deny x type=mysql", "deny y type=mysql")
	fresh := allowed("One that the cache has not seen holds in a moment.", "bind-deny x type=mysql")
	fresh.behind = under()
	return map[string]bindingCase{
		"ByInstance":         denied("An instance by its name.", "bind-deny x instance=dev/mydb says=ask-ann"),
		"ByInstanceLabel":    denied("Or its labels.", "bind-deny x ilabel=stage:test"),
		"ByPlan":             denied("Or its plan.", "bind-deny x plan=small"),
		"ByClass":            denied("Or its class.", "bind-deny x class=db"),
		"ByType":             denied("Or its type.", "bind-deny x type=mysql"),
		"ByNamespaceLabel":   denied("Where the namespace has the label.", "bind-deny x type=mysql where=team:a"),
		"ByProvisioning":     denied("Where there may be no instance, there may be no new binding.", "deny x plan=small says=frozen"),
		"AllowedElsewhere":   denied("Being allowed elsewhere is not enough.", "bind-allow x instance=dev/mydb in=qa", "bind-allow y type=mysql in=prod"),
		"AllowedToProvision": denied("Being allowed to provision is none to bind.", "allow x type=mysql in=dev", "bind-allow y type=mysql in=qa"),
		"AllowedToBind":      denied("Nor the other way around.", "bind-allow x type=mysql in=dev", "allow y type=mysql in=qa"),
		"OtherInstance":      allowed("Others are others.", "bind-deny x instance=dev/other", "bind-deny y instance=prod/mydb", "bind-deny z ilabel=stage:prod", "deny v plan=large"),
		"AllSaid":            allowed("All that a subject says must be so.", "bind-deny x instance=dev/mydb ilabel=stage:prod"),
		"AllowedHere":        allowed("Who is allowed by both, may.", "bind-allow x instance=dev/mydb in=dev", "allow y type=mysql in=dev"),
		"OtherPlace":         allowed("What holds elsewhere does not hold here.", "bind-deny x type=mysql in=qa", "deny y type=mysql where=team:b"),
		"AskedTooOften":      unready, "JustDeleted": deleted, "JustCreated": fresh,
		"Restored":      {reason: "A backup is held against them, too.", edits: under("bind-deny x plan=small"), spec: backup, denied: "PolicyDenied"},
		"RestoredAhead": {reason: "Also before its instance, by what its references say.", edits: func(string) []func(*stock) { return []func(*stock){ruled("deny x plan=small")} }, spec: backup, denied: "PolicyDenied"},
		"RestoredAheadByInstance": {
			reason: "And by its instance's name.", edits: func(string) []func(*stock) { return []func(*stock){ruled("bind-deny x instance=dev/mydb")} }, spec: backup, denied: "PolicyDenied",
		},
		"RestoredAheadAllowed": {reason: "Unless they allow it.", edits: func(string) []func(*stock) { return []func(*stock){ruled("deny x plan=large")} }, spec: backup, plan: "db-small", warnings: taken},
		"GivenID":              {reason: "An object of the retired catalog, too.", edits: under("deny x plan=small"), spec: `{"instanceRef":{"name":"mydb"},"externalID":"e-1"}`, denied: "PolicyDenied"},
		"Touched": {
			reason: "A touch leaves it waiting.", edits: nothing, spec: toMydb, later: under("bind-deny x type=mysql says=ask-ann"), write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`,
			warnings: []string{`no plan is decided yet: spec.instanceRef.name: BindingPolicy "x" does not let namespace "dev" use instance "mydb" (plan db/small): ask ann; the binding waits`},
		},
		"Edited": {reason: "An edit is refused.", edits: nothing, spec: toMydb, later: under("bind-deny x type=mysql"), write: `{"spec":{"parameters":{"a":1}}}`, denied: "PolicyDenied"},
	}
}

// A settled binding is its policies' no more.
func TestSettledBindingUnderPolicies(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, richly("")...).world()
	stored := w.bindTo(rich).admitted()
	w.restock(stocked(t, db, append(richly(""), ruled("deny x type=mysql", "bind-deny y type=mysql"))...))
	assert.Equal(t, meant(t, stored), meant(t, w.write(bindingOf(rich), stored).admitted()))
	assert.Empty(t, w.write(stored, stored).mutate.Patch)
}

// A lister keeps the lists that it was asked to fill, each until it is released.
type lister struct {
	client.Reader

	filled  chan client.ObjectList
	release chan struct{}
}

func (l *lister) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	l.filled <- list
	<-l.release
	return nil
}

// Requests share live reads of the policies; each read has a list of its own, for the rules of the last are still in use.
func TestLivePoliciesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		live := &lister{filled: make(chan client.ObjectList, 9), release: make(chan struct{})}
		p := newPolicies(Readers{Live: live, Policies: NewRuleSet()})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, err := p.judgeLive(t.Context(), &policy.Target{}, "dev")
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		close(live.release)
		wg.Wait()
		require.Len(t, live.filled, 2, "one read under way, and one for all who came too late for it")
		first, second := <-live.filled, <-live.filled
		assert.NotSame(t, first, second)
	})
}

// A set of rules follows what its informers tell.
func TestRuleSet(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).world()
	ctx := log.IntoContext(t.Context(), funcr.New(w.writeLog, funcr.Options{}))
	set := NewRuleSet()
	events := set.events(ctx)
	class, plan := resolve.ClassEntry{Ref: resolve.Ref{Name: "db"}, Type: "mysql"}, resolve.PlanEntry{Ref: resolve.Ref{Name: "db-small"}, ExternalName: "small"}
	target := policy.TargetOf(class, plan)
	found := func() []string {
		names := []string{}
		for _, rule := range set.rulesFor(&target) {
			names = append(names, rule.Kind+"/"+rule.Name)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	assert.Empty(t, found())
	events.OnAdd(policyObject(t, "deny x plan=small"), true)
	events.OnAdd(policyObject(t, "bind-deny x type=mysql"), true)
	events.OnAdd(policyObject(t, "deny y plan=large"), false)
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/x"}, found(), "policies of both kinds may share a name")
	events.OnUpdate(policyObject(t, "deny x plan=small"), policyObject(t, "deny x plan=large"))
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "an update replaces")
	events.OnUpdate(policyObject(t, "deny y plan=large"), policyObject(t, "deny y class=db type=mysql"))
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/y"}, found())
	assert.Empty(t, w.log())
	events.OnUpdate(policyObject(t, "deny y class=db"), policyObject(t, "deny y class=db broken says="+canary))
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "one that cannot be read any more has no effect")
	logged := w.log()
	assert.Contains(t, logged, `cannot read ProvisioningPolicy \"y\"`, "which is told, by its name")
	assert.Contains(t, logged, "spec.subjects[0].planSelector")
	assert.NotContains(t, logged, strings.ReplaceAll(canary, "-", " "))
	events.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "x", Obj: policyObject(t, "bind-deny x type=mysql")})
	assert.Empty(t, found(), "a deletion that was missed counts")
	events.OnDelete(policyObject(t, "deny z plan=small"))
	events.OnAdd("not an object", false)
	events.OnDelete("not an object")
	events.OnAdd(policyObject(t, "deny x plan=small"), false)
	events.OnDelete(policyObject(t, "deny x plan=small"))
	assert.Empty(t, found())
	assert.Empty(t, set.byKey, "nothing is left behind")
}

// Policies that cannot be read from the API server are a failure of ours, never a refusal.
func TestPoliciesUnknown(t *testing.T) {
	t.Parallel()
	instance, binding := stocked(t, db).world().created(byName), stocked(t, db, hasInstance("mydb", "db-small")).world().bindTo(toMydb).admitted()
	for broken, paths := range map[string]map[string][]byte{
		"list ProvisioningPolicyList": {ValidateInstances: instance, ValidateBindings: binding},
		"list BindingPolicyList":      {ValidateBindings: binding},
		"get Namespace /dev":          {ValidateInstances: instance, ValidateBindings: binding},
	} {
		for path, object := range paths {
			w := stocked(t, db, ruled("deny x type=mysql"), hasInstance("mydb", "db-small")).world()
			w.live.fail(func(read string) error {
				if read == broken {
					return assert.AnError
				}
				return nil
			})
			body, err := json.Marshal(w.review(object, nil))
			require.NoError(t, err)
			assert.Equal(t, http.StatusInternalServerError, w.post(path, body).Code, "%s: %s", path, broken)
		}
	}
}

// However many policies there are, a review that none of them concerns reads none of them and no namespace.
func TestPoliciesCostNothing(t *testing.T) {
	t.Parallel()
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d where=a:b", i, i)
	}
	w := stocked(t, "mysql/db: small*^", ruled(policies...), hasInstance("mydb", "db-small")).world()
	w.created(byName)
	w.bindTo(toMydb).admitted()
	assert.Empty(t, w.live.taken())
	for _, read := range w.cached.taken() {
		assert.NotContains(t, read, "Polic")
		assert.NotContains(t, read, "Namespace ")
	}
}

// BenchmarkPolicies is a review of an instance by name and one of a binding, both halves, with no policies and with 1,000.
func BenchmarkPolicies(b *testing.B) {
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d in=dev", i, i)
	}
	for _, many := range [][]string{nil, policies} {
		w := stocked(b, "mysql/db: small*^", bindDefaultsOf("db-small", `{"user":"reader"}`), hasInstance("mydb", "db-small"), ruled(many...)).world()
		for name, object := range map[string][]byte{"Instance": instanceOf(byName), "Binding": bindingOf(`{"instanceRef":{"name":"mydb"},"parameters":{"a":1}}`)} {
			b.Run(fmt.Sprintf("%s/Policies=%d", name, len(many)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.write(object, nil).admitted()
					w.cached.taken()
				}
			})
		}
	}
}
