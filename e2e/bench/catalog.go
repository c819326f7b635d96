package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A catalog is made of families: a type, a class of that type, and its plans, of
// which the first is the recorded default of the type and the annotated default
// of the class.
const (
	plansPerFamily = 10
	// suggestedFamily has a suggested plan instead of a default one.
	suggestedFamily = "suggested"
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

// A family is one type with its class and plans.
type family struct {
	name string
	// suggested says that the first plan is suggested, and no default.
	suggested bool
	// schema says that the plans have a schema.
	schema bool
	plans  int
}

func (f *family) planName(i int) string { return fmt.Sprintf("%s-plan-%d", f.name, i) }

func (f *family) class() *api.ClusterServiceClass {
	return &api.ClusterServiceClass{
		TypeMeta:   typeMeta("ClusterServiceClass"),
		ObjectMeta: metav1.ObjectMeta{Name: f.name},
		Spec: api.ClusterServiceClassSpec{
			CommonServiceClassSpec: api.CommonServiceClassSpec{
				ExternalName: "ext-" + f.name, ExternalID: idOf("class", f.name), Description: "A managed database of kind " + f.name,
				ServiceType: f.name, Bindable: true, PlanUpdatable: true,
				Defaults: api.Defaults{DefaultProvisionParameters: raw(classDefaults), DefaultBindParameters: raw(classBindDefaults)},
			},
			ClusterServiceBrokerName: "broker",
		},
	}
}

func (f *family) plan(i int) *api.ClusterServicePlan {
	name := f.planName(i)
	plan := &api.ClusterServicePlan{
		TypeMeta:   typeMeta("ClusterServicePlan"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"attributes.servicecatalog.k8s.io/Cores": "4"}},
		Spec: api.ClusterServicePlanSpec{
			CommonServicePlanSpec: api.CommonServicePlanSpec{
				ExternalName: "ext-" + name, ExternalID: idOf("plan", name), ServiceType: f.name,
				Description:      "General purpose, 2 virtual cores, 64 GB of storage",
				ExternalMetadata: raw(`{"displayName":"General purpose","bullets":["2 virtual cores","64 GB of storage","7 days of backup"],"costs":[{"amount":{"usd":99.0},"unit":"MONTHLY"}]}`),
				Defaults: api.Defaults{
					DefaultProvisionParameters: raw(planDefaults), DefaultBindParameters: raw(planBindDefaults),
					DefaultSecretTransforms: []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "db-name", To: "database"}}},
				},
			},
			ClusterServiceBrokerName: "broker",
			ClusterServiceClassRef:   api.ClusterObjectReference{Name: f.name},
		},
	}
	if f.schema {
		plan.Spec.InstanceCreateParameterSchema = raw(planSchema)
	}
	switch {
	case i > 0:
	case f.suggested:
		plan.Annotations = map[string]string{api.AnnotationSuggestedPlan: "true"}
	default:
		plan.Annotations = map[string]string{api.AnnotationDefaultPlan: "true"}
	}
	return plan
}

// record is what the keeper records of the type; a suggestion records nothing.
func (f *family) record() *api.ClusterServiceType {
	record := &api.ClusterServiceType{TypeMeta: typeMeta("ClusterServiceType"), ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	if !f.suggested {
		record.Spec.DefaultPlanRef = &api.PlanObjectReference{Name: f.planName(0)}
	}
	return record
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: kind}
}

func raw(text string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}

// idOf is an ID that looks like a broker's.
func idOf(kind, name string) string {
	return uuid.NewSHA1(uuid.Nil, []byte(kind+"/"+name)).String()
}

func uidOf(kind, name string) types.UID { return types.UID(idOf(kind+"/uid", name)) }
