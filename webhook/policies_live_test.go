package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Policies that cannot be read from the API server are a failure of ours, never a refusal.
func TestPoliciesUnknown(t *testing.T) {
	t.Parallel()
	instance, binding := stocked(t, db).env().created(byName), stocked(t, db, hasInstance("mydb", "db-small")).env().bindTo(toMydb).admitted()
	for name, tc := range map[string]struct {
		policy, broken string
		instances      bool
	}{
		"Denying":        {"deny x type=mysql", "get ProvisioningPolicy /x", true},
		"DenyingBinding": {"bind-deny x type=mysql", "get BindingPolicy /x", false},
		"Allowing":       {"allow x type=mysql in=qa", "list ProvisioningPolicyList", true},
		"AllowingBind":   {"allow x type=mysql in=qa", "list BindingPolicyList", false},
		"Place":          {"deny x type=mysql", "get Namespace /dev", true},
	} {
		for path, object := range map[string][]byte{ValidateInstances: instance, ValidateBindings: binding} {
			if path == ValidateInstances && !tc.instances {
				continue
			}
			w := stocked(t, db, ruled(tc.policy), hasInstance("mydb", "db-small")).env()
			w.live.fail(func(read string) error {
				if read == tc.broken {
					return assert.AnError
				}
				return nil
			})
			body, err := json.Marshal(w.review(object, nil))
			require.NoError(t, err)
			assert.Equal(t, http.StatusInternalServerError, w.post(path, body).Code, "%s: %s", name, path)
		}
	}
}

// Before it refuses, a review reads the policy that denies, and none of the others: they may be many, and large.
func TestDenialReadsOnePolicy(t *testing.T) {
	t.Parallel()
	for action, read := range map[string]string{"deny": "get ProvisioningPolicy /x", "bind-deny": "get BindingPolicy /x"} {
		w := stocked(t, db, ruled(action+" x type=mysql", "deny y type=redis", "bind-deny z type=redis"), hasInstance("mydb", "db-small")).env()
		o := w.bindTo(toMydb)
		if action == "deny" {
			o = w.create(byName)
		}
		require.NotNil(t, o.denied(), action)
		var reads []string
		for _, one := range w.live.taken() {
			if strings.Contains(one, "Polic") {
				reads = append(reads, one)
			}
		}
		assert.Equal(t, []string{read}, slices.Compact(reads), action)
	}
}

// However many policies there are, a review that none of them concerns reads none of them and no namespace.
func TestPoliciesCostNothing(t *testing.T) {
	t.Parallel()
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d where=a:b", i, i)
	}
	w := stocked(t, "mysql/db: small*^", ruled(policies...), hasInstance("mydb", "db-small")).env()
	w.created(byName)
	w.bindTo(toMydb).admitted()
	for _, read := range w.live.taken() {
		assert.Equal(t, "get ServiceInstance dev/mydb", read)
	}
	for _, read := range w.cached.taken() {
		assert.NotContains(t, read, "Polic")
		assert.NotContains(t, read, "Namespace ")
	}
}

// BenchmarkPolicies is a review of an instance by name and one of a binding, both phases, with no policies and with 1,000.
func BenchmarkPolicies(b *testing.B) {
	policies := make([]string, 1000)
	for i := range policies {
		policies[i] = fmt.Sprintf("deny p%d plan=other-%d in=dev", i, i)
	}
	for _, many := range [][]string{nil, policies} {
		w := stocked(b, "mysql/db: small*^", bindDefaultsOf("db-small", `{"user":"reader"}`), hasInstance("mydb", "db-small"), ruled(many...)).env()
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
