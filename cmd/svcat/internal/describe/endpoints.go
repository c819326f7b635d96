package describe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// writePublished writes what of the credentials is not secret, with its values; nothing
// where nothing is published.
func writePublished(ctx context.Context, reader client.Reader, w io.Writer, binding *v1beta1.ServiceBinding) error {
	for _, name := range binding.Status.ConfigMaps {
		published := &corev1.ConfigMap{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: name}, published)
		if apierrors.IsNotFound(err) {
			continue
		}
		if headErr := writeHeading(w, "ConfigMap Data"); headErr != nil {
			return headErr
		}
		if apierrors.IsForbidden(err) {
			return writeText(w, "  you may not read the ConfigMap\n")
		}
		if err != nil {
			return err
		}
		values := map[string][]byte{}
		for key, value := range published.Data {
			values[key] = []byte(value)
		}
		maps.Copy(values, published.BinaryData)
		return writeText(w, secretValues(values))
	}
	return nil
}

// writeEndpoints writes where the broker says that the service is; nothing where it says
// nothing.
func writeEndpoints(w io.Writer, endpoints []v1beta1.BindingEndpoint) error {
	if len(endpoints) == 0 {
		return nil
	}
	var list printer.Pairs
	for _, e := range endpoints {
		from := "as the broker says"
		if e.Mapped {
			from = "by spec.endpointsFrom"
		}
		list.Add(fmt.Sprintf("%s %s/%s", e.Host, strings.Join(e.Ports, ","), strings.ToLower(cmp.Or(e.Protocol, "tcp"))), from)
	}
	return writeList(w, "Endpoints", &list)
}
