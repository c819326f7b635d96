package cli

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// mapperFor says under which resource each kind is. Our own are known: to ask the
// API server for them takes two requests more, which Ctrl-C cannot end.
func mapperFor(config *rest.Config, scheme *runtime.Scheme) (meta.RESTMapper, error) {
	own := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.KnownTypes(v1beta1.GroupVersion) {
		scope := meta.RESTScopeNamespace
		if strings.HasPrefix(kind, "Cluster") || strings.HasSuffix(kind, "Policy") {
			scope = meta.RESTScopeRoot
		}
		own.Add(v1beta1.GroupVersion.WithKind(kind), scope)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	others, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{own, others}}, nil
}
