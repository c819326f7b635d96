package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

const brokersCheck = "brokers"

// brokers looks which are not Ready.
func (s *site) brokers(ctx context.Context) []finding {
	var findings []finding
	total := 0
	limited, err := s.widest(func(place catalog.Place) error {
		findings, total = nil, 0
		return catalog.Brokers(ctx, s.client, catalog.Query{Place: place}, func(b catalog.Broker) error {
			total++
			if f := judgeBroker(b, s.clock.Now()); f.Level != levelOK {
				findings = append(findings, f)
			}
			return nil
		})
	})
	if err != nil {
		return []finding{unread(brokersCheck, "brokers", err)}
	}
	switch {
	case total == 0:
		return partly(limited, okf(brokersCheck, "there is none%s", s.only(limited)))
	case len(findings) == 0:
		return partly(limited, okf(brokersCheck, "all %d are ready%s", total, s.only(limited)))
	}
	slices.SortStableFunc(findings, func(a, b finding) int { return strings.Compare(a.Message, b.Message) })
	return partly(limited, findings...)
}

// judgeBroker looks at one broker. That of the cluster is part of the installation;
// that of a namespace is its owner's affair.
func judgeBroker(b catalog.Broker, now time.Time) finding {
	ready, known := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	if known && ready.Status == v1beta1.ConditionTrue {
		return okf(brokersCheck, "%s is ready", b.Object.GetName())
	}
	name, flags := b.Object.GetName(), "--scope cluster"
	if namespace := b.Object.GetNamespace(); namespace != "" {
		name, flags = namespace+"/"+name, "--scope namespace -n "+namespace
	}
	message := fmt.Sprintf("%s is not ready: %s", name, because(ready, known))
	if next := b.Status.NextRetry; next != nil && next.After(now) {
		message += "; it is tried again at " + clockTime(next.Time)
	}
	do := fmt.Sprintf("svcat describe broker %s %s; then svcat sync broker %s %s", b.Object.GetName(), flags, b.Object.GetName(), flags)
	if b.Object.GetNamespace() != "" {
		return warningf(brokersCheck, do, "%s", message)
	}
	return failedf(brokersCheck, do, "%s", message)
}

func because(ready v1beta1.Condition, known bool) string {
	if !known {
		return "no controller has seen it yet"
	}
	return strings.Trim(ready.Reason+": "+ready.Message, ": ")
}

// clockTime is a time in a message. A span would differ from look to look: --wait says
// what is new.
func clockTime(at time.Time) string { return at.UTC().Format(time.DateTime + " UTC") }
