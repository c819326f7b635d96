// Package retired has a cluster hold what the retired service catalog left behind: its
// definitions, and objects as its controller stored them. The catalog itself runs on no API
// server since 1.22.
package retired

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// kinds are those of the retired catalog, in the order in which they refer to each other.
var kinds = []string{
	"ClusterServiceBroker", "ClusterServiceClass", "ClusterServicePlan", "ServiceBroker", "ServiceClass", "ServicePlan", "ServiceInstance", "ServiceBinding",
}

// Define installs the eight definitions, and returns when they are served. The retired catalog
// had them without a schema, by an API that is gone; what comes nearest keeps unknown fields.
func Define(ctx context.Context, c client.Client) error {
	for _, kind := range kinds {
		if err := c.Create(ctx, definition(kind)); err != nil {
			return fmt.Errorf("cannot create the definition of %s: %w", kind, err)
		}
	}
	return wait.Eventually(ctx, func() (bool, error) {
		for _, kind := range kinds {
			stored := &apiextensionsv1.CustomResourceDefinition{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(definition(kind)), stored); err != nil {
				return true, err
			}
			if !established(stored) {
				return false, errors.New(stored.Name + " is not established")
			}
		}
		return true, nil
	})
}

func established(definition *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func definition(kind string) *apiextensionsv1.CustomResourceDefinition {
	plural, scope := strings.ToLower(kind)+"s", apiextensionsv1.NamespaceScoped
	if strings.HasSuffix(kind, "Class") {
		plural = strings.ToLower(kind) + "es"
	}
	if strings.HasPrefix(kind, "Cluster") {
		scope = apiextensionsv1.ClusterScoped
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name:        plural + "." + api.GroupName,
			Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, it was in the retired catalog's chart"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: api.GroupName, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List", Categories: []string{"all", "svcat"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
			}},
		},
	}
}
