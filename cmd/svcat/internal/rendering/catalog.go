package rendering

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
)

// brokersCatalog is the kind that a catalog gets which a broker gave: it has none of
// its own.
const brokersCatalog = "Catalog of a broker"

// asCatalog makes an object of a broker's catalog, and nil of any other document.
func asCatalog(text []byte) *unstructured.Unstructured {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields["services"] == nil || fields["kind"] != nil || fields["apiVersion"] != nil {
		return nil
	}
	fields["kind"] = json.RawMessage(`"` + brokersCatalog + `"`)
	named, err := json.Marshal(fields)
	object := &unstructured.Unstructured{}
	if err != nil || object.UnmarshalJSON(named) != nil {
		return nil
	}
	return object
}

// offerings are the classes and plans that the controller makes of a broker's
// catalog, and what of it is skipped.
func (r *Rendering) offerings(ctx context.Context, catalogs client.Reader, d *manifest.Document) ([]*unstructured.Unstructured, []relist.Skipped, error) {
	text, err := d.Object.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot encode the catalog: %w", err)
	}
	var catalog osb.Catalog
	if err := json.Unmarshal(text, &catalog); err != nil {
		return nil, nil, err
	}
	broker, err := r.brokerOf(ctx, catalogs, d)
	if err != nil {
		return nil, nil, err
	}
	wanted, skipped := relist.Wanted(broker, &catalog)
	var all []*unstructured.Unstructured
	for _, class := range wanted.Classes {
		for _, one := range append([]relist.Object{class.Object}, class.Plans...) {
			object, err := offering(&one)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, object)
		}
	}
	return all, skipped, nil
}

// brokerOf is the broker that a catalog is of, with the restrictions and the suffix
// that the files give it.
func (r *Rendering) brokerOf(ctx context.Context, catalogs client.Reader, d *manifest.Document) (relist.Broker, error) {
	name := r.Broker
	if name == "" {
		base := filepath.Base(d.File)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if d.File == manifest.StandardInput && r.Broker == "" {
		return relist.Broker{}, fmt.Errorf("it is a broker's catalog: say of which broker with --broker")
	}
	known := &v1beta1.ClusterServiceBroker{}
	err := catalogs.Get(ctx, client.ObjectKey{Name: name}, known)
	if apierrors.IsNotFound(err) {
		return relist.Broker{Name: name}, nil
	}
	if err != nil {
		return relist.Broker{}, fmt.Errorf("cannot read broker %q: %w", name, err)
	}
	return relist.BrokerOf(known)
}

// offering is a class or plan with everything that the catalog says and suggests.
func offering(of *relist.Object) (*unstructured.Unstructured, error) {
	fields := map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": string(of.Kind),
		"metadata": map[string]any{"name": of.Name}, "spec": of.Facts,
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", of.Kind, of.Name, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", of.Kind, of.Name, err)
	}
	for _, suggestion := range of.Suggestions {
		var value any
		if text, err = json.Marshal(suggestion.Value); err == nil {
			value, err = decodeValue(text)
		}
		if err == nil {
			err = unstructured.SetNestedField(object.Object, value, suggestion.At...)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write what is suggested for %s %q: %w", of.Kind, of.Name, err)
		}
	}
	return object, nil
}

// decodeValue reads JSON as the API's clients do: whole numbers keep 64 bits.
func decodeValue(text []byte) (any, error) {
	holder := &unstructured.Unstructured{}
	if err := holder.UnmarshalJSON(fmt.Appendf(nil, `{"kind":"Value","value":%s}`, text)); err != nil {
		return nil, err
	}
	return holder.Object["value"], nil
}
