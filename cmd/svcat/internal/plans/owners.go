package plans

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Owners are who will have a field otherwise than it is set.
type owners struct {
	// broker says that its broker's catalog suggested the field.
	broker bool
	// tools apply it from elsewhere, sorted.
	tools []string
}

// writers are tools that put back what they wrote, though not by server-side apply.
var writers = []string{"helm", "argocd", "argo-cd", "flux", "kustomize-controller"}

// ownersOf reads in an object's managedFields whose a field is. A person's own writes
// are not meant, be they by svcat or kubectl.
func ownersOf(entries []metav1.ManagedFieldsEntry, path ...string) owners {
	var found owners
	for _, entry := range entries {
		if entry.Subresource != "" || !v1beta1.Manages(entry, path...) {
			continue
		}
		switch {
		case entry.Manager == v1beta1.FieldOwnerSuggestions:
			found.broker = true
		case putsBack(entry) && !slices.Contains(found.tools, entry.Manager):
			found.tools = append(found.tools, entry.Manager)
		}
	}
	slices.Sort(found.tools)
	return found
}

// putsBack says that the manager that wrote a field writes it again from somewhere else.
func putsBack(entry metav1.ManagedFieldsEntry) bool {
	for _, person := range []string{"svcat", "kubectl", "defaultplan-"} {
		if strings.HasPrefix(entry.Manager, person) {
			return false
		}
	}
	known := slices.ContainsFunc(writers, func(tool string) bool { return strings.HasPrefix(strings.ToLower(entry.Manager), tool) })
	return known || entry.Operation == metav1.ManagedFieldsOperationApply
}

// released warns of fields of a broker's object that are cleared, which were set, and not
// by its broker: what it suggests, if anything, is taken again.
func (s *setting) released(to target, edits []*edit) []string {
	spec, err := specOf(to.object)
	owner := metav1.GetControllerOfNoCopy(to.object)
	before, _ := spec.(map[string]any)
	if err != nil || owner == nil || !strings.HasSuffix(owner.Kind, "ServiceBroker") {
		return nil
	}
	var texts []string
	for _, e := range edits {
		path := []string{"f:spec", "f:" + e.name}
		if before[e.name] == nil || e.value != nil || ownersOf(to.object.GetManagedFields(), path...).broker {
			continue
		}
		texts = append(texts, fmt.Sprintf("if the broker of %s suggests its %s, the next relist brings that back%s", to.title, e.title, e.instead()))
	}
	return texts
}

// instead is how to have a field so that no suggestion is taken.
func (e *edit) instead() string {
	if e.none == "" {
		return "; give another value to keep it off"
	}
	return fmt.Sprintf("; to have none, give --%s %s", e.flag, e.none)
}

// warnings say what becomes of an edit of a field with these owners; unchanged says
// that the field was so before.
func (o owners) warnings(e *edit, of string, unchanged bool) []string {
	var texts []string
	for _, tool := range o.tools {
		texts = append(texts, fmt.Sprintf("%s applies the %s of %s and will put its own back; change it there", tool, e.title, of))
	}
	if !o.broker {
		return texts
	}
	switch {
	case e.value == nil:
		texts = append(texts, fmt.Sprintf("the broker of %s suggests its %s, and the next relist puts that back%s", of, e.title, e.instead()))
	case unchanged:
		texts = append(texts, fmt.Sprintf("the broker of %s suggests just this as its %s; it stays the broker's, and later suggestions are taken", of, e.title))
	default:
		texts = append(texts, fmt.Sprintf("the broker of %s suggested its %s; from now on it is yours, and later suggestions are not taken", of, e.title))
	}
	return texts
}
