package removal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// Instance describes an instance that is to be deleted, as of now: its type, plan, age and number
// of bindings.
func Instance(instance *v1beta1.ServiceInstance, bindings int, now time.Time) string {
	class, plan := catalog.ClassAndPlan(instance)
	return fmt.Sprintf("instance %q (%s)", instance.Name, listed(
		instance.Type(), strings.Trim(class+"/"+plan, "/"),
		age(&instance.ObjectMeta, now), number(bindings, "binding"),
	))
}

// Bindings describes bindings that are to be deleted, as of now: the plan, age and instance of each.
func Bindings(bindings []*v1beta1.ServiceBinding, now time.Time) string {
	described := make([]string, len(bindings))
	for i, binding := range bindings {
		described[i] = fmt.Sprintf("%q (%s)", binding.Name, detailsOf(binding, now))
	}
	if len(bindings) == 1 {
		return "binding " + described[0]
	}
	return fmt.Sprintf("%s: %s", number(len(bindings), "binding"), strings.Join(described, ", "))
}

func detailsOf(binding *v1beta1.ServiceBinding, now time.Time) string {
	applied, _ := v1beta1.ParseAppliedDefaults(binding.Annotations[v1beta1.AnnotationAppliedDefaults])
	of := "with its own instance"
	if !binding.Dedicated() {
		of = "of instance " + catalog.InstanceTitle(binding)
	}
	return listed(of, strings.Trim(applied.Class+"/"+applied.Plan, "/"), age(&binding.ObjectMeta, now))
}

// Broker describes a broker that is to be deleted, as of now: its age and what its catalog has.
func Broker(broker metav1.Object, classes, plans int, now time.Time) string {
	return fmt.Sprintf("broker %q (%s)", broker.GetName(), listed(number(classes, "class"), number(plans, "plan"), age(broker, now)))
}

// age is how old an object is, as kubectl writes it; empty where that is not known.
func age(object metav1.Object, now time.Time) string {
	created := object.GetCreationTimestamp().Time
	if created.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(created)) + " old"
}

// number is how many there are of something, in words.
func number(count int, of string) string {
	switch count {
	case 0:
		of = "no " + of
	case 1:
		return "1 " + of
	default:
		of = strconv.Itoa(count) + " " + of
	}
	if strings.HasSuffix(of, "s") {
		return of + "es"
	}
	return of + "s"
}

// listed are the details that are not empty, with commas. They are cleaned, as they end up in a
// question: a broker calls its plans as it likes.
func listed(details ...string) string {
	return termtext.Line(strings.Join(slices.DeleteFunc(details, func(detail string) bool { return detail == "" }), ", "))
}
