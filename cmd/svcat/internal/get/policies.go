package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// The kinds of policies, in the order in which those of one name are shown.
const (
	kindProvisioningPolicy = "ProvisioningPolicy"
	kindBindingPolicy      = "BindingPolicy"
)

// A policyRow is a policy as tables show it.
type policyRow struct {
	key

	created                                                         metav1.Time
	of, action, subjects, namespaces, limit, used, selects, message string
}

// policyRowOf is the row of a policy of either kind.
func policyRowOf(object runtime.Object) (policyRow, error) {
	switch p := object.(type) {
	case *v1beta1.ProvisioningPolicy:
		row := policyRow{key: key{name: p.Name, kind: kindProvisioningPolicy}, created: p.CreationTimestamp, of: "instances", selects: countOf(p.Status.Plans, "plan")}
		withRule(&row, &p.Spec.PolicyRule)
		var subjects []string
		for i := range p.Spec.Subjects {
			subjects = append(subjects, strings.Join(planSubject(&p.Spec.Subjects[i].PlanSubject), " "))
		}
		row.subjects = strings.Join(subjects, ", ")
		withLimits(&row, &p.Spec, p.Status.Slots)
		return row, nil
	case *v1beta1.BindingPolicy:
		row := policyRow{key: key{name: p.Name, kind: kindBindingPolicy}, created: p.CreationTimestamp, of: "bindings", selects: countOf(p.Status.Plans, "plan")}
		if p.Status.Instances != nil {
			row.selects += ", " + countOf(*p.Status.Instances, "instance")
		}
		withRule(&row, &p.Spec.PolicyRule)
		var subjects []string
		for i := range p.Spec.Subjects {
			subjects = append(subjects, strings.Join(bindingSubject(&p.Spec.Subjects[i]), " "))
		}
		row.subjects = strings.Join(subjects, ", ")
		return row, nil
	}
	return policyRow{}, fmt.Errorf("cannot show a %T", object)
}

// withRule fills in what both kinds have.
func withRule(p *policyRow, rule *v1beta1.PolicyRule) {
	p.action, p.message, p.namespaces = string(rule.Action), rule.Message, "all"
	if at := rule.Namespaces; at != nil {
		words := slices.Clone(at.Names)
		if at.Selector != nil {
			words = append(words, selectorWords(at.Selector))
		}
		p.namespaces = strings.Join(words, ", ")
	}
}

// withLimits fills in how many a namespace may have, and which have how many.
func withLimits(p *policyRow, spec *v1beta1.ProvisioningPolicySpec, slots []v1beta1.PolicySlots) {
	var limits, used []string
	for _, of := range []struct {
		limit *int32
		word  string
		taken func(v1beta1.PolicySlots) []types.UID
	}{
		{spec.MaxInstances, "instance", func(s v1beta1.PolicySlots) []types.UID { return s.Instances }},
		{spec.MaxBindings, "binding", func(s v1beta1.PolicySlots) []types.UID { return s.Bindings }},
	} {
		if of.limit == nil {
			continue
		}
		limits = append(limits, countOf(*of.limit, of.word))
		used = append(used, usedSlots(slots, *of.limit, of.taken)...)
	}
	p.limit, p.used = strings.Join(limits, ", "), strings.Join(used, ", ")
}

// shownNamespaces is how many namespaces are named before the others are counted.
const shownNamespaces = 3

// usedSlots are the namespaces with slots as NAMESPACE USED/LIMIT, the fullest first.
func usedSlots(slots []v1beta1.PolicySlots, limit int32, taken func(v1beta1.PolicySlots) []types.UID) []string {
	with := slices.DeleteFunc(slices.Clone(slots), func(s v1beta1.PolicySlots) bool { return len(taken(s)) == 0 })
	slices.SortFunc(with, func(a, b v1beta1.PolicySlots) int {
		return cmp.Or(cmp.Compare(len(taken(b)), len(taken(a))), cmp.Compare(a.Namespace, b.Namespace))
	})
	var words []string
	for _, one := range with[:min(len(with), shownNamespaces)] {
		words = append(words, fmt.Sprintf("%s %d/%d", one.Namespace, len(taken(one)), limit))
	}
	if more := len(with) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return words
}

