package rights_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
)

// forbidden is a refusal of what is done with a resource.
func forbidden(resource, words string) error {
	return apierrors.NewForbidden(schema.ParseGroupResource(resource), "", errors.New(words))
}

// admission is a refusal in the words of a plugin: what it quotes anybody may have written.
func admission(message string) error {
	status := apierrors.NewForbidden(schema.ParseGroupResource(ofInstances), "x", nil)
	status.ErrStatus.Message = message
	return status
}

// The resources of refusals.
const (
	ofPlans     = "clusterserviceplans.servicecatalog.k8s.io"
	ofInstances = "serviceinstances.servicecatalog.k8s.io"
)

const (
	cannotList = `User "eve" cannot list resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`
	catalogs   = "kubectl create clusterrolebinding servicecatalog-catalog-view-eve --clusterrole=servicecatalog-catalog-view --user=eve"
)

func TestMissingIn(t *testing.T) {
	t.Parallel()
	list := rights.Missing{Verb: "list", Resource: "clusterserviceplans", Where: "in the cluster", Grant: catalogs}
	create := rights.Missing{
		Verb: "create", Resource: "serviceinstances", Where: "in namespace dev",
		Grant: "kubectl create rolebinding servicecatalog-edit-system:serviceaccount:dev:ci --namespace=dev --clusterrole=servicecatalog-edit --user=system:serviceaccount:dev:ci",
	}
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   []rights.Missing
		all    bool
	}{
		"None":   {"no error lacks nothing", nil, nil, false},
		"One":    {"wrapped as it comes", fmt.Errorf("cannot list plans: %w", forbidden(ofPlans, cannotList)), []rights.Missing{list}, true},
		"Twice":  {"told once", errors.Join(forbidden(ofPlans, cannotList), fmt.Errorf("again: %w", forbidden(ofPlans, cannotList))), []rights.Missing{list}, true},
		"Create": {"another role", forbidden(ofInstances, `User "system:serviceaccount:dev:ci" cannot create resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "dev"`), []rights.Missing{create}, true},
		"OtherKind": {
			"none of our roles gives it", forbidden("namespaces", `User "eve" cannot get resource "namespaces" in API group "" in the namespace "dev"`),
			[]rights.Missing{{Verb: "get", Resource: "namespaces", Where: "in namespace dev"}}, true,
		},
		"OtherGroup": {
			"nor of another group's kind that is called so", forbidden("serviceinstances.example.com", `User "eve" cannot get resource "serviceinstances" in API group "example.com" in the namespace "dev"`),
			[]rights.Missing{{Verb: "get", Resource: "serviceinstances", Where: "in namespace dev"}}, true,
		},
		"Subresource": {
			"nor of a part of ours", forbidden(ofInstances, `User "eve" cannot update resource "serviceinstances/status" in API group "servicecatalog.k8s.io" in the namespace "dev"`),
			[]rights.Missing{{Verb: "update", Resource: "serviceinstances/status", Where: "in namespace dev"}}, true,
		},
		"Anonymous": {
			"a right for it would be for all", forbidden(ofPlans, `User "system:anonymous" cannot list resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`),
			[]rights.Missing{{Verb: "list", Resource: "clusterserviceplans", Where: "in the cluster", Anonymous: true}}, true,
		},
		"Admission": {"a denial is no lack of rights", forbidden(ofInstances, "policy no-mysql denies it"), nil, false},
		"WithCause": {"the authorizer may say why", forbidden(ofPlans, cannotList+": RBAC: no role"), []rights.Missing{list}, true},
		"Forged":    {"a class called so, quoted by our webhook", admission(`admission webhook "x" denied the request: class ` + cannotList + ` is denied`), nil, false},
		"ForgedVAP": {"or by a policy of the cluster's", admission(ofInstances + ` "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: ` + cannotList), nil, false},
		"Whole":     {"quoted with its beginning", admission(`admission webhook "x" denied the request: ` + ofPlans + ` is forbidden: ` + cannotList), nil, false},
		"WholeSame": {"of the kind that was asked for", admission(`admission webhook "x" denied the request: ` + ofInstances + ` is forbidden: User "eve" cannot create resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "dev"`), nil, false},
		"Another":   {"not what was asked for", forbidden(ofInstances, cannotList), nil, false},
		"CutOff":    {"it ends where the authorizer ends", forbidden(ofPlans, cannotList+", plan x"), nil, false},
		"Mixed":     {"there is more to tell", errors.Join(forbidden(ofPlans, cannotList), errors.New("connection refused")), []rights.Missing{list}, false},
		"Plain":     {"any other", errors.New("connection refused"), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missing, all := rights.MissingIn(tc.err)
			assert.Equal(t, tc.want, missing, tc.reason)
			assert.Equal(t, tc.all, all, tc.reason)
		})
	}
}

