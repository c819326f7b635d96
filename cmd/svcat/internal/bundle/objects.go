package bundle

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
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
	} else if err := c.everywhere(a, k.file, func(in ...client.ListOption) error { return read(ctx, list, in...) }); err != nil {
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

// leftOutValue stands for what is not shown.
const leftOutValue = "(left out)"

// longestName bounds names in characters: those of a class and a plan, which brokers give.
const longestName = 256

// scalar is a value that is no object and no list: those are not what was asked for. Text is a
// name, and is made a line.
func scalar(value any) any {
	switch v := value.(type) {
	case map[string]any, []any:
		return leftOutValue
	case string:
		return termtext.Short(v, longestName)
	}
	return value
}

// constant is a reason, or a type of conditions, as programs write them.
var constant = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]{0,99}$`)

// word is a value that is a constant of a program; anything else is left out.
func word(value any) string {
	text, _ := value.(string)
	if text != "" && !constant.MatchString(text) {
		return leftOutValue
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

// shownEvents is how many events a bundle has: the last ones.
const shownEvents = 1000

// events adds the last events of the catalog's objects and of the installation's namespace.
func (c *Collector) events(ctx context.Context, a *Archive) {
	const name = "events.json"
	var found occurrences
	err := c.everywhere(a, name, func(in ...client.ListOption) error {
		found = occurrences{last: []occurrence{}}
		return catalog.Pages(ctx, c.Reader, &corev1.EventList{}, func(item runtime.Object) error {
			e, is := item.(*corev1.Event)
			if is && (e.Namespace == c.System || strings.HasPrefix(e.InvolvedObject.APIVersion, v1beta1.GroupName+"/")) {
				found.add(c.occurrenceOf(e))
			}
			return nil
		}, in...)
	})
	if err != nil {
		a.lack(name, err)
		return
	}
	found.cut()
	about := "events of the catalog's objects and of the installation's namespace, without messages"
	if found.left > 0 {
		about += fmt.Sprintf("; the last %d, older ones are left out: %d", shownEvents, found.left)
	}
	a.add(name, about, found.last)
}

// occurrences are the last ones of those that were added, and how many others there were.
type occurrences struct {
	last []occurrence
	left int
}

// add adds one. No more than twice as many are held as are shown.
func (o *occurrences) add(one occurrence) {
	o.last = append(o.last, one)
	if len(o.last) == 2*shownEvents {
		o.cut()
	}
}

// cut sorts them, the newest first, and leaves out those that are too many.
func (o *occurrences) cut() {
	slices.SortStableFunc(o.last, func(a, b occurrence) int { return b.Last.Compare(a.Last.Time) })
	if over := len(o.last) - shownEvents; over > 0 {
		o.left += over
		o.last = o.last[:shownEvents]
	}
}

// occurrenceOf is an event, whose reporter is any editor of its namespace: what is no name of an
// object is not shown, and nothing happens in the future.
func (c *Collector) occurrenceOf(e *corev1.Event) occurrence {
	last := e.LastTimestamp
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		last = metav1.Time(e.Series.LastObservedTime)
	case last.IsZero():
		last = metav1.Time(e.EventTime)
	}
	of := &e.InvolvedObject
	return occurrence{
		Object: kindOf(of.Kind) + " " + cli.Qualified(nameOf(of.Namespace), nameOf(of.Name)), Type: word(e.Type), Reason: word(e.Reason),
		Count: e.Count, First: c.past(e.FirstTimestamp), Last: c.past(last),
	}
}

// past is a time, or now where it is yet to come.
func (c *Collector) past(at metav1.Time) metav1.Time {
	if at.After(c.Now) {
		return metav1.NewTime(c.Now)
	}
	return at
}

// kindName is the name of a kind.
var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

// noName stands for what is no name.
const noName = "?"

func kindOf(text string) string {
	if !kindName.MatchString(text) {
		return noName
	}
	return text
}

// nameOf is the name of an object, or of a namespace, which may be none.
func nameOf(text string) string {
	if text != "" && len(validation.IsDNS1123Subdomain(text)) > 0 {
		return noName
	}
	return text
}
