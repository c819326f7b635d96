package ui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The roles that give the rights that a page needs: deploy/rbac/aggregated_roles.yaml.
const (
	viewer  = "servicecatalog-view"
	shopper = "servicecatalog-catalog-view"
	editor  = "servicecatalog-edit"
)

// A lack is a right that the user does not have.
type lack struct {
	// Verb and Resource are the API server's words, such as list and
	// clusterserviceplans; Where is "in the cluster" or "in namespace dev".
	Verb, Resource, Where string
	// Grant is a command for an administrator; empty where none of the shipped roles
	// gives the right.
	Grant string
}

// denial is how the API server's authorizer refuses, from its first word on. Admission
// refuses in other words: it may quote what anybody wrote, so that what stands in the
// middle of a message is no refusal.
var denial = regexp.MustCompile(`^[a-z0-9./-]+(?: "[^"]*")? is forbidden: User "((?:[^"\\]|\\.)*)" ` +
	`cannot (get|list|create) resource "([a-z]+)" in API group "([a-z0-9.]*)" (?:in the namespace "([a-z0-9.-]+)"|at the cluster scope)(?:$|: )`)

// nameable is a user whose name a shell takes as it is.
var nameable = regexp.MustCompile(`^[A-Za-z0-9@._:-]+$`)

// lacksOf are the rights that an error says are lacking, each once, and whether there
// is nothing else in the error.
func lacksOf(err error) (lacks []lack, all bool) {
	all = true
	for _, one := range leaves(err) {
		status, ok := errors.AsType[*apierrors.StatusError](one)
		if !ok || !apierrors.IsForbidden(status) {
			all = false
			continue
		}
		words := denial.FindStringSubmatch(status.ErrStatus.Message)
		asked := status.ErrStatus.Details
		if words == nil || asked == nil || asked.Kind != words[3] || asked.Group != words[4] {
			all = false
			continue
		}
		if found := lackOf(words); !slices.Contains(lacks, found) {
			lacks = append(lacks, found)
		}
	}
	return lacks, all && err != nil
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

func lackOf(words []string) lack {
	user, scope := words[1], cli.ScopeOf(words[5])
	where, binding, flag := "in the cluster", "clusterrolebinding", ""
	if scope.Namespaces {
		where, binding, flag = "in namespace "+scope.Namespace, "rolebinding", " --namespace="+scope.Namespace
	}
	found := lack{Verb: words[2], Resource: words[3], Where: where}
	role := roleFor(words[4], found.Verb, found.Resource, scope.Namespaces)
	if role == "" {
		return found
	}
	if !nameable.MatchString(user) {
		user = "USER"
	}
	found.Grant = fmt.Sprintf("kubectl create %s %s-%s%s --clusterrole=%s --user=%s", binding, role, user, flag, role, user)
	return found
}

// ofTheCluster are what belongs to no namespace.
var ofTheCluster = []string{
	"bindingpolicies", "clusterservicebrokers", "clusterserviceclasses", "clusterserviceplans", "clusterservicetypes", "provisioningpolicies",
}

// roleFor is the least of the shipped roles that gives a right where it is asked for;
// empty where none does.
func roleFor(group, verb, resource string, namespaced bool) string {
	switch catalogs := slices.Contains(ofTheCluster, resource); {
	case group != v1beta1.GroupName, catalogs == namespaced:
		return ""
	case catalogs && verb != "create":
		return shopper
	case catalogs:
		return ""
	case verb == "create":
		return editor
	}
	return viewer
}

// forbidsCreate says that an error is the authorizer's about an instance in a namespace,
// and not another that something else made of that request.
func forbidsCreate(lacks []lack, namespace string) bool {
	return !slices.ContainsFunc(lacks, func(l lack) bool {
		return l.Verb != "create" || l.Resource != "serviceinstances" || l.Where != "in namespace "+namespace
	})
}
