package parameters

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Decode decodes the parameters that a user wrote.
func Decode(object *runtime.RawExtension) (map[string]any, *review.Denial) {
	values, err := merge.Decode(Raw(object))
	if err != nil {
		return nil, review.Invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	return values, nil
}

// Unreadable refuses parameters that are no object, or too large; err
// is that of decoding them.
func Unreadable(values map[string]any, err error) *review.Denial {
	if err == nil {
		_, err = merge.Layers(merge.Layer{Name: LayerUser, Values: values})
	}
	if err != nil {
		return review.Invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	return nil
}

// WrongSources refuses sources of parameters that name no key of a Secret, and
// the same key twice.
func WrongSources(sources []v1beta1.ParametersFromSource, resource string) *review.Denial {
	var denied *review.Denial
	seen := map[v1beta1.SecretKeyReference]int{}
	for i, source := range sources {
		if denied.Full() {
			break
		}
		field := fmt.Sprintf("spec.parametersFrom[%d].secretKeyRef", i)
		switch ref := source.SecretKeyRef; {
		case ref == nil:
			denied = denied.Also(review.Invalid("InvalidSource", field, "it must name a Secret and a key of it"))
		case ref.Name == "":
			denied = denied.Also(review.Invalid("InvalidSource", field+".name", "it must be the name of a Secret in the instance's namespace"))
		case ref.Key == "":
			denied = denied.Also(review.Invalid("InvalidSource", field+".key", "it must be a key of Secret %q", ref.Name))
		default:
			if first, twice := seen[*ref]; twice {
				denied = denied.Also(review.Invalid("InvalidSource", field, "key %q of Secret %q is source %d already; name it once", ref.Key, ref.Name, first))
				continue
			}
			seen[*ref] = i
		}
	}
	if denied == nil {
		return nil
	}
	return denied.Remedy("kubectl explain %s.spec.parametersFrom", resource)
}
