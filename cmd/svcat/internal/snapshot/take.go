package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A Request says what to take a snapshot of.
type Request struct {
	// Reader reads the cluster with the caller's rights.
	Reader client.Reader
	// Namespace is the one that is read by a user who may not read all.
	Namespace string
	// Parameters keeps the values of parameters.
	Parameters bool
	// Webhook finds the options of admission.
	Webhook Flags
	Now     time.Time
}

// Take reads the cluster. What the user may not read is in Unknown; the error is that of a
// cluster that cannot be read at all.
func Take(ctx context.Context, asked Request) (*Snapshot, error) {
	s := &Snapshot{Header: Header{Kind: headerKind, Version: headerVersion, Taken: asked.Now.UTC().Truncate(time.Second), Svcat: version.Line(), Parameters: asked.Parameters}}
	t := taker{reader: asked.Reader, reduce: reducer{asked.Parameters}, snapshot: s}
	if err := t.all(ctx, asked.Namespace); err != nil {
		return nil, err
	}
	s.Cluster = clusterOf(ctx, asked.Reader)
	found, note, err := asked.Webhook.find(ctx, asked.Reader)
	if err != nil {
		return nil, err
	}
	s.Webhook = webhookOf(found)
	if note != "" {
		s.Unknown = append(s.Unknown, note)
	}
	if !asked.Parameters {
		s.Unknown = append(s.Unknown, withheldNote)
	}
	s.Unknown = append(s.Unknown, appliedNote)
	return s, nil
}

// clusterOf is the UID of namespace kube-system, which tells clusters apart; empty if it cannot
// be read.
func clusterOf(ctx context.Context, reader client.Reader) string {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kinds[0].GroupVersionKind)
	if err := reader.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, object); err != nil {
		return ""
	}
	return string(object.UID)
}

// A taker reads all kinds, as far as it can at one moment.
type taker struct {
	reader   client.Reader
	reduce   reducer
	snapshot *Snapshot
	// moment is the resourceVersion of the first list, at which the others are read, too.
	moment string
}

// all reads every kind. If none of the catalog's may be read, that is an error.
func (t *taker) all(ctx context.Context, namespace string) error {
	var refusals []error
	for _, k := range kinds {
		err := t.one(ctx, k, namespace)
		if !apierrors.IsForbidden(err) {
			if err != nil {
				return err
			}
			continue
		}
		t.lackf("%s: there is no right to list them", k.resource)
		if k.Kind != namespaceKind {
			refusals = append(refusals, err)
		}
	}
	if len(refusals) == len(kinds)-1 {
		return errors.Join(refusals...)
	}
	return nil
}

func (t *taker) lackf(format string, args ...any) {
	t.snapshot.Unknown = append(t.snapshot.Unknown, fmt.Sprintf(format, args...))
}

// one reads a kind; of a kind of namespaces, the one namespace where not all may be read.
func (t *taker) one(ctx context.Context, k kind, namespace string) error {
	objects, version, err := t.consistent(ctx, k, "")
	if apierrors.IsForbidden(err) && k.namespaced {
		limited, at, failed := t.consistent(ctx, k, namespace)
		if failed == nil {
			t.lackf("%s of namespaces other than %s: there is no right to list them", k.resource, namespace)
			objects, version, err = limited, at, nil
		}
	}
	if err != nil {
		return fmt.Errorf("cannot list %s: %w", k.resource, err)
	}
	if t.moment == "" {
		t.moment = version
	}
	kept := 0
	for _, object := range objects {
		t.reduce.reduce(object)
		text, err := encode(object)
		if err != nil {
			t.lackf("%s: %v", title(object), err)
			continue
		}
		t.snapshot.Objects = append(t.snapshot.Objects, text)
		kept++
	}
	t.snapshot.Lists = append(t.snapshot.Lists, List{Kind: k.Kind, Count: kept, ResourceVersion: version})
	return nil
}

// consistent lists a kind at the moment of the first list. Where the API server cannot give that
// any more, it lists what there is now: the header tells which list is of which moment.
func (t *taker) consistent(ctx context.Context, k kind, namespace string) ([]*unstructured.Unstructured, string, error) {
	objects, version, err := t.list(ctx, k, namespace, t.moment)
	if err != nil && (t.moment != "" && !apierrors.IsForbidden(err) || apierrors.IsResourceExpired(err)) {
		return t.list(ctx, k, namespace, "")
	}
	return objects, version, err
}

// page is how many objects one request lists.
const page = 500

func (t *taker) list(ctx context.Context, k kind, namespace, moment string) (found []*unstructured.Unstructured, version string, err error) {
	at := &client.ListOptions{Namespace: namespace, Limit: page}
	if moment != "" {
		at.Raw = &metav1.ListOptions{ResourceVersion: moment, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	}
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
		if err := t.reader.List(ctx, list, at); err != nil {
			return nil, "", err
		}
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
		if len(found) > maxObjects {
			return nil, "", fmt.Errorf("there are more than %d", maxObjects)
		}
		if list.GetContinue() == "" {
			return found, list.GetResourceVersion(), nil
		}
		// The mark has the moment in it.
		at = &client.ListOptions{Namespace: namespace, Limit: page, Continue: list.GetContinue()}
	}
}

// title is what an object is called in sentences.
func title(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + cli.Qualified(object.GetNamespace(), object.GetName())
}
