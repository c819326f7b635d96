package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A draw deals out small values from bytes; an exhausted one deals zeros.
type draw []byte

func (d *draw) upTo(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func pick[T any](d *draw, from ...T) T { return from[d.upTo(len(from))] }

// Few different values, so that rules select and hold about as often as not.
func (d *draw) selector() *metav1.LabelSelector {
	operators := []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt"}
	switch d.upTo(6) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{pick(d, "x", "y", "!"): pick(d, "1", "2", "-")}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: pick(d, "x", "y", ""), Operator: pick(d, operators...), Values: pick(d, nil, []string{"1"}, []string{"1", "2"}, []string{" "})},
		}}
	}
	return nil
}

func (d *draw) rule() v1beta1.PolicyRule {
	return v1beta1.PolicyRule{
		Action: pick(d, v1beta1.PolicyAllow, v1beta1.PolicyDeny, v1beta1.PolicyAllow, v1beta1.PolicyDeny, ""), Message: pick(d, "", "ask Ann"),
		Namespaces: pick(d, nil, &v1beta1.PolicyNamespaces{Names: pick(d, nil, []string{"dev"}, []string{"dev", "qa"}), Selector: d.selector()}),
	}
}

func (d *draw) subject() v1beta1.PlanSubject {
	return v1beta1.PlanSubject{
		ServiceType: pick(d, "", "", "redis", "mysql"), ClassName: pick(d, "", "", "cache", "c1"), PlanName: pick(d, "", "", "small", "p1"), PlanSelector: d.selector(),
	}
}

func (d *draw) policies() (provisioning []*v1beta1.ProvisioningPolicy, binding []*v1beta1.BindingPolicy) {
	for _, name := range []string{"a", "b", "c", "d"}[:d.upTo(5)] {
		p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ProvisioningPolicySpec{PolicyRule: d.rule()}}
		for range 1 + d.upTo(2) {
			p.Spec.Subjects = append(p.Spec.Subjects, v1beta1.PolicySubject{PlanSubject: d.subject()})
		}
		provisioning = append(provisioning, p)
	}
	for _, name := range []string{"b", "c", "d", "e"}[:d.upTo(5)] {
		p := &v1beta1.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.BindingPolicySpec{PolicyRule: d.rule()}}
		for range 1 + d.upTo(2) {
			p.Spec.Subjects = append(p.Spec.Subjects, v1beta1.BindingPolicySubject{
				PlanSubject: d.subject(), Instance: pick(d, nil, nil, &v1beta1.PolicyInstance{Namespace: pick(d, "dev", "qa"), Name: "gitlab"}), InstanceSelector: d.selector(),
			})
		}
		binding = append(binding, p)
	}
	return provisioning, binding
}

func (d *draw) labels() map[string]string {
	return pick(d, nil, map[string]string{"x": "1"}, map[string]string{"x": "2", "y": "1"})
}

func (d *draw) target() policy.Target {
	target := policy.TargetOf(
		resolve.ClassEntry{Ref: resolve.Ref{Name: pick(d, "c1", "c2", "cache")}, ExternalName: pick(d, "cache", ""), Type: pick(d, "", "redis", "mysql"), Labels: d.labels()},
		resolve.PlanEntry{Ref: resolve.Ref{Name: pick(d, "p1", "p2", "small")}, ExternalName: pick(d, "small", ""), Type: pick(d, "", "redis", "mysql"), Labels: d.labels()},
	)
	if d.upTo(2) == 1 {
		target.Instance = &policy.Instance{Namespace: pick(d, "dev", "qa"), Name: pick(d, "gitlab", "wiki"), Labels: d.labels()}
	}
	return target
}

func (d *draw) place() policy.Place {
	return policy.Place{Namespace: pick(d, "dev", "qa", "prod"), Labels: d.labels()}
}

// The oracle reads the policies as they are written, one sentence of the API's
// documentation after the other, and compiles nothing.
type oracle struct {
	target policy.Target
	place  policy.Place
}

func (o *oracle) matches(s *metav1.LabelSelector, set labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && parsed.Matches(set)
}

func readable(selectors ...*metav1.LabelSelector) bool {
	return !slices.ContainsFunc(selectors, func(s *metav1.LabelSelector) bool {
		_, err := metav1.LabelSelectorAsSelector(s)
		return err != nil
	})
}

func (o *oracle) holds(n *v1beta1.PolicyNamespaces) bool {
	return n == nil || slices.Contains(n.Names, o.place.Namespace) || n.Selector != nil && o.matches(n.Selector, o.place.Labels)
}

func (o *oracle) selects(s *v1beta1.BindingPolicySubject) bool {
	seen := labels.Merge(o.target.Labels.Class, o.target.Labels.Plan)
	instance := policy.Instance{}
	if o.target.Instance != nil {
		instance = *o.target.Instance
	}
	return (s.ServiceType == "" || s.ServiceType == o.target.Type) &&
		(s.ClassName == "" || s.ClassName == o.target.Class.Kubernetes || s.ClassName == o.target.Class.External) &&
		(s.PlanName == "" || s.PlanName == o.target.Plan.Kubernetes || s.PlanName == o.target.Plan.External) &&
		(s.PlanSelector == nil || o.matches(s.PlanSelector, seen)) &&
		(s.Instance == nil || *s.Instance == v1beta1.PolicyInstance{Namespace: instance.Namespace, Name: instance.Name}) &&
		(s.InstanceSelector == nil || o.target.Instance != nil && o.matches(s.InstanceSelector, instance.Labels))
}

