package moving

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const kindInstance = "ServiceInstance"

// renamable are the kinds of the objects that --map names.
var renamable = map[string]string{"instance": kindInstance, "binding": "ServiceBinding"}

// Names are the new names of namespaces, and of instances and bindings.
type Names struct {
	given      []string
	namespaces map[string]string
	// objects are new names by kind and old place, such as ServiceInstance shop/db.
	objects map[string]string
}

// Bind adds the flag.
func (n *Names) Bind(flags *pflag.FlagSet) {
	flags.StringArrayVar(&n.given, "map", nil, "A namespace that has another name here, as OLD=NEW, or an instance or binding, "+
		"as instance/NAMESPACE/OLD=NEW or binding/NAMESPACE/OLD=NEW; may be given several times")
}

// Validate reads the flag.
func (n *Names) Validate() error {
	n.namespaces, n.objects = map[string]string{}, map[string]string{}
	for _, text := range n.given {
		old, renamed, _ := strings.Cut(text, "=")
		names, key := n.namespaces, old
		valid := len(validation.IsDNS1123Label(old)) == 0 && len(validation.IsDNS1123Label(renamed)) == 0
		if strings.Contains(old, "/") {
			names = n.objects
			key, valid = objectKey(old)
			valid = valid && len(validation.IsDNS1123Subdomain(renamed)) == 0
		}
		if !valid {
			return cli.Usagef("--map is %q; write it as OLD=NEW, the names of two namespaces, or as instance/NAMESPACE/OLD=NEW or binding/NAMESPACE/OLD=NEW", text)
		}
		if names[key] != "" && names[key] != renamed {
			return cli.Usagef("--map gives %q two names, %q and %q: give one of them", old, names[key], renamed)
		}
		names[key] = renamed
	}
	return nil
}

// objectKey is the key of an object that is written as KIND/NAMESPACE/NAME.
func objectKey(text string) (key string, valid bool) {
	kind, place, _ := strings.Cut(text, "/")
	namespace, name, _ := strings.Cut(place, "/")
	return renamable[kind] + " " + place,
		renamable[kind] != "" && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// New is the name that a namespace has on the new side; the cluster stays the cluster.
func (n *Names) New(old string) string { return cmp.Or(n.namespaces[old], old) }

// Key is the place on the new side of an object that keeps its name, such as a Secret.
func (n *Names) Key(old types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: n.New(old.Namespace), Name: old.Name}
}

// Instance is the place of an instance on the new side.
func (n *Names) Instance(old types.NamespacedName) types.NamespacedName {
	return n.place(kindInstance, old)
}

// Place is the place of an object of the file on the new side.
func (n *Names) Place(exported client.Object) types.NamespacedName {
	return n.place(KindOf(exported), client.ObjectKeyFromObject(exported))
}

func (n *Names) place(kind string, old types.NamespacedName) types.NamespacedName {
	key := n.Key(old)
	key.Name = cmp.Or(n.objects[kind+" "+old.String()], key.Name)
	return key
}

// Unused is the error of a name that --map has and no object of the file, nor the namespace of a
// Secret that one uses: one that was mistyped would else leave objects where they were not to go.
func (n *Names) Unused(contents *Contents) error {
	has := map[string]bool{}
	for _, object := range contents.Objects() {
		has[object.GetNamespace()], has[Title(object)] = true, true
	}
	for _, use := range SecretsOf(contents) {
		has[use.Namespace] = true
	}
	for _, old := range slices.Sorted(maps.Keys(n.namespaces)) {
		if !has[old] {
			return cli.Usagef("--map names namespace %q, and the file has nothing of it", old)
		}
	}
	for _, old := range slices.Sorted(maps.Keys(n.objects)) {
		if !has[old] {
			return cli.Usagef("--map names %s, which is not in the file", old)
		}
	}
	return nil
}
