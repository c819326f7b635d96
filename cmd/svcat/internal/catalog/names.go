package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/resolve"
)

// A NameError is a name that means nothing, or several things.
type NameError struct {
	// Kind is what was looked for: broker, class, plan or type.
	Kind string
	Name string
	// Where is where it was looked for, as in "class redis" or "the cluster".
	Where string
	// Known are the names that there are, sorted, where none fits.
	Known []string
	// Fits are the Kubernetes names that the name fits, sorted, where several do.
	Fits []string
	// Within are the same as CLASS/PLAN, sorted; empty where that does not tell them apart.
	Within []string
}

// shownNames is how many names an error lists before it counts.
const shownNames = 20

func (e *NameError) Error() string {
	where := termtext.Line(e.Where) // a class is called as its broker likes
	if len(e.Within) > 0 {
		return fmt.Sprintf("%d %s are called %q in %s; name one as CLASS/PLAN: %s",
			len(e.Fits), plural(e.Kind), e.Name, where, shown(e.Within))
	}
	if len(e.Fits) > 0 {
		return fmt.Sprintf("%d %s are called %q in %s; name one by its Kubernetes name (--kube-name): %s",
			len(e.Fits), plural(e.Kind), e.Name, where, shown(e.Fits))
	}
	text := fmt.Sprintf("no %s %q in %s;", e.Kind, e.Name, where)
	if len(e.Known) == 0 {
		return text + " there are no " + plural(e.Kind)
	}
	if near := resolve.Nearest(e.Name, e.Known); near != "" {
		text += " did you mean " + termtext.Line(near) + "?"
	}
	return text + " " + plural(e.Kind) + ": " + shown(e.Known)
}

func (e *NameError) sorted() error {
	slices.Sort(e.Known)
	slices.Sort(e.Fits)
	e.Known, e.Fits = slices.Compact(e.Known), slices.Compact(e.Fits)
	return e
}

// orOfCluster is what a namespace's class and the cluster's of that name say about a plan
// that neither has; e, of the namespace's, may be nil.
func (e *NameError) orOfCluster(err error) *NameError {
	other, _ := errors.AsType[*NameError](err)
	if e == nil || other == nil {
		return other
	}
	both := *e
	both.Where += " or of the cluster"
	both.Known = slices.Concat(e.Known, other.Known)
	return &both
}

// IsNotFound says that an error is about a name that nothing has.
func IsNotFound(err error) bool {
	unknown, ok := errors.AsType[*NameError](err)
	return ok && len(unknown.Fits) == 0
}

func plural(kind string) string {
	if kind == "class" {
		return "classes"
	}
	return kind + "s"
}

// shown are names in a sentence, cleaned: brokers give them.
func shown(names []string) string {
	text := termtext.Line(strings.Join(names[:min(len(names), shownNames)], ", "))
	if len(names) > shownNames {
		text += fmt.Sprintf(" and %d more", len(names)-shownNames)
	}
	return text
}