// TestGrant holds each kind and verb to the least of the shipped roles.
func TestGrant(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, user, verb, resource, namespace, want string }{
		"Catalog":      {"without seeing into namespaces", "eve", "list", "clusterserviceplans", "", catalogs},
		"View":         {"in a namespace", "eve", "watch", "servicebindings", "dev", "kubectl create rolebinding servicecatalog-view-eve --namespace=dev --clusterrole=servicecatalog-view --user=eve"},
		"ViewAll":      {"in all of them", "eve", "list", "serviceinstances", "", "kubectl create clusterrolebinding servicecatalog-view-eve --clusterrole=servicecatalog-view --user=eve"},
		"Edit":         {"what users order", "eve", "patch", "serviceinstances", "dev", "kubectl create rolebinding servicecatalog-edit-eve --namespace=dev --clusterrole=servicecatalog-edit --user=eve"},
		"Admin":        {"a namespace's own catalog", "eve", "create", "serviceplans", "dev", "kubectl create rolebinding servicecatalog-admin-eve --namespace=dev --clusterrole=servicecatalog-admin --user=eve"},
		"Defaults":     {"the cluster's defaults", "eve", "update", "clusterservicetypes", "", "kubectl create clusterrolebinding servicecatalog-defaults-eve --clusterrole=servicecatalog-defaults --user=eve"},
		"ClusterWrite": {"an administrator's", "eve", "patch", "clusterserviceplans", "", ""},
		"Everywhere":   {"no request writes in all namespaces", "eve", "create", "serviceinstances", "", ""},
		"OtherVerb":    {"bind is given for one instance", "eve", "bind", "serviceinstances", "dev", ""},
		"Unknown":      {"no kind of ours", "eve", "get", "secrets", "dev", ""},
		"OddUser":      {"nothing that a shell would run", "$(rm -rf x)", "list", "serviceplans", "dev", "kubectl create rolebinding servicecatalog-view-USER --namespace=dev --clusterrole=servicecatalog-view --user=USER"},
		"Quote":        {"a user with a quotation mark", `a\"b`, "list", "serviceplans", "dev", "kubectl create rolebinding servicecatalog-view-USER --namespace=dev --clusterrole=servicecatalog-view --user=USER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, rights.Grant(tc.user, tc.verb, tc.resource, cli.ScopeOf(tc.namespace)), tc.reason)
		})
	}
}

// TestGrantIsByShippedRoles: the role that is named gives the right.
func TestGrantIsByShippedRoles(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "deploy", "rbac", "aggregated_roles.yaml"))
	require.NoError(t, err)
	gives := map[string]bool{}
	for document := range strings.SplitSeq(string(file), "\n---\n") {
		role := rbacv1.ClusterRole{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &role))
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					gives[role.Name+" "+verb+" "+resource] = true
				}
			}
		}
	}
	role := regexp.MustCompile(`--clusterrole=(\S+)`)
	granted := 0
	for right := range maps.Keys(gives) {
		words := strings.Fields(right)
		for _, scope := range []cli.Scope{{Cluster: true}, {Namespaces: true}, {Namespaces: true, Namespace: "dev"}} {
			if found := role.FindStringSubmatch(rights.Grant("eve", words[1], words[2], scope)); found != nil {
				granted++
				assert.True(t, gives[found[1]+" "+words[1]+" "+words[2]], "%s does not give it", found[0])
			}
		}
	}
	assert.Greater(t, granted, 50)
}
