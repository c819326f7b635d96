package quota_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/resolve/quota"
)

// policiesOf reads policies: "p 2: a b" is policy p with two slots, of which a and b
// have one; "p -: a" has no limit.
func policiesOf(lines ...string) []quota.Policy {
	policies := make([]quota.Policy, 0, len(lines))
	for _, line := range lines {
		head, granted, _ := strings.Cut(line, ":")
		p := quota.Policy{}
		limit := ""
		_, _ = fmt.Sscan(head, &p.Name, &limit)
		if limit != "-" {
			n := int32(0)
			_, _ = fmt.Sscan(limit, &n)
			p.Limit = &n
		}
		for uid := range strings.FieldsSeq(granted) {
			p.Granted = append(p.Granted, types.UID(uid))
		}
		policies = append(policies, p)
	}
	return policies
}

// demandsOf reads demands, the oldest first: "a p q?r!" is a, which asks for plans that p
// selects, may have one of q's and has one of r's; "a- p" is leaving, "a* p" opaque.
func demandsOf(lines ...string) []quota.Demand {
	demands := make([]quota.Demand, 0, len(lines))
	for i, line := range lines {
		words := strings.Fields(line)
		c := quota.Demand{Since: int64(i), Stages: map[string]quota.Stage{}}
		c.Leaving, c.Opaque = strings.HasSuffix(words[0], "-"), strings.HasSuffix(words[0], "*")
		c.UID = types.UID(strings.TrimRight(words[0], "-*"))
		for _, word := range words[1:] {
			stage := quota.Asked
			switch {
			case strings.HasSuffix(word, "?"):
				stage = quota.Doubtful
			case strings.HasSuffix(word, "!"):
				stage = quota.Standing
			}
			c.Stages[strings.TrimRight(word, "?!")] = stage
		}
		demands = append(demands, c)
	}
	return demands
}

func lines(l ...string) []string { return l }

func TestSettle(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason            string
		policies, demands []string
		want              map[string]string
		unsettled         bool
	}{
		"Free":       {reason: "who asks gets", policies: lines("p 2:"), demands: lines("a p"), want: map[string]string{"p": "a"}},
		"Full":       {reason: "and no more than that", policies: lines("p 1: a"), demands: lines("a p", "b p"), want: map[string]string{"p": "a"}},
		"Zero":       {reason: "a limit of nothing", policies: lines("p 0:"), demands: lines("a p"), want: map[string]string{"p": ""}},
		"Oldest":     {reason: "who waits longest comes first", policies: lines("p 1:"), demands: lines("z p", "a p"), want: map[string]string{"p": "z"}},
		"Gone":       {reason: "what is gone makes room at once", policies: lines("p 1: x"), demands: lines("a p"), want: map[string]string{"p": "a"}},
		"Unselected": {reason: "what lives makes room later", policies: lines("p 1: a"), demands: lines("a", "b p"), want: map[string]string{"p": ""}, unsettled: true},
		"Opaque":     {reason: "its plan is unknown", policies: lines("p 1: a"), demands: lines("a*", "b p"), want: map[string]string{"p": "a"}},
		"NoLimit":    {reason: "none is needed", policies: lines("p -: a"), demands: lines("a", "b"), want: map[string]string{"p": ""}, unsettled: true},
		"Standing":   {reason: "what is there counts, over the limit", policies: lines("p 1:"), demands: lines("a p", "b p!", "c p!"), want: map[string]string{"p": "b c"}},
		"Doubtful":   {reason: "what may be there comes first", policies: lines("p 1:"), demands: lines("a p", "b p?"), want: map[string]string{"p": "b"}},
		"DoubtfulOver": {
			reason: "it counts, and gets none beyond the limit: it may not be there", policies: lines("p 1: a"), demands: lines("a p!", "b p?", "c p"),
			want: map[string]string{"p": "a"},
		},
		"DoubtfulBlocks": {reason: "it holds what may be its own", policies: lines("p 2: a"), demands: lines("a p!", "b p? q", "c p"), want: map[string]string{"p": "a b"}},
		"Leaving":        {reason: "it keeps what it has", policies: lines("p 1: a"), demands: lines("a- p", "b p"), want: map[string]string{"p": "a"}},
		"LeavingWaits":   {reason: "it gets no more", policies: lines("p 1:"), demands: lines("a- p", "b p"), want: map[string]string{"p": "b"}},
		"LeavingThere":   {reason: "it counts while it is there", policies: lines("p 1:"), demands: lines("a- p!", "b p"), want: map[string]string{"p": "a"}},
		"Lowered":        {reason: "those that were not used yet go back, the youngest's first", policies: lines("p 1: a b c"), demands: lines("a p", "b p!", "c p"), want: map[string]string{"p": "b"}, unsettled: true},
		"LoweredOver":    {reason: "what is there stays", policies: lines("p 1: a b"), demands: lines("a p!", "b p!", "c p"), want: map[string]string{"p": "a b"}},
		"AllOrNone":      {reason: "one alone is of no use", policies: lines("p 1:", "q 0:"), demands: lines("a p q", "b p"), want: map[string]string{"p": "b", "q": ""}},
		"Both":           {reason: "of all that limit it", policies: lines("p 1:", "q 1:"), demands: lines("a p q", "b p"), want: map[string]string{"p": "a", "q": "a"}},
		"Completed":      {reason: "what a crash left half", policies: lines("p 1: a", "q 1:"), demands: lines("a p q", "b q"), want: map[string]string{"p": "a", "q": "a"}},
		"RolledBack":     {reason: "or is undone", policies: lines("p 1: a", "q 1: b"), demands: lines("a p q", "b q", "c p"), want: map[string]string{"p": "", "q": "b"}, unsettled: true},
		"Crossed": {
			reason: "two that hold what the other needs", policies: lines("p 1: a", "q 1: b"), demands: lines("a p q", "b p q"),
			want: map[string]string{"p": "", "q": ""}, unsettled: true,
		},
		"Change":     {reason: "a plan change keeps the old slot", policies: lines("p 1: a", "q 1:"), demands: lines("a p! q", "b p"), want: map[string]string{"p": "a", "q": "a"}},
		"ChangeFull": {reason: "also while it waits", policies: lines("p 1: a", "q 1: x"), demands: lines("a p! q", "x q!", "b p"), want: map[string]string{"p": "a", "q": "x"}},
		"Changed":    {reason: "and gives it back then", policies: lines("p 1: a", "q 1: a"), demands: lines("a q!", "b p"), want: map[string]string{"p": "", "q": "a"}, unsettled: true},
		"ChangeBoth": {reason: "one policy for both plans", policies: lines("p 1: a"), demands: lines("a p!"), want: map[string]string{"p": "a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := quota.Settle(policiesOf(tc.policies...), demandsOf(tc.demands...))
			for p, want := range tc.want {
				assert.Equal(t, want, joined(got.Granted[p]), "%s: of %s", tc.reason, p)
			}
			assert.Equal(t, tc.unsettled, got.Unsettled, tc.reason)
		})
	}
}

func joined(uids []types.UID) string {
	words := make([]string, len(uids))
	for i, uid := range uids {
		words[i] = string(uid)
	}
	return strings.Join(words, " ")
}
