package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/resolve"
)

// small is a plan of the cluster, or of a namespace.
func small(namespace string) Plan {
	return Plan{Ref: resolve.Ref{Namespace: namespace, Name: "p-1"}, Class: "db", External: "small", Type: "mysql"}
}

func TestWhatIsOffered(t *testing.T) {
	t.Parallel()
	odd := func(class, external string) Plan {
		return Plan{Ref: resolve.Ref{Name: "p-1"}, Class: class, External: external, Type: "mysql"}
	}
	untyped := small("")
	untyped.Type = ""
	cases := map[string]struct {
		reason string
		got    Ways
		want   Ways
	}{
		"MakeDefault": {
			reason: "the cluster's is named as such: a namespace may have a plan of that name", got: small("").MakeDefault(),
			want: Ways{"svcat set plan db/small --default --cluster", "kubectl annotate clusterserviceplan p-1 servicecatalog.kubernetes.io/is-default-plan=true"},
		},
		"MakeDefaultInNamespace": {
			reason: "in a namespace", got: small("dev").MakeDefault(),
			want: Ways{"svcat set plan db/small --default -n dev", "kubectl annotate -n dev serviceplan p-1 servicecatalog.kubernetes.io/is-default-plan=true"},
		},
		"MakeDefaultOfClass": {
			reason: "svcat sets defaults of types only", got: untyped.MakeDefault(),
			want: Ways{"", "kubectl annotate clusterserviceplan p-1 servicecatalog.kubernetes.io/is-default-plan=true"},
		},
		"TakeDefault": {
			reason: "off", got: small("dev").TakeDefault(),
			want: Ways{"svcat set plan db/small --default=false -n dev", "kubectl annotate -n dev serviceplan p-1 servicecatalog.kubernetes.io/is-default-plan-"},
		},
		"TakeDefaultOfClass": {
			reason: "svcat takes off what it cannot set", got: untyped.TakeDefault(),
			want: Ways{"svcat set plan db/small --default=false --cluster", "kubectl annotate clusterserviceplan p-1 servicecatalog.kubernetes.io/is-default-plan-"},
		},
		"Switch": {
			reason: "the record", got: small("").Switch("mysql"),
			want: Ways{"svcat set plan db/small --default --cluster", `kubectl patch clusterservicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":{"name":"p-1"}}}'`},
		},
		"SwitchInNamespace": {
			reason: "the namespace's record", got: small("dev").Switch("mysql"),
			want: Ways{"svcat set plan db/small --default -n dev", `kubectl patch -n dev servicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":{"name":"p-1"}}}'`},
		},
		"Clear": {
			reason: "no plan clears the record", got: Ways{Kubectl: Record(resolve.Ref{Name: "mysql"}, "")},
			want: Ways{"", `kubectl patch clusterservicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":null}}'`},
		},
		"Choose": {
			reason: "any plan", got: Choose(resolve.Ref{Namespace: "dev", Name: "mysql"}),
			want: Ways{"svcat set plan CLASS/PLAN --default -n dev", `kubectl patch -n dev servicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":{"name":"PLAN"}}}'`},
		},
		"Show": {
			reason: "a plan whole", got: small("dev").Show(),
			want: Ways{"svcat describe plan db/small -n dev", "kubectl get -n dev serviceplan p-1 -o yaml"},
		},
		"NoClassName": {
			reason: "a plan whose class is not there", got: odd("", "small").Show(),
			want: Ways{"svcat describe plan --kube-name p-1 --cluster", "kubectl get clusterserviceplan p-1 -o yaml"},
		},
		"NoName": {
			reason: "a plan that its broker gave no name", got: odd("db", "").Show(),
			want: Ways{"svcat describe plan --kube-name p-1 --cluster", "kubectl get clusterserviceplan p-1 -o yaml"},
		},
		"Quoted": {
			reason: "a name may hold what a shell reads", got: odd("my db", "it's; rm").Show(),
			want: Ways{`svcat describe plan 'my db/it'\''s; rm' --cluster`, "kubectl get clusterserviceplan p-1 -o yaml"},
		},
		"NoFlag": {
			reason: "a class called as a flag", got: odd("--help", "small").Show(),
			want: Ways{"svcat describe plan --kube-name p-1 --cluster", "kubectl get clusterserviceplan p-1 -o yaml"},
		},
		"Slash": {
			reason: "svcat splits at the first slash", got: odd("a/b", "small").Show(),
			want: Ways{"svcat describe plan --kube-name p-1 --cluster", "kubectl get clusterserviceplan p-1 -o yaml"},
		},
		"Classes": {reason: "a listing", got: Classes(""), want: Ways{"svcat get classes --cluster", "kubectl get clusterserviceclasses"}},
		"Plans":   {reason: "a listing", got: Plans("dev"), want: Ways{"svcat get plans -n dev", "kubectl get -n dev serviceplans"}},
		"Brokers": {reason: "a listing", got: Brokers("dev"), want: Ways{"svcat get brokers -n dev", "kubectl get -n dev servicebrokers"}},
		"Wide":    {reason: "more columns", got: Classes("").Wide(), want: Ways{"svcat get classes --cluster -o wide", "kubectl get clusterserviceclasses -o wide"}},
		"Labels":  {reason: "what selectors match", got: Plans("").Labelled(), want: Ways{"svcat get plans --cluster -o wide", "kubectl get clusterserviceplans --show-labels"}},
		"Instance": {
			reason: "why", got: Order{"ServiceInstance", "dev", "mydb"}.Explain(),
			want: Ways{"svcat explain instance/mydb -n dev", "kubectl patch serviceinstances.servicecatalog.k8s.io mydb -n dev --type=merge -p '{}'"},
		},
		"Binding": {
			reason: "why", got: Order{"ServiceBinding", "dev", "creds"}.Explain(),
			want: Ways{"svcat explain binding/creds -n dev", "kubectl patch servicebindings.servicecatalog.k8s.io creds -n dev --type=merge -p '{}'"},
		},
		"AbandonInstance": {
			reason: "what the broker has stays", got: Order{"ServiceInstance", "dev", "mydb"}.Abandon(),
			want: Ways{
				"svcat deprovision mydb --abandon --yes -n dev",
				"kubectl annotate -n dev serviceinstance mydb servicecatalog.kubernetes.io/abandon=true && kubectl delete -n dev serviceinstance mydb",
			},
		},
		"AbandonBinding": {
			reason: "what the broker has stays", got: Order{"ServiceBinding", "dev", "creds"}.Abandon(),
			want: Ways{
				"svcat unbind --name creds --abandon --yes -n dev",
				"kubectl annotate -n dev servicebinding creds servicecatalog.kubernetes.io/abandon=true && kubectl delete -n dev servicebinding creds",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.got, tc.reason)
		})
	}
}

