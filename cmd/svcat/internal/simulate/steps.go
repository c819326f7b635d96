package simulate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/files"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/osb"
)

// The flags that are changes.
const (
	stepDefault = "default"
	stepFile    = "filename"
	stepDelete  = "delete"
	stepCatalog = "catalog"
)

// A step is one change of the command line.
type step struct{ flag, value string }

// A stepFlag adds to the steps, so that those of different flags keep their order.
type stepFlag struct {
	steps *[]step
	name  string
}

func (f *stepFlag) Set(value string) error {
	*f.steps = append(*f.steps, step{f.name, value})
	return nil
}

func (f *stepFlag) String() string { return "" }

func (f *stepFlag) Type() string { return "string" }

// A change is one of package simulation; kinds are those that a word of --delete may mean.
type change struct {
	simulation.Change

	kinds []string
}

// changes are the steps as changes, in their order.
func (c *command) changes(at place) ([]change, error) {
	stdin := 0
	var all []change
	for _, s := range c.steps {
		// Each flag is a change of its own: an object may be applied again by a later one.
		c.applied = nil
		if s.flag == stepFile && s.value == "-" {
			if stdin++; stdin > 1 {
				return nil, cli.Usagef("standard input can be read only once: -f - is given several times")
			}
		}
		found, err := c.changesOf(s, at)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (c *command) changesOf(s step, at place) ([]change, error) {
	switch s.flag {
	case stepDefault:
		return defaultOf(s.value, at)
	case stepDelete:
		return deletionOf(s.value, at)
	case stepCatalog:
		return catalogOf(s.value)
	}
	return c.manifests(s.value, at)
}

// defaultOf is CLASS/PLAN, in the namespace that -n names, or in the cluster.
func defaultOf(value string, at place) ([]change, error) {
	class, plan, both := strings.Cut(value, "/")
	if !both || class == "" || plan == "" || strings.Contains(plan, "/") {
		return nil, cli.Usagef("--default is %q; give CLASS/PLAN, as in azure-mysql/small", value)
	}
	of := &simulation.Default{Class: class, Plan: plan}
	if at.given {
		of.Namespace = at.namespace
	}
	return []change{{Change: simulation.Change{Default: of}}}, nil
}

// catalogOf is BROKER=FILE.
func catalogOf(value string) ([]change, error) {
	broker, file, both := strings.Cut(value, "=")
	namespace, name, local := strings.Cut(broker, "/")
	if !local {
		namespace, name = "", broker
	}
	if !both || file == "" || name == "" || strings.HasPrefix(broker, "/") || strings.Contains(name, "/") {
		return nil, cli.Usagef("--catalog is %q; give BROKER=FILE, or NAMESPACE/BROKER=FILE for the broker of a namespace", value)
	}
	answer, err := cli.ReadFileOf(file, osb.DefaultMaxCatalog)
	if err != nil {
		return nil, fmt.Errorf("cannot read the catalog of broker %q: %w", broker, err)
	}
	return []change{{Change: simulation.Change{Catalog: &simulation.Catalog{Namespace: namespace, Broker: name, Answer: answer}}}}, nil
}

// manifests are the objects of files, in their order. Those of other API groups are told and left
// out.
func (c *command) manifests(names string, at place) ([]change, error) {
	read := files.Files{Names: strings.Split(names, ","), Recursive: c.recursive}
	if err := read.Validate("simulate"); err != nil {
		return nil, err
	}
	documents, err := read.Read(c.env)
	if err != nil {
		return nil, err
	}
	var all []change
	others := map[string]int{}
	for _, d := range documents {
		gvk := d.Object.GroupVersionKind()
		if gvk.Group != v1beta1.GroupName {
			others[gvk.Kind]++
			continue
		}
		if err := settle(d.Object, at); err != nil {
			return nil, d.Fail(err)
		}
		if err := c.once(&d); err != nil {
			return nil, d.Fail(err)
		}
		all = append(all, change{Change: simulation.Change{Apply: d.Object}})
	}
	if len(others) > 0 {
		c.leftOut = append(c.leftOut, "what the files have of other kinds, which is left out: "+manifest.Counted(others))
	}
	return all, nil
}

// once refuses a second manifest of an object: which one counts would be a guess.
func (c *command) once(d *manifest.Document) error {
	of := simulation.Object{Kind: d.Object.GetKind(), Namespace: d.Object.GetNamespace(), Name: d.Object.GetName()}
	if first, is := c.applied[of]; is {
		return fmt.Errorf("%s %q is given twice, and first at %s; leave one of them out", of.Kind, cli.Qualified(of.Namespace, of.Name), first)
	}
	if c.applied == nil {
		c.applied = map[simulation.Object]string{}
	}
	c.applied[of] = d.At()
	return nil
}

// settle puts an object into the namespace of the command, as kubectl does.
func settle(object *unstructured.Unstructured, at place) error {
	k, known := kindNamed(object.GetKind())
	switch in := object.GetNamespace(); {
	case object.GetName() == "":
		return fmt.Errorf("%s has no metadata.name; give it a name", object.GetKind())
	case !known || !k.namespaced:
	case in == "":
		object.SetNamespace(at.namespace)
	case at.given && in != at.namespace:
		return fmt.Errorf("%s %q is in namespace %q, and --namespace is %q: leave one of them out", object.GetKind(), object.GetName(), in, at.namespace)
	}
	return nil
}

// made are changes as package simulation takes them.
func made(changes []change) []simulation.Change {
	all := make([]simulation.Change, len(changes))
	for i := range changes {
		all[i] = changes[i].Change
	}
	return all
}