// valid is what CEL and the schema ask for, and that selectors can be read.
func valid(rule *v1beta1.PolicyRule, subjects []v1beta1.BindingPolicySubject) bool {
	if n := rule.Namespaces; n != nil && (len(n.Names) == 0 && n.Selector == nil || !readable(n.Selector)) {
		return false
	}
	for _, s := range subjects {
		if s == (v1beta1.BindingPolicySubject{}) || !readable(s.PlanSelector, s.InstanceSelector) {
			return false
		}
	}
	return rule.Action != ""
}

// policies are the names of valid ones by action, those that select and hold and
// those that select but do not hold.
type verdicts struct{ denying, allowing, elsewhere []string }

func (o *oracle) hear(v *verdicts, name string, rule *v1beta1.PolicyRule, subjects []v1beta1.BindingPolicySubject) {
	if !valid(rule, subjects) || !slices.ContainsFunc(subjects, func(s v1beta1.BindingPolicySubject) bool { return o.selects(&s) }) {
		return
	}
	switch holds := o.holds(rule.Namespaces); {
	case holds && rule.Action == v1beta1.PolicyDeny:
		v.denying = append(v.denying, name)
	case holds:
		v.allowing = append(v.allowing, name)
	case rule.Action == v1beta1.PolicyAllow:
		v.elsewhere = append(v.elsewhere, name)
	}
}

// judge returns the policies that refuse, with their kind, and whether by denying.
func (o *oracle) judge(provisioning []*v1beta1.ProvisioningPolicy, binding []*v1beta1.BindingPolicy) (kind string, policies []string, denied bool) {
	var p, b verdicts
	for _, one := range provisioning {
		var subjects []v1beta1.BindingPolicySubject
		for _, s := range one.Spec.Subjects {
			subjects = append(subjects, v1beta1.BindingPolicySubject{PlanSubject: s.PlanSubject})
		}
		o.hear(&p, one.Name, &one.Spec.PolicyRule, subjects)
	}
	for _, one := range binding {
		if o.target.Instance == nil {
			break // there is nothing to bind to
		}
		o.hear(&b, one.Name, &one.Spec.PolicyRule, one.Spec.Subjects)
	}
	switch {
	case len(b.denying) > 0 && (len(p.denying) == 0 || b.denying[0] <= p.denying[0]):
		return policy.KindBinding, b.denying[:1], true
	case len(p.denying) > 0:
		return policy.KindProvisioning, p.denying[:1], true
	case len(p.allowing) == 0 && len(p.elsewhere) > 0:
		return policy.KindProvisioning, p.elsewhere, false
	case len(b.allowing) == 0 && len(b.elsewhere) > 0:
		return policy.KindBinding, b.elsewhere, false
	}
	return "", nil, false
}

func lawsHold(t *testing.T, data []byte, seed uint64) {
	t.Helper()
	d := draw(data)
	target, place := d.target(), d.place()
	provisioning, binding := d.policies()
	rules := compileAll(t, provisioning, binding)
	got := policy.Judge(rules, target, place)

	o := &oracle{target: target, place: place}
	kind, policies, denied := o.judge(provisioning, binding)
	if kind == "" {
		require.Nil(t, got, "The oracle allows it.")
	} else {
		require.NotNil(t, got, "The oracle says that %s %v refuse.", kind, policies)
		require.Equal(t, []any{kind, policies, !denied}, []any{got.Kind, got.Policies, got.NotAllowed}, "It names others.")
	}

	keys := target.Keys()
	var few []policy.Rule
	for i := range rules {
		selects := rules[i].Selects(target)
		for _, key := range rules[i].Keys() {
			if slices.Contains(keys, key) {
				few = append(few, rules[i]) // as an index would find it, by each key
			}
		}
		known := slices.ContainsFunc(rules[i].Keys(), func(key string) bool { return slices.Contains(keys, key) })
		require.True(t, !selects || known, "Who selects has a key of the target's.")
	}
	require.Empty(t, cmp.Diff(got, policy.Judge(few, target, place)), "The rules with a key judge as all do.")

	random := rand.New(rand.NewPCG(seed, seed))
	random.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	require.Empty(t, cmp.Diff(got, policy.Judge(rules, target, place)), "The order of rules changes nothing.")
}

// compileAll returns the rules of the policies that are valid, and holds that
// there are no others.
func compileAll(t *testing.T, provisioning []*v1beta1.ProvisioningPolicy, binding []*v1beta1.BindingPolicy) []policy.Rule {
	t.Helper()
	var rules []policy.Rule
	for _, p := range provisioning {
		before := p.DeepCopy()
		rule, err := policy.FromProvisioning(p)
		require.Empty(t, cmp.Diff(before, p), "Policies are never changed.")
		var subjects []v1beta1.BindingPolicySubject
		for _, s := range p.Spec.Subjects {
			subjects = append(subjects, v1beta1.BindingPolicySubject{PlanSubject: s.PlanSubject})
		}
		require.Equal(t, valid(&p.Spec.PolicyRule, subjects), err == nil, "%v", err)
		rules = append(rules, rule)
	}
	for _, p := range binding {
		before := p.DeepCopy()
		rule, err := policy.FromBinding(p)
		require.Empty(t, cmp.Diff(before, p), "Policies are never changed.")
		require.Equal(t, valid(&p.Spec.PolicyRule, p.Spec.Subjects), err == nil, "%v", err)
		rules = append(rules, rule)
	}
	return rules
}

// FuzzJudge holds rules against the oracle, and the laws of Judge and Keys.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	for i := range 50 {
		f.Add(bytesOf(rand.New(rand.NewPCG(uint64(i), 7))), uint64(i))
	}
	f.Fuzz(lawsHold)
}

func TestLaws(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rounds := uint64(5000)
	if testing.Short() {
		rounds = 1000
	}
	for i := range rounds {
		lawsHold(t, bytesOf(random), i)
	}
}

func bytesOf(random *rand.Rand) []byte {
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
