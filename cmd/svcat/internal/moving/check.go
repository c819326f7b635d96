package moving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A check holds the objects of a file against each other.
type check struct {
	names map[string]bool
	// values is how many the documents so far have.
	values int
}

func newCheck() *check { return &check{names: map[string]bool{}} }

// size says whether a document is too large to be decoded. The header lists what all objects
// use, and may be as large as the file. Between two values of a list there is a comma.
func (c *check) size(number int, text []byte) error {
	values := bytes.Count(text, []byte(","))
	c.values += values
	switch {
	case number > maxDocuments:
		return fmt.Errorf("a file may have %d documents: export fewer namespaces at once", maxDocuments)
	case number > 1 && len(text) > maxDocument:
		return fmt.Errorf("it has %d bytes, and %d are allowed", len(text), maxDocument)
	case number > 1 && values > maxValues:
		return fmt.Errorf("it has more than %d values, which take too much memory to be read", maxValues)
	case c.values > maxFileValues:
		return fmt.Errorf("a file may have %d values: export fewer namespaces at once", maxFileValues)
	}
	return nil
}

// object says what is wrong with one object.
func (c *check) object(object client.Object, kind string) error {
	if err := named(object, kind); err != nil {
		return err
	}
	key := kind + " " + client.ObjectKeyFromObject(object).String()
	if c.names[key] {
		return errors.New("the file has it twice")
	}
	c.names[key] = true
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return errors.Join(parameters("spec.parameters", o.Spec.Parameters), sources(o.Spec.ParametersFrom))
	case *v1beta1.ServiceBinding:
		return errors.Join(parameters("spec.parameters", o.Spec.Parameters), sources(o.Spec.ParametersFrom), secretName(o))
	}
	return nil
}

// named says whether an object has names that the API server takes: they become parts of paths.
func named(object client.Object, kind string) error {
	if wrong := validation.IsDNS1123Subdomain(object.GetName()); len(wrong) > 0 {
		return errors.New("metadata.name: " + wrong[0])
	}
	cluster := kind == "ClusterServiceBroker" || kind == "ClusterServiceClass" || kind == "ClusterServicePlan"
	namespace := object.GetNamespace()
	if cluster {
		if len(namespace) > 0 {
			return errors.New("metadata.namespace: an object of the cluster has none")
		}
		return nil
	}
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		return errors.New("metadata.namespace: " + wrong[0])
	}
	return nil
}

// parameters says whether parameters are an object, or absent.
func parameters(field string, given *runtime.RawExtension) error {
	if given == nil || len(given.Raw) == 0 || bytes.Equal(given.Raw, []byte("null")) {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(given.Raw, &object) != nil {
		return fmt.Errorf("%s: it is no JSON object", field)
	}
	return nil
}

func sources(from []v1beta1.ParametersFromSource) error {
	for i, source := range from {
		ref := source.SecretKeyRef
		if ref == nil || len(validation.IsDNS1123Subdomain(ref.Name)) > 0 || len(validation.IsConfigMapKey(ref.Key)) > 0 {
			return fmt.Errorf("spec.parametersFrom[%d].secretKeyRef: it names no key of a Secret", i)
		}
	}
	return nil
}

func secretName(binding *v1beta1.ServiceBinding) error {
	if name := binding.Spec.SecretName; name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		return errors.New("spec.secretName: it is no name of a Secret")
	}
	return nil
}

// whole says what is wrong with a file whose objects are right each: a Secret that none of them
// uses has no business in it.
func (c *check) whole(contents *Contents) error {
	used := map[types.NamespacedName]bool{}
	for _, use := range SecretsOf(contents) {
		used[types.NamespacedName{Namespace: use.Namespace, Name: use.Name}] = true
	}
	for _, secret := range contents.Secrets {
		if !used[client.ObjectKeyFromObject(secret)] {
			return fmt.Errorf("Secret %s: no object of the file uses it", client.ObjectKeyFromObject(secret))
		}
		if err := secretKeys(secret); err != nil {
			return fmt.Errorf("Secret %s: %w", client.ObjectKeyFromObject(secret), err)
		}
	}
	return nil
}

func secretKeys(secret *corev1.Secret) error {
	for key := range secret.Data {
		if len(validation.IsConfigMapKey(key)) > 0 {
			return errors.New("data: a key is none that a Secret may have")
		}
	}
	return nil
}
