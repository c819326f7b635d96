// Package remedy says what helps against errors that every command can meet: an API server
// that is not reached or not trusted, credentials that it does not take, definitions that it
// does not have, and rights that are missing. It adds nothing to a denial by admission, which
// has its own way out.
package remedy

import (
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A fault is an error as a user reads it, and what helps.
type fault struct {
	// found is the text in a message of cli that says takes the place of; empty if it stays.
	found, says string
	do          []string
}

// Message is an error as a person is told it, with what to do about it on lines below.
func Message(at cli.Cluster, err error) string {
	text, do := translate(at, cli.Message(err), err, "error: ")
	return strings.Join(append([]string{text}, do...), "\n  → ")
}

// Of is the text of an error within a sentence, and what to do about it; nothing where there
// is nothing better to say than the error itself.
func Of(at cli.Cluster, err error) (text string, do []string) {
	return translate(at, err.Error(), err, "")
}

// translate says what is in a text in other words, and what helps. Words that are a whole line
// come after a prefix.
func translate(at cli.Cluster, text string, err error, prefix string) (said string, do []string) {
	lines := strings.Split(text, "\n")
	for _, f := range faults(at, err) {
		for i, line := range lines {
			if f.found == "" || !strings.Contains(line, f.found) {
				continue
			}
			lines[i] = strings.ReplaceAll(line, f.found, f.says)
			if line == f.found {
				lines[i] = prefix + f.says
			}
		}
		for _, way := range f.do {
			if !slices.Contains(do, way) {
				do = append(do, way)
			}
		}
	}
	return strings.Join(lines, "\n"), do
}

// faults are those that an error wraps.
func faults(at cli.Cluster, err error) []fault {
	switch e := err.(type) { //nolint:errorlint // each level is looked at
	case *url.Error:
		return unreached(at, e)
	case *apierrors.StatusError:
		return refused(at, e)
	case *meta.NoKindMatchError:
		return unmatched(at, e, e.GroupKind.Group, e.GroupKind.String())
	case *meta.NoResourceMatchError:
		return unmatched(at, e, e.PartialResource.Group, e.PartialResource.GroupResource().String())
	case utilerrors.Aggregate:
		return mapped(e, faultsOf(at, e.Errors()))
	case interface{ Unwrap() error }:
		return faults(at, e.Unwrap())
	case interface{ Unwrap() []error }:
		return faultsOf(at, e.Unwrap())
	}
	return nil
}

func faultsOf(at cli.Cluster, errs []error) (all []fault) {
	for _, one := range errs {
		all = append(all, faults(at, one)...)
	}
	return all
}

// mapped are the faults of several REST mappers: beside the one that could not ask the API server, those
// that do not know the kind say nothing.
func mapped(err utilerrors.Aggregate, found []fault) []fault {
	if len(found) == 1 && slices.ContainsFunc(err.Errors(), meta.IsNoMatchError) && len(err.Errors()) == 2 {
		found[0].found = err.Error()
	}
	return found
}
