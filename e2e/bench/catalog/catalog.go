package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A catalog is made of families: a type, a class of that type, and its plans, of
// which the first is the recorded default of the type and the annotated default
// of the class.
const (
	PlansPerFamily = 10
	// SuggestedFamily has a suggested plan instead of a default one.
	SuggestedFamily = "suggested"
)

// classDefaults and planDefaults are what an operator gives: eight values.
const (
	classDefaults = `{"location":"westeurope","backup":{"retentionDays":7,"geoRedundant":false},"tags":{"managed-by":"platform"}}`
	planDefaults  = `{"sku":{"tier":"GeneralPurpose","vCores":2},"storageGB":64,"sslEnforcement":"enabled","firewallRules":[{"name":"AllowAll","start":"0.0.0.0","end":"255.255.255.255"}]}`
)

// classBindDefaults and planBindDefaults are what an operator gives to bindings.
const (
	classBindDefaults = `{"user":"reader","options":{"connectTimeoutSeconds":5}}`
	planBindDefaults  = `{"options":{"pool":10,"tls":true},"database":"main"}`
)

// planSchema is what a small plan takes: twelve parameters.
const planSchema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":true,"required":["location"],"properties":{` +
	`"location":{"type":"string","minLength":1,"description":"The region in which the database is made."},` +
	`"storageGB":{"type":"integer","minimum":5,"maximum":16384,"description":"The size of the data disk in gigabytes."},` +
	`"sslEnforcement":{"type":"string","enum":["","enabled","disabled"],"description":"Whether clients have to use TLS."},` +
	`"sku":{"type":"object","properties":{"tier":{"type":"string"},"vCores":{"type":"integer","minimum":1,"maximum":64}}},` +
	`"backup":{"type":"object","properties":{"retentionDays":{"type":"integer","minimum":1,"maximum":35},"geoRedundant":{"type":"boolean"}}},` +
	`"firewallRules":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"start":{"type":"string"},"end":{"type":"string"}}}},` +
	`"tags":{"type":"object","additionalProperties":{"type":"string"}}}}`

// A Family is one type with its class and plans.
type Family struct {
	Name string
	// Suggested says that the first plan is suggested, and no default.
	Suggested bool
	// Schema says that the plans have a schema.
	Schema bool
	Plans  int
}

// PlanName is the external name of the plan with a number.
func (f *Family) PlanName(i int) string { return fmt.Sprintf("%s-plan-%d", f.Name, i) }

// Class is the class of the family.
func (f *Family) Class() *api.ClusterServiceClass {
	return &api.ClusterServiceClass{
		TypeMeta:   TypeMeta("ClusterServiceClass"),
		ObjectMeta: metav1.ObjectMeta{Name: f.Name},
		Spec: api.ClusterServiceClassSpec{
			CommonServiceClassSpec: api.CommonServiceClassSpec{
				ExternalName: "ext-" + f.Name, ExternalID: ID("class", f.Name), Description: "A managed database of kind " + f.Name,
				ServiceType: f.Name, Bindable: true, PlanUpdatable: true,
				Defaults: api.Defaults{DefaultProvisionParameters: Raw(classDefaults), DefaultBindParameters: Raw(classBindDefaults)},
			},
			ClusterServiceBrokerName: "broker",
		},
	}
}

// Plan is the plan with a number.
func (f *Family) Plan(i int) *api.ClusterServicePlan {
	name := f.PlanName(i)
	plan := &api.ClusterServicePlan{
		TypeMeta:   TypeMeta("ClusterServicePlan"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"attributes.servicecatalog.k8s.io/Cores": "4"}},
		Spec: api.ClusterServicePlanSpec{
			CommonServicePlanSpec: api.CommonServicePlanSpec{
				ExternalName: "ext-" + name, ExternalID: ID("plan", name), ServiceType: f.Name,
				Description:      "General purpose, 2 virtual cores, 64 GB of storage",
				ExternalMetadata: Raw(`{"displayName":"General purpose","bullets":["2 virtual cores","64 GB of storage","7 days of backup"],"costs":[{"amount":{"usd":99.0},"unit":"MONTHLY"}]}`),
				Defaults: api.Defaults{
					DefaultProvisionParameters: Raw(planDefaults), DefaultBindParameters: Raw(planBindDefaults),
					DefaultSecretTransforms: []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "db-name", To: "database"}}},
				},
			},
			ClusterServiceBrokerName: "broker",
			ClusterServiceClassRef:   api.ClusterObjectReference{Name: f.Name},
		},
	}
	if f.Schema {
		plan.Spec.InstanceCreateParameterSchema = Raw(planSchema)
	}
	switch {
	case i > 0:
	case f.Suggested:
		plan.Annotations = map[string]string{api.AnnotationSuggestedPlan: "true"}
	default:
		plan.Annotations = map[string]string{api.AnnotationDefaultPlan: "true"}
	}
	return plan
}

// Record is what the keeper records of the type; a suggestion records nothing.
func (f *Family) Record() *api.ClusterServiceType {
	record := &api.ClusterServiceType{TypeMeta: TypeMeta("ClusterServiceType"), ObjectMeta: metav1.ObjectMeta{Name: f.Name}}
	if !f.Suggested {
		record.Spec.DefaultPlanRef = &api.PlanObjectReference{Name: f.PlanName(0)}
	}
	return record
}

// Objects are those of a family that are of a kind.
func (f *Family) Objects(kind runtime.Object) []client.Object {
	switch kind.(type) {
	case *api.ClusterServiceClass:
		return []client.Object{f.Class()}
	case *api.ClusterServiceType:
		return []client.Object{f.Record()}
	case *api.ClusterServicePlan:
		plans := make([]client.Object, f.Plans)
		for i := range plans {
			plans[i] = f.Plan(i)
		}
		return plans
	}
	return nil
}

// TypeMeta is that of a kind of the API.
func TypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: kind}
}

// Raw is a JSON text as a field.
func Raw(text string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}

// ID is an ID that looks like a broker's.
func ID(kind, name string) string {
	return uuid.NewSHA1(uuid.Nil, []byte(kind+"/"+name)).String()
}

// UID is a UID of an object, the same for the same name.
func UID(kind, name string) types.UID { return types.UID(ID(kind+"/uid", name)) }
