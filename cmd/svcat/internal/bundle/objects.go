package bundle

import (
	"context"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A kind is one of the catalog's, with the fields that say how an object stands: names, words
// and counters, which hold no value.
type kind struct {
	name, file string
	fields     []string
}

var kinds = []kind{
	{"ClusterServiceBroker", "clusterservicebrokers.json", brokerFields},
	{"ServiceBroker", "servicebrokers.json", brokerFields},
	{"ClusterServiceType", "clusterservicetypes.json", typeFields},
	{"ServiceType", "servicetypes.json", typeFields},
	{"ServiceInstance", "serviceinstances.json", []string{
		"spec.serviceType", "spec.clusterServiceClassRef.name", "spec.clusterServicePlanRef.name", "spec.serviceClassRef.name",
		"spec.servicePlanRef.name", "spec.updateRequests", "status.currentOperation", "status.provisionStatus",
		"status.deprovisionStatus", "status.observedGeneration", "status.nextRetry", "status.operationStartTime",
	}},
	{"ServiceBinding", "servicebindings.json", []string{
		"spec.serviceType", "spec.instanceRef.namespace", "spec.instanceRef.name", "spec.secretName", "status.instanceRef.name",
		"status.currentOperation", "status.unbindStatus", "status.observedGeneration", "status.nextRetry", "status.operationStartTime",
	}},
}

var (
	brokerFields = []string{"spec.controllerName", "spec.relistBehavior", "spec.relistRequests", "status.observedGeneration", "status.lastCatalogRetrievalTime", "status.nextRetry"}
	typeFields   = []string{"spec.defaultPlanRef.name", "status.plans", "status.defaultPlan", "status.suggestedPlan", "status.observedGeneration"}
)

// A standing is how one object stands.
type standing struct {
	Namespace  string           `json:"namespace,omitempty"`
	Name       string           `json:"name"`
	Created    metav1.Time      `json:"created"`
	Deleted    *metav1.Time     `json:"deleted,omitempty"`
	Generation int64            `json:"generation,omitempty"`
	Finalizers []string         `json:"finalizers,omitempty"`
	Fields     map[string]any   `json:"fields,omitempty"`
	Conditions []map[string]any `json:"conditions,omitempty"`
}

// objects adds how the objects of a kind stand.
func (c *Collector) objects(ctx context.Context, a *Archive, k *kind) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(k.name + "List"))
	read := c.Reader.List
	if strings.HasPrefix(k.name, "Cluster") {
		if err := read(ctx, list); err != nil {
			a.lack(k.file, err)
			return
		}
	} else if err := c.everywhere(ctx, a, k.file, list); err != nil {
		a.lack(k.file, err)
		return
	}
	all := make([]standing, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, standingOf(&list.Items[i], k.fields))
	}
	a.add(k.file, "each "+k.name+": conditions without messages, and how far it is", all)
}

func standingOf(object *unstructured.Unstructured, fields []string) standing {
	s := standing{
		Namespace: object.GetNamespace(), Name: object.GetName(), Created: object.GetCreationTimestamp(), Deleted: object.GetDeletionTimestamp(),
		Generation: object.GetGeneration(), Finalizers: object.GetFinalizers(), Fields: map[string]any{},
	}
	for _, field := range fields {
		if value, found, err := unstructured.NestedFieldNoCopy(object.Object, strings.Split(field, ".")...); found && err == nil {
			s.Fields[field] = scalar(value)
		}
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, is := condition.(map[string]any); is {
			s.Conditions = append(s.Conditions, map[string]any{
				"type": word(fields["type"]), "status": word(fields["status"]), "reason": word(fields["reason"]),
				"lastTransitionTime": fields["lastTransitionTime"], "observedGeneration": fields["observedGeneration"],
			})
		}
	}
	return s
}

// scalar is a value that is no object and no list: those are not what was asked for.
func scalar(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		return "(left out)"
	}
	return value
}

// constant is a reason, or a type of conditions, as programs write them.
var constant = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]{0,99}$`)

// word is a value that is a constant of a program; anything else is left out.
func word(value any) string {
	text, _ := value.(string)
	if text != "" && !constant.MatchString(text) {
		return "(left out)"
	}
	return text
}

// An occurrence is one event.
type occurrence struct {
	Object string      `json:"object"`
	Type   string      `json:"type"`
	Reason string      `json:"reason"`
	Count  int32       `json:"count,omitempty"`
	First  metav1.Time `json:"first"`
	Last   metav1.Time `json:"last"`
}

// events adds the events of the catalog's objects and of the installation's namespace.
func (c *Collector) events(ctx context.Context, a *Archive) {
	const name = "events.json"
	list := &corev1.EventList{}
	if err := c.everywhere(ctx, a, name, list); err != nil {
		a.lack(name, err)
		return
	}
	all := []occurrence{}
	for i := range list.Items {
		e := &list.Items[i]
		of := &e.InvolvedObject
		if e.Namespace != c.System && !strings.HasPrefix(of.APIVersion, v1beta1.GroupName+"/") {
			continue
		}
		last := e.LastTimestamp
		if last.IsZero() {
			last = metav1.Time(e.EventTime)
		}
		all = append(all, occurrence{of.Kind + " " + cli.Qualified(of.Namespace, of.Name), word(e.Type), word(e.Reason), e.Count, e.FirstTimestamp, last})
	}
	a.add(name, "events of the catalog's objects and of the installation's namespace, without messages", all)
}