// planSubject are the words for the plans that a subject selects.
func planSubject(subject *v1beta1.PlanSubject) []string {
	var words []string
	for _, field := range [][2]string{{"type", subject.ServiceType}, {"class", subject.ClassName}, {"plan", subject.PlanName}} {
		if field[1] != "" {
			words = append(words, field[0]+" "+field[1])
		}
	}
	if subject.PlanSelector != nil {
		words = append(words, "plans "+selectorWords(subject.PlanSelector))
	}
	if c := subject.Costs; c != nil {
		words = append(words, fmt.Sprintf("over %s %s / %s", c.Above, c.Currency, c.Unit))
		if c.Unknown != v1beta1.UnknownAllow {
			words = append(words, "or unknown")
		}
	}
	return words
}

func bindingSubject(subject *v1beta1.BindingPolicySubject) []string {
	words := planSubject(&subject.PlanSubject)
	if one := subject.Instance; one != nil {
		words = append(words, "instance "+cli.Qualified(one.Namespace, one.Name))
	}
	if subject.InstanceSelector != nil {
		words = append(words, "instances "+selectorWords(subject.InstanceSelector))
	}
	return words
}

// selectorWords is a selector in the words of kubectl; an empty one matches all.
func selectorWords(selector *metav1.LabelSelector) string {
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return "all"
	}
	return "with " + metav1.FormatLabelSelector(selector)
}

func countOf(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(int(n)) + " " + what + "s"
}

// policyColumns are the columns of policies in each layout.
var policyColumns = map[string][]string{
	layoutTable:  {"name", "for", "action", "subjects", "namespaces", "limit", "used", columnAge},
	layoutWide:   {"name", "for", "action", "subjects", "namespaces", "limit", "used", "selects", "message", columnAge},
	layoutLegacy: {"name", "for", "action", "subjects", "namespaces", "limit", "used"},
}

func (p policyRow) cells(string) map[string]string {
	return map[string]string{
		"name": p.name, "for": p.of, "action": p.action, "subjects": p.subjects, "namespaces": p.namespaces, "limit": p.limit,
		"used": p.used, "selects": p.selects, "message": short(p.message), columnAge: age(p.created),
	}
}

// A policyList is one run of `get policies`.
type policyList struct{ flags }

func newPolicies(env *cli.Env) *cobra.Command {
	var f policyList
	cmd := f.command(env, &cobra.Command{
		Use:     "policies [NAME]",
		Aliases: cli.Aliases("policies"),
		Short:   "List the policies for instances and bindings, or show one",
		Long: `List the policies for instances (ProvisioningPolicy) and for bindings (BindingPolicy),
or show those of one name.

LIMIT is how many a namespace may have, and USED how many the fullest namespaces have.`,
		Example: `  svcat get policies
  svcat get policies --sort-by .spec.action
  svcat get policy big-databases -o yaml`,
		ValidArgsFunction: complete.Policies(env),
	}, f.run)
	f.bindList(cmd)
	return cmd
}

func (f *policyList) run(ctx context.Context, args []string) error {
	l := f.listing("policies", "", "", args)
	l.kinds, l.namespacedOnly = []string{kindProvisioningPolicy, kindBindingPolicy}, true
	l.where = func(*cli.Env) (cli.Scope, error) { return cli.Scope{Cluster: true}, nil }
	return l.show(ctx, func(cli.Scope) (rows, error) {
		var all []policyRow
		each := func(object runtime.Object) error {
			row, err := policyRowOf(object)
			if len(args) == 0 || row.name == args[0] {
				all = append(all, row)
			}
			return err
		}
		for _, list := range []client.ObjectList{&v1beta1.ProvisioningPolicyList{}, &v1beta1.BindingPolicyList{}} {
			if err := catalog.Pages(ctx, l.client, list, each, catalog.Selected(f.labels)); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(all, func(a, b policyRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(b.of, a.of)) })
		return table[policyRow]{of: all, columns: policyColumns}, nil
	})
}
