package policy

import "slices"

// keyAny is the key of a subject that names nothing: it selects by labels only.
const keyAny = "any"

// The value of a key comes last and whole, so no value can make one key look like
// another.
func planKey(name string) string                { return "plan/" + name }
func classKey(name string) string               { return "class/" + name }
func typeKey(name string) string                { return "type/" + name }
func instanceKey(namespace, name string) string { return "instance/" + namespace + "/" + name }

// Keys are what an index finds the rule by. A rule that selects a target has a
// key among the target's.
func (r *Rule) Keys() []string {
	keys := make([]string, len(r.subjects))
	for i := range r.subjects {
		keys[i] = r.subjects[i].key()
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key is the most telling of what the subject says: a target must have it.
func (s *subject) key() string {
	switch {
	case s.instance != nil:
		return instanceKey(s.instance.Namespace, s.instance.Name)
	case s.plan != "":
		return planKey(s.plan)
	case s.class != "":
		return classKey(s.class)
	case s.serviceType != "":
		return typeKey(s.serviceType)
	}
	return keyAny
}

// Keys are what an index is asked for the rules that may select the target.
func (t Target) Keys() []string {
	keys := []string{
		keyAny,
		planKey(t.Plan.Kubernetes), planKey(t.Plan.External),
		classKey(t.Class.Kubernetes), classKey(t.Class.External),
		typeKey(t.Type),
	}
	if t.Instance != nil {
		keys = append(keys, instanceKey(t.Instance.Namespace, t.Instance.Name))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