func TestSharedNamesAreNotUsed(t *testing.T) {
	t.Parallel()
	at := func(namespace, name, class, plan string) resolve.Candidate {
		return resolve.Candidate{Plan: resolve.Ref{Namespace: namespace, Name: name}, ClassName: class, PlanName: plan, Type: "mysql"}
	}
	cases := map[string]struct {
		reason string
		others []resolve.Candidate
		want   string
	}{
		"Alone":       {reason: "nothing to mistake it for", want: "svcat set plan db/small --default --cluster"},
		"Itself":      {reason: "it is among them", others: []resolve.Candidate{at("", "p-1", "db", "small")}, want: "svcat set plan db/small --default --cluster"},
		"OtherPlan":   {reason: "other names", others: []resolve.Candidate{at("", "p-2", "db", "large")}, want: "svcat set plan db/small --default --cluster"},
		"OtherClass":  {reason: "a plan of that name in another class", others: []resolve.Candidate{at("", "p-2", "big", "small")}, want: "svcat set plan db/small --default --cluster"},
		"OtherScope":  {reason: "--cluster tells them apart", others: []resolve.Candidate{at("dev", "p-2", "db", "small")}, want: "svcat set plan db/small --default --cluster"},
		"SharedNames": {reason: "svcat could not tell which", others: []resolve.Candidate{at("", "p-2", "db", "small")}, want: "svcat set plan --kube-name p-1 --default --cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, PlanAmong(at("", "p-1", "db", "small"), tc.others).MakeDefault().Svcat, tc.reason)
		})
	}
}

func TestPlanOfItsClass(t *testing.T) {
	t.Parallel()
	ref := resolve.Ref{Name: "p-1"}
	cases := map[string]struct {
		reason string
		plan   resolve.PlanEntry
		class  *resolve.ClassEntry
		want   Plan
	}{
		"OwnType":   {reason: "its own type comes first", plan: resolve.PlanEntry{Ref: ref, ExternalName: "small", Type: "mysql"}, class: &resolve.ClassEntry{ExternalName: "db", Type: "redis"}, want: Plan{ref, "db", "small", "mysql"}},
		"ClassType": {reason: "else it has its class's", plan: resolve.PlanEntry{Ref: ref, ExternalName: "small"}, class: &resolve.ClassEntry{ExternalName: "db", Type: "redis"}, want: Plan{ref, "db", "small", "redis"}},
		"NoClass":   {reason: "the class may come later", plan: resolve.PlanEntry{Ref: ref, ExternalName: "small", Type: "mysql"}, want: Plan{ref, "", "small", "mysql"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, PlanOf(&tc.plan, tc.class), tc.reason)
		})
	}
}

func TestHowWaysRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ways   Ways
		lead   string
		lines  []string
		text   string
	}{
		"Both":    {reason: "a line for each", ways: Ways{"svcat x", "kubectl x"}, lead: "switch at once", lines: []string{"switch at once: svcat x", "or with kubectl: kubectl x"}, text: "svcat x, or with kubectl: kubectl x"},
		"Svcat":   {reason: "kubectl has none", ways: Ways{Svcat: "svcat x"}, lead: "switch", lines: []string{"switch: svcat x"}, text: "svcat x"},
		"Kubectl": {reason: "svcat has none", ways: Ways{Kubectl: "kubectl x"}, lead: "switch", lines: []string{"switch: kubectl x"}, text: "kubectl x"},
		"NoLead":  {reason: "the command says it", ways: Ways{Kubectl: "kubectl x"}, lines: []string{"kubectl x"}, text: "kubectl x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.lines, tc.ways.Lines(tc.lead), tc.reason)
			assert.Equal(t, tc.text, tc.ways.String(), tc.reason)
		})
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"alice": "alice", "system:serviceaccount:dev:builder": "system:serviceaccount:dev:builder", "alice@example.org": "alice@example.org",
		"": "''", "Alice B": "'Alice B'", "o'neil; rm -rf /": `'o'\''neil; rm -rf /'`, "$HOME": "'$HOME'",
	} {
		assert.Equal(t, want, Word(text))
	}
}
