package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const brokersCheck = "brokers"

// brokers looks which are not Ready, and which restrict their plans by what the retired
// catalog took for the contrary.
func (v inventory) brokers(ctx context.Context) []finding {
	var findings []finding
	var byFree []string
	total := 0
	return v.check(ctx, brokersCheck, "brokers", func(ctx context.Context, scope cli.Scope) error {
		findings, byFree, total = nil, nil, 0
		return catalog.Brokers(ctx, v.reader, catalog.Query{Scope: scope}, func(b catalog.Broker) error {
			total++
			if restrictsByFree(b.Spec.CatalogRestrictions) {
				byFree = append(byFree, placeOf(b.Object.GetNamespace(), b.Object.GetName()).name)
			}
			if v.reasonsOnly {
				for i := range b.Status.Conditions {
					b.Status.Conditions[i].Message = ""
				}
			}
			if f := judgeBroker(b, v.clock.Now()); f.Level != levelOK {
				findings = append(findings, f)
			}
			return nil
		})
	}, func(where string) []finding {
		slices.SortStableFunc(findings, func(a, b finding) int { return strings.Compare(a.Message, b.Message) })
		switch {
		case total == 0:
			findings = append(findings, okf(brokersCheck, "there is none%s", where))
		case len(findings) == 0:
			findings = append(findings, okf(brokersCheck, "all %d are ready%s", total, where))
		}
		if len(byFree) > 0 {
			findings = append(findings, judgeFree(byFree))
		}
		return findings
	})
}

// restrictsByFree says whether plans are taken or left by their spec.free.
func restrictsByFree(restrictions *v1beta1.CatalogRestrictions) bool {
	return restrictions != nil && slices.ContainsFunc(restrictions.ServicePlan, func(text string) bool {
		selector, err := labels.Parse(text)
		if err != nil {
			return false
		}
		requirements, _ := selector.Requirements()
		return slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() == v1beta1.FieldFree })
	})
}

// judgeFree tells of brokers that restrict their plans by spec.free: what their catalogs leave
// out cannot be seen in what is stored.
func judgeFree(names []string) finding {
	slices.Sort(names)
	return warningf("restrictions", "svcat get plans -A -o wide: is each in column FREE right, and none missing?",
		"catalogRestrictions of %s use spec.free: a plan whose catalog leaves free out is free, and was not in the retired catalog", some(names))
}

// judgeBroker looks at one broker. That of the cluster is part of the installation, unless it
// is being deleted; that of a namespace is its owner's affair.
func judgeBroker(b catalog.Broker, now time.Time) finding {
	ready, known := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	isReady, deleting := known && ready.Status == v1beta1.ConditionTrue, b.Object.GetDeletionTimestamp() != nil
	if isReady && !deleting {
		return okf(brokersCheck, "%s is ready", b.Object.GetName())
	}
	at := placeOf(b.Object.GetNamespace(), b.Object.GetName())
	look := fmt.Sprintf("svcat describe broker %s %s", b.Object.GetName(), at.find)
	switch {
	case deleting && isReady:
		return warningf(brokersCheck, look, "%s is being deleted", at.name)
	case deleting:
		return warningf(brokersCheck, look, "%s is being deleted: %s", at.name, because(b, ready, known))
	}
	message := fmt.Sprintf("%s is not ready: %s", at.name, because(b, ready, known))
	if next := b.Status.NextRetry; next != nil && next.After(now) {
		message += "; it is tried again at " + clockTime(next.Time)
	}
	do := fmt.Sprintf("%s; then svcat sync broker %s %s", look, b.Object.GetName(), at.find)
	return at.down(brokersCheck, do, "%s", message)
}

func because(b catalog.Broker, ready v1beta1.Condition, known bool) string {
	switch {
	case !known && b.Spec.ControllerName != "":
		return fmt.Sprintf("no controller called %q, which it names in spec.controllerName, has seen it yet", b.Spec.ControllerName)
	case !known:
		return "no controller has seen it yet"
	}
	return strings.Trim(ready.Reason+": "+ready.Message, ": ")
}

// clockTime is a time in a message. A span would differ from look to look: --wait says
// what is new.
func clockTime(at time.Time) string { return at.UTC().Format(time.DateTime + " UTC") }
