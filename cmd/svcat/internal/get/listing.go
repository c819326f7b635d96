package get

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A listing is one run of a command that lists.
type listing struct {
	output

	by *flags
	// where says which scope the flags ask for.
	where  func(env *cli.Env) (cli.Scope, error)
	scope  cli.Scope
	client client.WithWatch
	// plural is what is listed, as in "plans"; kind is its kind in a namespace, with Cluster
	// before it that of the cluster.
	plural, kind string
	// command is what lists it; resources are what --sort-by is about, as in "plans".
	command, resources string
	// kinds are those of a list of the cluster's that has several, instead of kind.
	kinds []string
	// also are kinds that the rows tell about, too: of either scope, as kind.
	also []string
	// namespacedOnly says that the cluster has none.
	namespacedOnly bool
	// one says that one object was named, and is shown alone.
	one bool
	// filters are what narrows the list, as in "of type mysql"; part says that it never has all
	// of its kind.
	filters []string
	part    bool
	// labels select the objects of the kind; nil: all of them.
	labels labels.Selector
}

// listing is a run for a kind of either scope. With --default it is narrowed in these words.
func (f *flags) listing(plural, kind, narrowed string, args []string) *listing {
	l := &listing{
		output: f.out, by: f, where: f.scope.Resolve, plural: plural, kind: kind,
		command: "svcat get " + plural, resources: plural, labels: f.labels,
	}
	if len(args) == 1 {
		l.one = true
		l.filters = append(l.filters, "called "+args[0])
	}
	for _, filter := range f.filters() {
		if filter.value != "" {
			l.filters = append(l.filters, filter.words+" "+filter.value)
		}
	}
	if f.effective {
		l.filters = append(l.filters, narrowed)
	}
	return l
}

// namespaced is a run for a kind that is in namespaces only. A name is looked for in every
// namespace if that is asked for.
func (f *flags) namespaced(plural, kind string, args []string) *listing {
	l := f.listing(plural, kind, "", args)
	l.where, l.one, l.namespacedOnly = f.currentNamespace, l.one && !f.scope.AllNamespaces, true
	return l
}

// A loader finds what a scope has to show.
type loader func(scope cli.Scope) (rows, error)

// show writes what load finds. Where objects are printed whole, load is only called
// to know which, and they are read again page by page.
func (l *listing) show(ctx context.Context, load loader) error {
	scope, err := l.where(l.env)
	if err != nil {
		return err
	}
	l.scope = scope
	if l.client, err = l.env.Client(); err != nil {
		return err
	}
	return l.list(ctx, load)
}

// list writes what load finds in the scope.
func (l *listing) list(ctx context.Context, load loader) error {
	layout := l.layout()
	if l.by.watch {
		return follower{l, load}.follow(ctx)
	}
	if layout == "" {
		return l.showObjects(ctx, load)
	}
	found, err := l.readable(ctx, load)
	if err != nil {
		return err
	}
	if len(found.keys()) == 0 {
		if err := l.empty(ctx, load); err != nil {
			return err
		}
		return l.tellCluster()
	}
	if err := (sorter{l}).rows(ctx, found); err != nil {
		return err
	}
	columns, lines := found.cells(layout)
	if err := l.write(layout, l.fill(layout, columns, lines), found.wraps()); err != nil || layout == layoutLegacy {
		return err
	}
	return l.tellCluster()
}

// prose are the columns that lose text where a terminal is too narrow for all of a table:
// what is in the others is needed to the letter.
var prose = []string{"description", "message", "url", "why", "price", "subjects"}

// fill makes a table as wide as the terminal that it is for; the other layouts are as wide as
// they are.
func (l *listing) fill(layout string, columns []string, lines [][]string) *printer.Table {
	t := printer.New(columns...)
	t.NoHeaders = l.noHeaders
	for _, line := range lines {
		t.Add(line...)
	}
	if room := l.env.Width(); room > 0 && layout == layoutTable {
		t.Fit(room, prose...)
	}
	return t
}

func (l *listing) write(layout string, t *printer.Table, wrap bool) error {
	if layout == layoutLegacy {
		return t.WriteLegacy(l.env.Out, wrap)
	}
	return t.Write(l.env.Out)
}

// tellCluster says that what gives instances of a namespace a plan is not all listed: what the
// cluster has counts there, too.
func (l *listing) tellCluster() error {
	if !l.by.effective || l.one || l.scope.Cluster || l.scope.EveryNamespace() {
		return nil
	}
	_, err := fmt.Fprintf(l.env.ErrOut, "the cluster's default plans hold in %s too, for types that have none there; to list both: svcat get %s --default -n %s --scope all\n",
		l.scope, l.plural, l.scope.Namespace)
	return err
}

// empty says that there is nothing to show: it is an error where an object or filter
// was named that is not there, and else no failure.
func (l *listing) empty(ctx context.Context, load loader) error {
	if err := l.unknownName(ctx); err != nil {
		return err
	}
	sentence := l.nothing()
	if near := l.suggestType(ctx); near != "" {
		sentence += "; did you mean " + near + "?"
	}
	sentence += l.ofCluster(load)
	if l.one {
		return errors.New(sentence)
	}
	_, err := fmt.Fprintln(l.env.ErrOut, sentence)
	return err
}

// ofCluster says what the cluster has, where only a namespace was looked in; what gives
// instances a plan is told by tellCluster.
func (l *listing) ofCluster(load loader) string {
	if l.namespacedOnly || l.scope.Cluster || l.by.effective {
		return ""
	}
	found, err := load(cli.Scope{Cluster: true})
	if err != nil || len(found.keys()) == 0 {
		return "" // the list is empty, whatever the cluster has
	}
	words := []string{l.command, "--cluster"}
	for _, filter := range l.by.filters() {
		if filter.value != "" {
			words = append(words, "--"+filter.flag, suggest.Word(filter.value))
		}
	}
	return fmt.Sprintf("; the cluster has %d: %s", len(found.keys()), strings.Join(words, " "))
}

// narrowed says that not all objects of the scope are listed.
func (l *listing) narrowed() bool { return l.part || len(l.filters) > 0 }

// nothing is the sentence for an empty list.
func (l *listing) nothing() string {
	words := append([]string{"no", l.plural}, l.filters...)
	return strings.Join(words, " ") + " in " + l.scope.String()
}

// readable loads what the scope has; of cluster and namespace only the one that the
// user may read, if he may not read both, and says so.
func (l *listing) readable(ctx context.Context, load loader) (rows, error) {
	found, err := load(l.scope)
	scopes := l.scope.Split()
	if !apierrors.IsForbidden(err) || len(scopes) < 2 {
		return found, err
	}
	for i, scope := range scopes {
		found, scopeErr := load(scope)
		if apierrors.IsForbidden(scopeErr) {
			continue
		}
		// So it is the other one that was forbidden.
		if err := l.notShown(ctx, scopes[1-i], err); err != nil {
			return nil, err
		}
		l.scope = scope
		return found, scopeErr
	}
	return nil, err
}
