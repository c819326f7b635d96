package change

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

// putsBack says that whoever wrote a field writes it again from somewhere else.
func putsBack(entry metav1.ManagedFieldsEntry) bool {
	for _, person := range []string{"svcat", "kubectl", "defaultplan-"} {
		if strings.HasPrefix(entry.Manager, person) {
			return false
		}
	}
	known := slices.ContainsFunc(writers, func(tool string) bool { return strings.HasPrefix(strings.ToLower(entry.Manager), tool) })
	return known || entry.Operation == metav1.ManagedFieldsOperationApply
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
	case e.value == nil && e.none == "":
		texts = append(texts, fmt.Sprintf("the broker of %s suggests its %s, and the next relist puts that back; give another value to keep it off", of, e.title))
	case e.value == nil:
		texts = append(texts, fmt.Sprintf("the broker of %s suggests its %s, and the next relist puts that back; to have none, give --%s %s", of, e.title, e.flag, e.none))
	case unchanged:
		texts = append(texts, fmt.Sprintf("the broker of %s suggests just this as its %s; it stays the broker's, and later suggestions are taken", of, e.title))
	default:
		texts = append(texts, fmt.Sprintf("the broker of %s suggested its %s; from now on it is yours, and later suggestions are not taken", of, e.title))
	}
	return texts
}
