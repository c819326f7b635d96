package keeper_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// columns are what `kubectl get` shows of a type, and its conditions below.
func columns(status *v1beta1.ServiceTypeStatus) []string {
	rows := []string{fmt.Sprintf("default %q suggested %q plans %d resolvable %t", status.DefaultPlan, status.SuggestedPlan, status.Plans, status.Resolvable)}
	for _, c := range status.Conditions {
		rows = append(rows, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return rows
}

// Conditions that say that all is well.
const (
	noSuggested = "SuggestedPlan False None: no plan is suggested"
	unambiguous = "Ambiguous False Unambiguous: no two plans contend for the type"
	resolvable  = "NoDefault False Resolvable: an instance that names only the type finds a plan"
	noneDefault = "DefaultPlan False None: no plan is recorded or annotated as the default"
)

const patchMySQL = "svcat set plan CLASS/PLAN --default --cluster, or with kubectl: " +
	`kubectl patch clusterservicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":{"name":"PLAN"}}}'`

func suggests(plans ...string) step {
	return func(ctx context.Context, r *registry) {
		for _, plan := range plans {
			r.editf(ctx, planAt(r.namespace, plan), `{"metadata":{"annotations":{%q:"true"}}}`, v1beta1.AnnotationSuggestedPlan)
		}
	}
}

func TestWhatATypeTells(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		before  []string
		happens step
		want    []string
	}{
		"Default": {
			reason:  "as class/plan by the broker's names",
			objects: offering("", "a", "b"),
			happens: annotates("a"),
			want: []string{
				`default "azure/a" suggested "" plans 2 resolvable true`,
				"DefaultPlan True Recorded: azure/a is the default plan", noSuggested, unambiguous, resolvable,
			},
		},
		"NoDefault": {
			reason:  "there are plans, and none is preferred",
			objects: offering("", "a", "b"),
			happens: and(),
			want: []string{
				`default "" suggested "" plans 2 resolvable false`,
				noneDefault, noSuggested, unambiguous,
				"NoDefault True None: no plan of the type is the default or suggested; choose one: " + patchMySQL,
			},
		},
		"NoPlans": {
			reason:  "a plan that does not exist cannot be chosen",
			objects: offering(""),
			happens: and(),
			want: []string{
				`default "" suggested "" plans 0 resolvable false`,
				noneDefault, noSuggested, unambiguous, "NoDefault False NoPlans: no plan of the type can be chosen",
			},
		},
		"Suggested": {
			reason:  "it stands where there is no default",
			objects: offering("", "a", "b"),
			happens: suggests("b"),
			want: []string{
				`default "" suggested "azure/b" plans 2 resolvable true`,
				noneDefault, "SuggestedPlan True Suggested: azure/b is the suggested plan", unambiguous, resolvable,
			},
		},
		"SuggestedAndDefault": {
			reason:  "the operator overrules the broker",
			objects: offering("", "a", "b"),
			happens: and(suggests("b", "a"), annotates("a")),
			want: []string{
				`default "azure/a" suggested "azure/a,azure/b" plans 2 resolvable true`,
				"DefaultPlan True Recorded: azure/a is the default plan",
				"SuggestedPlan False Several: several plans are suggested: azure/a, azure/b", unambiguous, resolvable,
			},
		},
		"SeveralSuggested": {
			reason:  "brokers disagree, and only the operator can tell",
			objects: offering("", "a", "b"),
			happens: suggests("b", "a"),
			want: []string{
				`default "" suggested "azure/a,azure/b" plans 2 resolvable false`,
				noneDefault, "SuggestedPlan False Several: several plans are suggested: azure/a, azure/b",
				`Ambiguous True Several: 2 plans are suggested in the cluster, and none is the default: azure/a (cluster) is plan "a", azure/b (cluster) is plan "b"; choose one: ` + patchMySQL,
				"NoDefault False Several: several plans contend for the type",
			},
		},
		"Legacy": {
			reason:  "the operator is to choose, and is told how",
			objects: offering("", "a", "b"),
			before:  []string{"a", "b"},
			happens: and(),
			want: []string{
				`default "" suggested "" plans 2 resolvable false`,
				"DefaultPlan False Several: several plans are annotated as the default, and none is recorded", noSuggested,
				`Ambiguous True AwaitsChoice: plans were annotated as the default before a keeper ran, and none is recorded: azure/a (cluster) is plan "a", azure/b (cluster) is plan "b"; choose one: ` + patchMySQL,
				"NoDefault False Several: several plans contend for the type",
			},
		},
		"RecordedPlanRemoved": {
			reason:  "the record stays, but chooses nothing",
			objects: offering("", "a", "b"),
			happens: and(records("a"), isRemovedFromItsCatalog("a")),
			want: []string{
				`default "" suggested "" plans 1 resolvable false`,
				`DefaultPlan False RecordedPlanUnusable: plan "a" is recorded as the default, but cannot be chosen now`, noSuggested, unambiguous,
				"NoDefault True None: no plan of the type is the default or suggested; choose one: " + patchMySQL,
			},
		},
		"AnnotatedBesideRecord": {
			reason:  "the keeper may not take it off, if a hook refuses",
			objects: offering("", "a", "b"),
			happens: and(annotates("a"), func(_ context.Context, r *registry) {
				r.pass(time.Minute)
				r.refuse(func(string, client.Object) error { return status(403, "Forbidden") })
			}, annotates("b")),
			want: []string{
				`default "azure/a" suggested "" plans 2 resolvable true`,
				"DefaultPlan True Recorded: azure/a is the default plan", noSuggested,
				"Ambiguous True AnnotatedBesideRecord: azure/a is recorded as the default, but others are annotated too: azure/b", resolvable,
			},
		},
		"NotRecordedYet": {
			reason:  "a default counts before it is recorded",
			objects: offering("", "a", "b"),
			happens: and(func(_ context.Context, r *registry) {
				r.refuse(func(string, client.Object) error { return status(403, "Forbidden") })
			}, annotates("b")),
			want: []string{
				`default "azure/b" suggested "" plans 2 resolvable true`,
				"DefaultPlan True Annotated: azure/b is annotated as the default plan, and not recorded yet", noSuggested, unambiguous, resolvable,
			},
		},
		"OfANamespace": {
			reason:  "what the cluster has is chosen there too",
			objects: append(offering("", "x", "y"), offering("dev", "a", "b")...),
			happens: func(ctx context.Context, r *registry) {
				r.annotate(ctx, "x")
				r.namespace = "dev"
			},
			want: []string{
				`default "" suggested "" plans 2 resolvable true`,
				noneDefault, noSuggested, unambiguous, resolvable,
			},
		},
		"OfANamespaceWithASuggestion": {
			reason:  "a default of the cluster comes before a suggestion in the namespace",
			objects: append(offering("", "x", "y"), offering("dev", "a", "b")...),
			before:  []string{"x", "y"},
			happens: func(ctx context.Context, r *registry) {
				r.namespace = "dev"
				suggests("a")(ctx, r)
			},
			want: []string{
				`default "" suggested "azure/a" plans 2 resolvable false`,
				noneDefault, "SuggestedPlan True Suggested: azure/a is the suggested plan",
				`Ambiguous True Several: 2 plans are default in the cluster, and only one can be: azure/x (cluster) is plan "x", azure/y (cluster) is plan "y"; choose one: ` +
					"svcat set plan CLASS/PLAN --default -n dev, or with kubectl: " +
					`kubectl patch -n dev servicetype mysql --type=merge -p '{"spec":{"defaultPlanRef":{"name":"PLAN"}}}'`,
				"NoDefault False Several: several plans contend for the type",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atRegistry(t, tc.objects, func(ctx context.Context, r *registry) {
				annotates(tc.before...)(ctx, r)
				r.pass(time.Minute)
				r.keep(ctx)
				r.pass(time.Minute)
				tc.happens(ctx, r)
				r.pass(time.Minute)
				_, got, generation := r.typeStatus(ctx, "mysql")
				require.NotNil(t, got)
				assert.Empty(t, cmp.Diff(tc.want, columns(got)), tc.reason)
				assert.Equal(t, generation, got.ObservedGeneration)
				for _, condition := range got.Conditions {
					assert.Equal(t, generation, condition.ObservedGeneration)
				}
			})
		})
	}
}

// A type of a namespace follows what the cluster's resolves to, and its conditions
// change only when what they say does.
func TestANamespacesTypeFollowsTheClusters(t *testing.T) {
	t.Parallel()
	atRegistry(t, append(offering("", "x", "y"), offering("dev", "a", "b")...), func(ctx context.Context, r *registry) {
		r.keep(ctx)
		r.pass(time.Minute)
		told := func(condition string) (v1beta1.Condition, bool) {
			r.namespace = "dev"
			defer func() { r.namespace = "" }()
			_, status, _ := r.typeStatus(ctx, "mysql")
			found, is := v1beta1.FindCondition(status.Conditions, condition)
			require.True(t, is)
			return found, status.Resolvable
		}
		none, is := told(v1beta1.ConditionNoDefault)
		require.False(t, is)
		unambiguousBefore, _ := told(v1beta1.ConditionAmbiguous)

		r.annotate(ctx, "x")
		r.pass(3 * time.Second)
		some, is := told(v1beta1.ConditionNoDefault)
		assert.True(t, is)
		assert.True(t, none.LastTransitionTime.Before(&some.LastTransitionTime))
		unambiguousAfter, _ := told(v1beta1.ConditionAmbiguous)
		assert.Equal(t, unambiguousBefore, unambiguousAfter)

		r.takeOff(ctx, "x")
		r.pass(3 * time.Second)
		_, is = told(v1beta1.ConditionNoDefault)
		assert.False(t, is)

		r.remove(ctx, classAt("", ""))
		r.remove(ctx, planAt("", "x"))
		r.remove(ctx, planAt("", "y"))
		r.add(ctx, classAt("", "mysql"))
		suggested := planAt("", "z")
		suggested.SetAnnotations(map[string]string{v1beta1.AnnotationSuggestedPlan: "true"})
		r.add(ctx, suggested)
		r.pass(3 * time.Second)
		_, is = told(v1beta1.ConditionNoDefault)
		assert.True(t, is, "a suggestion in the cluster is the last tier")
	})
}

func TestWithTheGateOffSuggestionsDoNotCount(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a", "b"), func(ctx context.Context, r *registry) {
		options := r.options()
		options.SuggestedPlans = false
		r.house.keep(ctx, options)
		suggests("a")(ctx, r)
		r.pass(time.Minute)
		_, got, _ := r.typeStatus(ctx, "mysql")
		assert.Equal(t, `default "" suggested "" plans 2 resolvable false`, columns(got)[0])
	})
}

// Fields have bounds, however many plans there are.
func TestWhatATypeTellsFitsItsFields(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("%s-%03d", strings.Repeat("p", 59), i))
	}
	atRegistry(t, offering("", names...), func(ctx context.Context, r *registry) {
		suggests(names...)(ctx, r)
		r.keep(ctx)
		r.pass(time.Minute)
		_, got, _ := r.typeStatus(ctx, "mysql")
		assert.LessOrEqual(t, len(got.SuggestedPlan), 4096)
		assert.True(t, strings.HasSuffix(got.SuggestedPlan, "-057"), "whole names only: %s", got.SuggestedPlan)
		several, _ := v1beta1.FindCondition(got.Conditions, v1beta1.ConditionSuggestedPlan)
		assert.True(t, strings.HasSuffix(several.Message, " and 90 more"), several.Message)
	})
}
