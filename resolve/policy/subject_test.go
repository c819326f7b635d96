package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve/policy"
)

// small is the plan that most subjects here are held against: class and plan have
// a Kubernetes name of their own, and each label says where it comes from.
const small = "redis/cache@class-1{from=class,owner=ann}: small@plan-1{from=plan}"

func TestSelectsPlans(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		subject string
		target  string // small if empty
		want    bool
	}{
		"Type":                {reason: "the class's type is the plan's", subject: "serviceType: redis", want: true},
		"OtherType":           {reason: "another is not", subject: "serviceType: mysql"},
		"OwnType":             {reason: "the plan's own hides its class's", subject: "serviceType: mysql", target: "redis/cache: small<mysql>", want: true},
		"HiddenType":          {reason: "which then is not its type", subject: "serviceType: redis", target: "redis/cache: small<mysql>"},
		"NoType":              {reason: "a plan without type is of none", subject: "serviceType: redis", target: "cache: small"},
		"ClassByName":         {reason: "by its Kubernetes name", subject: "className: class-1", want: true},
		"ClassByExternalName": {reason: "by its external name", subject: "className: cache", want: true},
		"ClassByExternalID":   {reason: "a copy has its original's", subject: "className: id-cache"},
		"ClassByPlanName":     {reason: "a class has not its plan's name", subject: "className: small"},
		"PlanByName":          {reason: "by its Kubernetes name", subject: "planName: plan-1", want: true},
		"PlanByExternalName":  {reason: "by its external name", subject: "planName: small", want: true},
		"PlanByExternalID":    {reason: "a copy has its original's", subject: "planName: id-small"},
		"PlanByClassName":     {reason: "a plan has not its class's name", subject: "planName: cache"},
		"InANamespace":        {reason: "a namespace's plans as the cluster's", subject: "className: cache, planName: small", target: "dev|redis/cache: small", want: true},
		"OwnLabel":            {reason: "the plan's label", subject: "planSelector: {matchLabels: {from: plan}}", want: true},
		"HiddenLabel":         {reason: "hides the class's of its name", subject: "planSelector: {matchLabels: {from: class}}"},
		"ClassLabel":          {reason: "the class's others are seen", subject: "planSelector: {matchLabels: {owner: ann}}", want: true},
		"Exists":              {reason: "in expressions as well", subject: "planSelector: {matchExpressions: [{key: owner, operator: Exists}]}", want: true},
		"DoesNotExist":        {reason: "and where they are missed", subject: "planSelector: {matchExpressions: [{key: owner, operator: DoesNotExist}]}"},
		"EverySelector":       {reason: "an empty selector is every plan", subject: "planSelector: {}", want: true},
		"All":                 {reason: "all that is said must hold", subject: "serviceType: redis, className: cache, planName: small, planSelector: {matchLabels: {from: plan}}", want: true},
		"AllButType":          {reason: "not three of four", subject: "serviceType: mysql, className: cache, planName: small, planSelector: {matchLabels: {from: plan}}"},
		"AllButClass":         {reason: "not three of four", subject: "serviceType: redis, className: other, planName: small, planSelector: {matchLabels: {from: plan}}"},
		"AllButPlan":          {reason: "not three of four", subject: "serviceType: redis, className: cache, planName: other, planSelector: {matchLabels: {from: plan}}"},
		"AllButLabels":        {reason: "not three of four", subject: "serviceType: redis, className: cache, planName: small, planSelector: {matchLabels: {from: moon}}"},
		"AnyOfSeveral":        {reason: "any entry is enough", subject: "serviceType: mysql}, {planName: small}, {className: other", want: true},
		"NoneOfSeveral":       {reason: "one of them must", subject: "serviceType: mysql}, {className: other"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.target == "" {
				tc.target = small
			}
			for _, title := range []string{"p/x", "b/x"} {
				rule, err := compiled(t, title, "{action: Deny, subjects: [{"+tc.subject+"}]}")
				require.NoError(t, err)
				assert.Equal(t, tc.want, rule.Selects(targetOf(t, tc.target)), "%s: %s", title, tc.reason)
			}
		})
	}
}

