package get

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// A report prints what is new in a list since the last time, and remembers it.
type report interface {
	update(ctx context.Context) error
}

// report is the report of a list in the format that was asked for.
func (l follower) report() (report, error) {
	if l.layout() != "" {
		return &rowReport{follower: l, silent: l.by.watchOnly}, nil
	}
	printing, err := l.printer()
	if err != nil {
		return nil, err
	}
	plain := l.output
	plain.noHeaders = true
	comparing, err := plain.printer()
	return &objectReport{
		follower: l, silent: l.by.watchOnly, seen: map[string][sha256.Size]byte{},
		shown: each{l.env.Out, printing}, compare: func(object *unstructured.Unstructured) (string, error) {
			var text bytes.Buffer
			err := cli.PrintObject(&text, comparing, object.DeepCopy())
			// Documents after the first have a line before them, and columns grow.
			return strings.Join(strings.Fields(strings.TrimPrefix(text.String(), "---\n")), " "), err
		},
	}, err
}

// A rowReport prints the rows of a table that changed.
type rowReport struct {
	follower

	// silent says that the first rows are not printed.
	silent bool
	// columns are those of the table, nil before the first time; wrap is of its legacy layout.
	columns []string
	wrap    bool
	// seen are the rows of each object as they were.
	seen map[key][][]string
	// written is the last table that was printed.
	written *printer.Table
}

func (r *rowReport) update(ctx context.Context) error {
	found, err := r.readable(ctx, r.load)
	first := r.columns == nil
	switch {
	case !first && catalog.IsNotFound(err):
		return r.print(r.news(nil, nil)) // what was named is gone
	case err != nil:
		return err
	}
	if err := (sorter{r.listing}).rows(ctx, found); err != nil {
		return err
	}
	keys := found.keys()
	if first && len(keys) == 0 {
		if err := r.empty(ctx, r.load); err != nil {
			return err
		}
	}
	columns, lines := found.cells(r.layout())
	r.columns, r.wrap = columns, found.wraps()
	if lines = r.news(keys, lines); first && r.silent {
		return nil
	}
	return r.print(lines)
}

// print prints rows below those that were printed before.
func (r *rowReport) print(lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	t := r.fill(r.layout(), r.columns, lines)
	if r.written != nil {
		t.Continue(r.written)
	}
	r.written = t
	return r.write(r.layout(), t, r.wrap)
}

// news are the rows that are new or another than before, and those that are gone.
func (r *rowReport) news(keys []key, all [][]string) (lines [][]string) {
	lasting := len(r.columns)
	if r.columns[lasting-1] == columnAge {
		lasting--
	}
	now := map[key][][]string{}
	for i, k := range keys {
		now[k] = append(now[k], all[i])
		same := func(before []string) bool { return slices.Equal(before[:lasting], all[i][:lasting]) }
		if !slices.ContainsFunc(r.seen[k], same) {
			lines = append(lines, all[i])
		}
	}
	var gone [][]string
	for k, before := range r.seen {
		if _, is := now[k]; !is {
			gone = append(gone, before...)
		}
	}
	slices.SortFunc(gone, slices.Compare)
	for _, line := range gone {
		line[len(line)-1] += " (deleted)"
	}
	r.seen = now
	return append(lines, gone...)
}

// An objectReport prints the objects whose text changed. Of those that are gone it says nothing.
type objectReport struct {
	follower

	silent, begun bool
	shown         each
	compare       func(*unstructured.Unstructured) (string, error)
	// seen are the texts that were printed.
	seen map[string][sha256.Size]byte
}

func (r *objectReport) update(ctx context.Context) error {
	var wanted map[key]bool
	if r.narrowed() {
		found, err := r.readable(ctx, r.load)
		if err != nil && (!r.begun || !catalog.IsNotFound(err)) {
			return err
		}
		wanted = map[key]bool{}
		if err == nil {
			for _, k := range found.keys() {
				wanted[k] = true
			}
		}
	}
	now := map[string][sha256.Size]byte{}
	silent := r.silent && !r.begun
	r.begun = true
	err := r.walk(ctx, r.client, func(object *unstructured.Unstructured) error {
		if wanted != nil && !wanted[r.keyOf(object)] {
			return nil
		}
		text, err := r.compare(r.trimmed(object))
		if err != nil {
			return err
		}
		id, sum := object.GetKind()+" "+cli.Qualified(object.GetNamespace(), object.GetName()), sha256.Sum256([]byte(text))
		now[id] = sum
		if r.seen[id] == sum || silent {
			return nil
		}
		return r.shown.add(object)
	})
	r.seen = now
	return err
}
