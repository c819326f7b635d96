package simulation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// unknown is what the changes depend on and no simulation can say.
func unknown(c *comparison) []string {
	if len(c.changes) == 0 && !c.report.Refused() {
		return nil
	}
	found := []string{
		"the rights of users: each counts as allowed to do everything",
		"what other webhooks and policies of the cluster refuse",
	}
	deleting := 0
	found = slices.Concat(found, unlabelled(c), unasked(c))
	for i := range c.changes {
		change := &c.changes[i]
		for _, text := range []string{unlisted(change), unmade(c, change)} {
			if text != "" {
				found = append(found, text)
			}
		}
		if begins(change) {
			deleting++
		}
	}
	if deleting > 0 {
		found = append(found, fmt.Sprintf("when controllers and brokers let go what is being deleted then (%d): it stays meanwhile", deleting))
	}
	if n := standing(c); n > 0 {
		found = append(found, fmt.Sprintf("what becomes of instances and bindings that are not Ready for another reason than a slot (%d): each stays as it is", n))
	}
	if c.parametersUnknown {
		found = append(found, "whether schemas of plans take parameters: none is asked, because the state comes without them")
	}
	return found
}

// standing counts the objects that are not Ready for another reason than a slot, and for which no broker
// was asked because of the changes.
func standing(c *comparison) int {
	n := 0
	for at, was := range c.now.instances {
		if is := c.then.instances[at]; is != nil && stands(is, is.Status.Conditions) && equality.Semantic.DeepEqual(was.Status, is.Status) {
			n++
		}
	}
	for at, was := range c.now.bindings {
		if is := c.then.bindings[at]; is != nil && stands(is, is.Status.Conditions) && equality.Semantic.DeepEqual(was.Status, is.Status) {
			n++
		}
	}
	return n
}

func stands(object client.Object, conditions []v1beta1.Condition) bool {
	ready, observed := v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	return observed && ready.Status != v1beta1.ConditionTrue && ready.Reason != policies.ReasonSlot && object.GetDeletionTimestamp() == nil
}

// unlisted says of a broker that is new, or is asked otherwise, that its catalog is not
// known.
func unlisted(change *world.Change) string {
	is, has := change.After.(v1beta1.BrokerObject)
	if !has {
		return ""
	}
	if was, had := change.Before.(v1beta1.BrokerObject); had && equality.Semantic.DeepEqual(was.GetSpec(), is.GetSpec()) {
		return ""
	}
	return fmt.Sprintf("what broker %q lists: simulate its catalog, too", change.Name)
}

// unasked is what creations are not tried, where what they depend on is changed.
func unasked(c *comparison) []string {
	var policies, offers bool
	for i := range c.changes {
		if !rewritten(&c.changes[i]) {
			continue
		}
		switch c.changes[i].Kind {
		case policy.KindProvisioning, policy.KindBinding:
			policies = true
		case "ClusterServiceClass", "ServiceClass", "ClusterServicePlan", "ServicePlan":
			offers = true
		}
	}
	var found []string
	if policies {
		found = append(found, "which new bindings, and which new instances that name a plan, a class or labels, the changed policies refuse: only types are asked")
	}
	if offers {
		found = append(found, "which parameters and secret transforms new instances and bindings get by default, and what becomes of new ones that name a plan, a class or labels: only types are asked")
	}
	return found
}

// unmade says of a new object that its namespace is not known, or of a binding that the instance
// which its controller would make for it is not part of this.
func unmade(c *comparison, change *world.Change) string {
	if change.Before != nil || change.After == nil {
		return ""
	}
	if _, known := c.now.spaces[change.Namespace]; !known && change.Namespace != "" {
		return fmt.Sprintf("whether namespace %q of %s %q exists: the state has none of that name", change.Namespace, change.Kind, change.Name)
	}
	if binding, is := change.After.(*v1beta1.ServiceBinding); is && binding.Dedicated() {
		return fmt.Sprintf("the instance that the controller makes for ServiceBinding %q: its costs and slots are not counted", change.Namespace+"/"+change.Name)
	}
	return ""
}
