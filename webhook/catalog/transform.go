package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

// digestPrefix begins the JSON string that replaces a schema in the cache:
// enough to find the compiled one, and to know that there is one.
const digestPrefix = `"sha256:`

// Slim removes from an object what admission never reads from its cache:
// managedFields, descriptions, the broker's metadata but for whether it names costs, and the schemas, which a
// digest replaces. So a catalog of 100,000 plans fits in memory.
func Slim(object any) (any, error) {
	if o, ok := object.(client.Object); ok {
		o.SetManagedFields(nil)
		delete(o.GetAnnotations(), "kubectl.kubernetes.io/last-applied-configuration")
	}
	switch o := object.(type) {
	case *v1beta1.ClusterServiceClass:
		o.Spec.ExternalMetadata, o.Spec.Description = nil, ""
	case *v1beta1.ServiceClass:
		o.Spec.ExternalMetadata, o.Spec.Description = nil, ""
	case *v1beta1.ClusterServicePlan:
		slimPlan(&o.Spec.CommonServicePlanSpec)
		share(&o.Kind, &o.APIVersion, &o.Spec.ServiceType, &o.Spec.ClusterServiceBrokerName, &o.Spec.ClusterServiceClassRef.Name)
	case *v1beta1.ServicePlan:
		slimPlan(&o.Spec.CommonServicePlanSpec)
		share(&o.Kind, &o.APIVersion, &o.Spec.ServiceType, &o.Spec.ServiceBrokerName, &o.Spec.ServiceClassRef.Name)
	case *v1beta1.ServiceInstance:
		// Only the keeper caches instances, and only reads what they wait for.
		o.Spec.Parameters, o.Spec.ParametersFrom, o.Spec.UserInfo = nil, nil, nil
		o.Status = v1beta1.ServiceInstanceStatus{}
	case *v1beta1.ServiceBinding:
		slimBinding(o)
	}
	return object, nil
}

// slimBinding keeps what a binding waits for, and whether its broker was ever
// called: not what was sent, only that something was.
func slimBinding(binding *v1beta1.ServiceBinding) {
	spec, status := &binding.Spec, binding.Status
	spec.Parameters, spec.ProvisionParameters, spec.ParametersFrom, spec.SecretTransforms, spec.UserInfo = nil, nil, nil, nil, nil
	binding.Status = v1beta1.ServiceBindingStatus{
		AsyncOpInProgress: status.AsyncOpInProgress, OrphanMitigationInProgress: status.OrphanMitigationInProgress,
		CurrentOperation: status.CurrentOperation, UnbindStatus: status.UnbindStatus,
	}
	if status.ExternalProperties != nil {
		binding.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{}
	}
}

// share replaces strings that many plans have in common by one copy. It finds the copy only until the next
// garbage collection, which suffices for most objects of one list.
func share(texts ...*string) {
	for _, text := range texts {
		*text = unique.Make(*text).Value()
	}
}

func slimPlan(spec *v1beta1.CommonServicePlanSpec) {
	spec.Description = ""
	spec.ExternalMetadata = costs.Slim(spec.ExternalMetadata)
	for _, schema := range []**runtime.RawExtension{
		&spec.InstanceCreateParameterSchema, &spec.InstanceUpdateParameterSchema, &spec.ServiceBindingCreateParameterSchema,
	} {
		if HasSchema(*schema) {
			*schema = &runtime.RawExtension{Raw: []byte(Digest((*schema).Raw))}
		}
	}
}

// HasSchema says that a schema is there.
func HasSchema(schema *runtime.RawExtension) bool {
	return schema != nil && len(schema.Raw) > 0 && string(schema.Raw) != "null"
}

// Digest is the JSON string that replaces a schema; a digest is returned as it
// is.
func Digest(schema []byte) string {
	if IsDigest(schema) {
		return string(schema)
	}
	return Sum(schema)
}

// IsDigest says whether this may be what replaces a schema. A user may have stored the same as
// the schema of a plan, before definitions with a type for it were installed: then that plan alone may be
// held against the schema that has the digest.
func IsDigest(schema []byte) bool {
	return len(schema) == len(digestPrefix)+hex.EncodedLen(sha256.Size)+1 && strings.HasPrefix(string(schema), digestPrefix)
}

// Sum is the digest of what is stored as a schema.
func Sum(schema []byte) string {
	sum := sha256.Sum256(schema)
	return digestPrefix + hex.EncodeToString(sum[:]) + `"`
}
