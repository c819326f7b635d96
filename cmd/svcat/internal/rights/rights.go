// Package rights reads which rights a user lacks from what the API server refuses, and has
// the command by which an administrator grants them.
package rights

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The roles that give rights to users: deploy/rbac/aggregated_roles.yaml.
const (
	viewer   = "servicecatalog-view"
	shopper  = "servicecatalog-catalog-view"
	editor   = "servicecatalog-edit"
	admin    = "servicecatalog-admin"
	defaults = "servicecatalog-defaults"
)

// anonymous is the user of requests without credentials.
const anonymous = "system:anonymous"

// A Missing right is one that the user does not have.
type Missing struct {
	// Verb and Resource are the API server's words, such as list and
	// clusterserviceplans; Where is "in the cluster" or "in namespace dev".
	Verb, Resource, Where string
	// Grant is a command for an administrator; empty where none of the shipped roles
	// gives the right.
	Grant string
	// Anonymous says that the request had no credentials: there is no user to grant it to.
	Anonymous bool
}

// denial is how the API server's authorizer refuses, from its first word on. Admission
// refuses in other words: it may quote what anybody wrote, so that what stands in the
// middle of a message is no refusal.
var denial = regexp.MustCompile(`^[a-z0-9./-]+(?: "[^"]*")? is forbidden: User "((?:[^"\\]|\\.)*)" ` +
	`cannot ([a-z]+) resource "([a-z]+)(/[a-z]+)?" in API group "([a-z0-9.]*)" (?:in the namespace "([a-z0-9.-]+)"|at the cluster scope)(?:$|: )`)

// nameable is a user whose name a shell takes as it is.
var nameable = regexp.MustCompile(`^[A-Za-z0-9@._:-]+$`)

// MissingIn are the rights that an error says are missing, each once, and whether there
// is nothing else in the error.
func MissingIn(err error) (missing []Missing, all bool) {
	all = true
	for _, one := range leaves(err) {
		status, ok := errors.AsType[*apierrors.StatusError](one)
		if !ok || !apierrors.IsForbidden(status) {
			all = false
			continue
		}
		words := denial.FindStringSubmatch(status.ErrStatus.Message)
		asked := status.ErrStatus.Details
		if words == nil || asked == nil || asked.Kind != words[3] || asked.Group != words[5] {
			all = false
			continue
		}
		if found := missingOf(words); !slices.Contains(missing, found) {
			missing = append(missing, found)
		}
	}
	return missing, all && err != nil
}

// leaves are the errors that an error joins, at any depth.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range several.Unwrap() {
		all = append(all, leaves(one)...)
	}
	return all
}

// missingOf is the right that the words of a denial name.
func missingOf(words []string) Missing {
	user, verb, resource, group, scope := words[1], words[2], words[3]+words[4], words[5], cli.ScopeOf(words[6])
	found := Missing{Verb: verb, Resource: resource, Where: "in the cluster", Anonymous: user == anonymous}
	if scope.Namespaces {
		found.Where = "in namespace " + scope.Namespace
	}
	if group == v1beta1.GroupName {
		found.Grant = Grant(user, verb, resource, scope)
	}
	return found
}

// Grant is the command by which an administrator lets a user do something with the
// resources of a namespace, of all of them or of the cluster; it is empty where none of the
// shipped roles gives the right, and for users who are not known.
func Grant(user, verb, resource string, scope cli.Scope) string {
	inOne := scope.Namespaces && !scope.EveryNamespace()
	role := roleFor(verb, resource, inOne)
	if role == "" || user == anonymous {
		return ""
	}
	binding, flag := "clusterrolebinding", ""
	if inOne {
		binding, flag = "rolebinding", " --namespace="+scope.Namespace
	}
	if !nameable.MatchString(user) {
		user = "USER"
	}
	return fmt.Sprintf("kubectl create %s %s-%s%s --clusterrole=%s --user=%s", binding, role, user, flag, role, user)
}

// The kinds by who may write them: users theirs, and admins the catalog of a namespace.
var (
	ofUsers   = []string{"servicebindings", "serviceinstances"}
	ofAdmins  = []string{"servicebrokers", "serviceclasses", "serviceplans", "servicetypes"}
	inCluster = []string{
		"bindingpolicies", "clusterservicebrokers", "clusterserviceclasses", "clusterserviceplans", "clusterservicetypes", "provisioningpolicies",
	}
)

// roleFor is the least of the shipped roles that gives a right where it is asked for;
// empty where none does.
func roleFor(verb, resource string, namespaced bool) string {
	reads := slices.Contains([]string{"get", "list", "watch"}, verb)
	writes := slices.Contains([]string{"create", "delete", "deletecollection", "patch", "update"}, verb)
	switch cluster := slices.Contains(inCluster, resource); {
	case cluster && namespaced:
		return ""
	case cluster && reads:
		return shopper
	case resource == "clusterservicetypes" && (verb == "patch" || verb == "update"):
		return defaults
	case reads && (slices.Contains(ofUsers, resource) || slices.Contains(ofAdmins, resource)):
		return viewer
	case writes && namespaced && slices.Contains(ofUsers, resource):
		return editor
	case writes && namespaced && slices.Contains(ofAdmins, resource):
		return admin
	}
	return ""
}

// Remedy is what to do about it, for a user who reads it on a line.
func (m Missing) Remedy() string {
	switch {
	case strings.HasPrefix(m.Grant, "kubectl create clusterrolebinding "+viewer):
		return "an administrator grants it, with the instances, bindings and parameters of every namespace: " + m.Grant
	case m.Grant != "":
		return "an administrator grants it: " + m.Grant
	case m.Anonymous:
		return "the request had no credentials: check the user of the kubeconfig's context; to see who you are: kubectl auth whoami"
	}
	return fmt.Sprintf("ask an administrator: none of the roles of defaultplan lets you %s %s %s", m.Verb, m.Resource, m.Where)
}
