package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/snapshot"
)

// A kind is one of the catalog's.
type kind struct {
	name       string
	namespaced bool
	// words are those by which kubectl takes it: the singular, the plural and the short one.
	words []string
}

// kinds are all; a test compares them with the definitions.
var kinds = []kind{
	{"ClusterServiceBroker", false, []string{"clusterservicebroker", "clusterservicebrokers", "csb"}},
	{"ServiceBroker", true, []string{"servicebroker", "servicebrokers", "sbr"}},
	{"ClusterServiceClass", false, []string{"clusterserviceclass", "clusterserviceclasses", "csc"}},
	{"ServiceClass", true, []string{"serviceclass", "serviceclasses", "scl"}},
	{"ClusterServicePlan", false, []string{"clusterserviceplan", "clusterserviceplans", "csp"}},
	{"ServicePlan", true, []string{"serviceplan", "serviceplans", "spl"}},
	{"ClusterServiceType", false, []string{"clusterservicetype", "clusterservicetypes", "cst"}},
	{"ServiceType", true, []string{"servicetype", "servicetypes", "sty"}},
	{"ServiceInstance", true, []string{"serviceinstance", "serviceinstances", "si"}},
	{"ServiceBinding", true, []string{"servicebinding", "servicebindings", "sb"}},
	{"ProvisioningPolicy", false, []string{"provisioningpolicy", "provisioningpolicies", "spp"}},
	{"BindingPolicy", false, []string{"bindingpolicy", "bindingpolicies", "sbp"}},
}

// svcats are the words of svcat, which stand for the kinds of both scopes, and for both policies.
var svcats = []string{"broker", "class", "plan", "type", "instance", "binding", "policy"}

// kindNamed is a kind by its name.
func kindNamed(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// kindsOf are the kinds that a word means, none if it means none. Of the words of svcat that
// stand for both scopes, -n means the namespace's.
func kindsOf(word string, namespaced bool) []kind {
	word, _, _ = strings.Cut(strings.ToLower(word), ".")
	for _, k := range kinds {
		if slices.Contains(k.words, word) {
			return []kind{k}
		}
	}
	of := cli.KindOf(word)
	if of == "" {
		return nil
	}
	var found []kind
	for _, k := range kinds {
		if cli.KindOf(k.words[0]) == of {
			found = append(found, k)
		}
	}
	if len(found) == 2 && found[0].namespaced != found[1].namespaced {
		found = slices.DeleteFunc(found, func(k kind) bool { return k.namespaced != namespaced })
	}
	return found
}

// deletionOf is KIND/NAME, or KIND/NAMESPACE/NAME.
func deletionOf(value string, at place) ([]change, error) {
	word, name, _ := strings.Cut(value, "/")
	if namespace, within, both := strings.Cut(name, "/"); both {
		at, name = place{namespace, true}, within
	}
	if word == "" || name == "" || strings.HasPrefix(value, word+"//") || strings.Contains(name, "/") {
		return nil, cli.Usagef("--delete is %q; give KIND/NAME or KIND/NAMESPACE/NAME, as in plan/small or instance/dev/mydb", value)
	}
	found := kindsOf(word, at.given)
	if len(found) == 0 {
		known := slices.Clone(svcats)
		for _, k := range kinds {
			known = append(known, k.words[0])
		}
		return nil, cli.Usagef("--delete names kind %q, which is none of the catalog's;%s allowed are %s, and what kubectl calls them",
			word, cli.DidYouMean(word, known), strings.Join(svcats, ", "))
	}
	of := change{Change: simulation.Change{Delete: &simulation.Object{Kind: found[0].name, Name: name}}}
	if found[0].namespaced {
		of.Delete.Namespace = at.namespace
	}
	for _, k := range found {
		of.kinds = append(of.kinds, k.name)
	}
	return []change{of}, nil
}

// settleDeletions finds what words of --delete mean that may mean several kinds, or that are the
// external names of a class or plan: the object that there is, in the state or among the manifests.
func settleDeletions(changes []change, state *simulation.State) error {
	if !slices.ContainsFunc(changes, func(c change) bool { return c.Delete != nil }) {
		return nil
	}
	all := slices.Clone(state.JSON)
	for _, c := range changes {
		if c.Apply == nil {
			continue
		}
		text, err := c.Apply.MarshalJSON()
		if err != nil {
			return fmt.Errorf("cannot encode %s %q: %w", c.Apply.GetKind(), c.Apply.GetName(), err)
		}
		all = append(all, text)
	}
	names := make([]snapshot.Name, len(all))
	for i, text := range all {
		var err error
		if names[i], err = snapshot.NameOf(text); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.Delete != nil {
			c.settle(names)
		}
	}
	return nil
}

// settle decides for the one object that is called so, by its Kubernetes name or else by that at
// its broker.
func (c *change) settle(names []snapshot.Name) {
	for _, called := range []func(*snapshot.Name) any{
		func(n *snapshot.Name) any { return n.Metadata.Name }, func(n *snapshot.Name) any { return n.Spec.ExternalName },
	} {
		var found []snapshot.Name
		for _, n := range names {
			if called(&n) == c.Delete.Name && slices.Contains(c.kinds, n.Kind) && (n.Metadata.Namespace == nil || *n.Metadata.Namespace == c.Delete.Namespace) {
				found = append(found, n)
			}
		}
		if len(found) == 1 {
			c.Delete.Kind, c.Delete.Name = found[0].Kind, found[0].Metadata.Name
			return
		}
	}
}

// objects proposes KIND/, and what there is of a kind behind it.
func objects(env *cli.Env) complete.Func {
	of := map[string]complete.Func{
		"broker": complete.Brokers(env), "class": complete.Classes(env), "plan": complete.Plans(env), "type": complete.Types(env),
		"instance": complete.Instances(env), "binding": complete.Bindings(env), "policy": complete.Policies(env),
	}
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		word, part, both := strings.Cut(typed, "/")
		if !both {
			var words []cobra.Completion
			for _, kind := range svcats {
				if strings.HasPrefix(kind, typed) {
					words = append(words, kind+"/")
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		propose := of[cli.KindOf(word)]
		if propose == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete.Affixed(word+"/", propose, "")(cmd, args, part)
	}
}

// catalogs proposes BROKER=; what comes behind it is a file.
func catalogs(env *cli.Env) complete.Func {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		found, directive := complete.Affixed("", complete.Brokers(env), "=")(cmd, args, typed)
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
}
