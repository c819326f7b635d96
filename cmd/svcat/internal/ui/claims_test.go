package ui

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// claims are a binding with an instance of its own, one whose own is still to be made,
// and one to an instance of another namespace that is called as one of this.
const claims = shop + `
---
kind: ServiceInstance
metadata: {name: blog-0a1b2c3d, namespace: shop, uid: own, ownerReferences: [{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, name: blog, uid: blog, controller: true}]}
spec: {serviceType: mysql, clusterServiceClassRef: {name: azure}, clusterServicePlanRef: {name: small}}
---
kind: ServiceBinding
metadata: {name: blog, namespace: shop, uid: blog}
spec: {serviceType: mysql, clusterServiceClassRef: {name: azure}, clusterServicePlanRef: {name: small}}
status: {instanceRef: {name: blog-0a1b2c3d}}
---
kind: ServiceBinding
metadata: {name: fresh, namespace: shop, uid: fresh}
spec: {serviceType: mysql}
---
kind: ServiceBinding
metadata: {name: borrowed, namespace: shop, uid: borrowed}
spec: {instanceRef: {name: db, namespace: lender}}
`

// Bindings are shown with the instance that they are for, and instances with their own
// bindings only.
func TestPagesOfClaims(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, path string
		says, not    []string
	}{
		"All":      {reason: "each with its instance, if there is one", path: "/instances", says: []string{"blog-0a1b2c3d</td>", "fresh", "lender/db"}},
		"Own":      {reason: "the binding whose own it is", path: "/instances/blog-0a1b2c3d", says: []string{`href="/bindings/blog"`}, not: []string{"/bindings/access"}},
		"Named":    {reason: "those that name it, and not its namesake elsewhere", path: "/instances/db", says: []string{`href="/bindings/access"`}, not: []string{"/bindings/borrowed", "/bindings/blog"}},
		"Claim":    {reason: "its instance", path: "/bindings/blog", says: []string{"blog-0a1b2c3d"}},
		"Fresh":    {reason: "it has none yet", path: "/bindings/fresh", says: []string{"fresh"}},
		"Borrowed": {reason: "with its namespace", path: "/bindings/borrowed", says: []string{"lender/db"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := visit(t, newCluster(t, claims)).get(tc.path)
			require.Equal(t, http.StatusOK, code, body)
			for _, text := range tc.says {
				assert.Contains(t, body, text, tc.reason)
			}
			for _, text := range tc.not {
				assert.NotContains(t, body, text, tc.reason)
			}
		})
	}
}
