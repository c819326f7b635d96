package relist

import (
	"fmt"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// An ownership says whether the relist may write a stored object.
type ownership struct {
	// leave says that a user excluded it from relists.
	leave bool
	// skip says why it is not written, in words; empty: it is.
	skip string
	// moved says that it is the broker's, but for an ID that the catalog no
	// longer lists.
	moved bool
}

// ownershipOf is the ownership of the object with the name of a desired one, which is nil if
// none exists yet.
func ownershipOf(broker *Broker, live *found, object *Object) ownership {
	switch {
	case live == nil:
		return ownership{}
	case live.unmanaged():
		return ownership{leave: true}
	case !broker.owns(live) && live.controller() != "":
		return taken(object, live.controller())
	case live.copied != "":
		return taken(object, "ClusterServiceBroker "+live.copied)
	case live.broker != "" && live.broker != broker.Name:
		return taken(object, broker.kind()+" "+live.broker)
	case live.externalID != "" && live.externalID != object.ExternalID:
		return ownership{skip: fmt.Sprintf("%s %q stands for another ID, %q; give the broker a nameSuffix", object.Kind, object.Name, shorten(live.externalID))}
	case live.class != "" && live.class != object.Class:
		then := "it is made again once that is gone"
		if live.hasOthersFields() {
			then = "others wrote in it, so that it stays; the relist after it was deleted by hand makes it again"
		}
		return ownership{moved: broker.owns(live), skip: fmt.Sprintf("%s %q belongs to class %q; %s", object.Kind, object.Name, live.class, then)}
	}
	return ownership{}
}

func taken(object *Object, whose string) ownership {
	return ownership{skip: fmt.Sprintf("%s %q belongs to %s; to have both, give the broker a nameSuffix", object.Kind, object.Name, shorten(whose))}
}

// factPaths are the fields that the facts of an object own once they are applied.
func factPaths(broker *Broker, object *Object) fieldSet {
	fields := fieldSet{
		pathOf(inMetadata, "ownerReferences") + fieldSeparator + `k:{"uid":"` + string(broker.UID) + `"}`: true,
	}
	for annotation := range factAnnotations(object) {
		fields[pathOf(inMetadata, inAnnotations, annotation)] = true
	}
	for label := range lookupLabels(broker, object) {
		fields[pathOf(inMetadata, inLabels, label)] = true
	}
	for name, value := range object.Facts {
		inner, is := value.(map[string]any)
		if !is || name != "maintenanceInfo" && name != kinds[object.Kind].class {
			fields[pathOf(inSpec, name)] = true
			continue
		}
		for within := range inner {
			fields[pathOf(inSpec, name, within)] = true
		}
	}
	return fields
}

// factsStand says whether the facts of an object are stored as in the catalog.
func factsStand(broker *Broker, live *found, object *Object) bool {
	for annotation, value := range factAnnotations(object) {
		if live.GetAnnotations()[annotation] != value {
			return false
		}
	}
	return appliedBy(live.GetManagedFields(), api.FieldOwnerCatalog).equal(factPaths(broker, object))
}

// factAnnotations are the sum of an object's facts and, of a plan, the name of its class in words, as a
// column shows it.
func factAnnotations(object *Object) map[string]any {
	annotations := map[string]any{api.AnnotationCatalogHash: object.Hash}
	if object.Class != "" {
		annotations[api.AnnotationClassName] = osb.Printable(object.Service, maxWord)
	}
	return annotations
}

// lookupLabels are the labels that old clients look objects up by. Admission sets them
// too; with them, it has nothing to add.
func lookupLabels(broker *Broker, object *Object) map[string]any {
	name, _ := object.Facts["externalName"].(string)
	ofBroker := api.PerScope(object.Namespace, api.LabelClusterServiceBrokerName, api.LabelServiceBrokerName)
	ofClass := api.PerScope(object.Namespace, api.LabelClusterServiceClassRefName, api.LabelServiceClassRefName)
	labels := map[string]any{
		api.LabelExternalID: api.HashLabelValue(object.ExternalID), api.LabelExternalName: api.HashLabelValue(name), ofBroker: api.HashLabelValue(broker.Name),
	}
	if object.Class != "" {
		labels[ofClass] = api.HashLabelValue(object.Class)
	}
	return labels
}