func TestSelectsInstances(t *testing.T) {
	t.Parallel()
	gitlab := &policy.Instance{Namespace: "dev", Name: "gitlab", Labels: map[string]string{"app": "gitlab"}}
	cases := map[string]struct {
		reason   string
		subject  string
		instance *policy.Instance
		want     bool
	}{
		"Plan":             {reason: "by its plan alone", subject: "planName: small", instance: gitlab, want: true},
		"OtherPlan":        {reason: "not by another's", subject: "planName: large", instance: gitlab},
		"Name":             {reason: "by its name", subject: "instance: {namespace: dev, name: gitlab}", instance: gitlab, want: true},
		"OtherName":        {reason: "not another", subject: "instance: {namespace: dev, name: wiki}", instance: gitlab},
		"OtherNamespace":   {reason: "nor its namesake", subject: "instance: {namespace: qa, name: gitlab}", instance: gitlab},
		"Labels":           {reason: "by its labels", subject: "instanceSelector: {matchLabels: {app: gitlab}}", instance: gitlab, want: true},
		"OtherLabels":      {reason: "not by others", subject: "instanceSelector: {matchLabels: {app: wiki}}", instance: gitlab},
		"PlanLabelsAreNot": {reason: "its plan's labels are not its own", subject: "instanceSelector: {matchLabels: {from: plan}}", instance: gitlab},
		"Every":            {reason: "an empty selector is every instance", subject: "instanceSelector: {}", instance: gitlab, want: true},
		"PlanAndName":      {reason: "all that is said", subject: "planName: small, instance: {namespace: dev, name: gitlab}, instanceSelector: {}", instance: gitlab, want: true},
		"PlanButNotName":   {reason: "must hold", subject: "planName: small, instance: {namespace: dev, name: wiki}", instance: gitlab},
		"NameButNotPlan":   {reason: "must hold", subject: "planName: large, instance: {namespace: dev, name: gitlab}", instance: gitlab},
		"NameButNotLabels": {reason: "must hold", subject: "instance: {namespace: dev, name: gitlab}, instanceSelector: {matchLabels: {app: wiki}}", instance: gitlab},
		"NoInstanceByName": {reason: "a plan alone is no instance", subject: "instance: {namespace: dev, name: gitlab}"},
		"NoInstanceBySelector": {
			reason: "not even any", subject: "instanceSelector: {}",
		},
		"NamelessInstance": {reason: "what a schema would have refused selects nothing", subject: "instance: {namespace: dev}", instance: gitlab},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, err := compiled(t, "b/x", "{action: Deny, subjects: [{"+tc.subject+"}]}")
			require.NoError(t, err)
			target := targetOf(t, small)
			target.Instance = tc.instance
			assert.Equal(t, tc.want, rule.Selects(target), tc.reason)
		})
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	labels := targetOf(t, small).Labels
	for label, want := range map[string]string{"from": "plan", "owner": "ann"} {
		value, ok := labels.Lookup(label)
		assert.True(t, ok)
		assert.True(t, labels.Has(label))
		assert.Equal(t, want, value)
		assert.Equal(t, want, labels.Get(label))
	}
	assert.False(t, labels.Has("app"))
	assert.Empty(t, labels.Get("app"))
}

func TestKeys(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		subjects string
		want     []string
	}{
		"Plan":     {reason: "a plan's name tells most", subjects: "{serviceType: redis, className: cache, planName: small, planSelector: {}}", want: []string{"plan/small"}},
		"Class":    {reason: "then its class's", subjects: "{serviceType: redis, className: cache, planSelector: {}}", want: []string{"class/cache"}},
		"Type":     {reason: "then its type", subjects: "{serviceType: redis, planSelector: {}}", want: []string{"type/redis"}},
		"Labels":   {reason: "labels could be anyone's", subjects: "{planSelector: {}}", want: []string{"any"}},
		"Instance": {reason: "one instance tells more than its plan", subjects: "{planName: small, instance: {namespace: dev, name: gitlab}}", want: []string{"instance/dev/gitlab"}},
		"Several": {
			reason:   "each entry has one, sorted, each once",
			subjects: "{serviceType: redis}, {instanceSelector: {}}, {planName: a/b}, {serviceType: redis}",
			want:     []string{"any", "plan/a/b", "type/redis"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, err := compiled(t, "b/x", "{action: Deny, subjects: ["+tc.subjects+"]}")
			require.NoError(t, err)
			assert.Equal(t, tc.want, rule.Keys(), tc.reason)
		})
	}
	target := targetOf(t, small)
	assert.Equal(t, []string{"any", "class/cache", "class/class-1", "plan/plan-1", "plan/small", "type/redis"}, target.Keys())
	target.Plan.Kubernetes = target.Plan.External
	target.Instance = &policy.Instance{Namespace: "dev", Name: "gitlab"}
	assert.Equal(t, []string{"any", "class/cache", "class/class-1", "instance/dev/gitlab", "plan/small", "type/redis"}, target.Keys(), "No key twice.")
}
