package merge_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// A class, a plan and a user combine. The user's null takes the class's default away: it is stored, and not sent.
func ExampleLayers() {
	class, _ := merge.Decode([]byte(`{"sslEnforcement":"enabled","firewall":{"start":"0.0.0.0","end":"255.255.255.255"}}`))
	plan, _ := merge.Decode([]byte(`{"cores":2}`))
	user, _ := merge.Decode([]byte(`{"location":"westus","sslEnforcement":null,"firewall":{"end":"10.0.0.9"}}`))

	result, err := merge.Layers(merge.Layer{Name: "class", Values: class}, merge.Layer{Name: "plan", Values: plan}, merge.Layer{Name: "user", Values: user})
	if err != nil {
		fmt.Println(err)
		return
	}
	stored, _ := merge.Canonical(result.Values)
	sent, _ := merge.Canonical(result.Sent())
	fmt.Println("stored ", string(stored))
	fmt.Println("sent   ", string(sent))
	fmt.Println("removed", result.Removed)
	for _, a := range result.Added {
		fmt.Println("added  ", a.Pointer, a.Value, "by", result.OriginOf(a.Pointer))
	}
	// Output:
	// stored  {"cores":2,"firewall":{"end":"10.0.0.9","start":"0.0.0.0"},"location":"westus","sslEnforcement":null}
	// sent    {"cores":2,"firewall":{"end":"10.0.0.9","start":"0.0.0.0"},"location":"westus"}
	// removed [/sslEnforcement]
	// added   /cores 2 by plan
	// added   /firewall/start 0.0.0.0 by class
}

// A plan renames a key of the Secret and adds another. A binding that wants another name for the first says only that, and
// its transform runs where the plan's would have.
func ExampleTransforms() {
	port, rename := "5432", func(to string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{RenameKey: &v1beta1.RenameKeyTransform{From: "db-name", To: to}}
	}
	plan := []v1beta1.SecretTransform{rename("database"), {AddKey: &v1beta1.AddKeyTransform{Key: "port", StringValue: &port}}}
	binding := []v1beta1.SecretTransform{rename("name"), {RemoveKey: &v1beta1.RemoveKeyTransform{Key: "uri"}}}

	merged, err := merge.Transforms(merge.TransformLayer{Name: "class"}, merge.TransformLayer{Name: "plan", Transforms: plan},
		merge.TransformLayer{Name: "binding", Transforms: binding})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, transform := range merged.Transforms {
		text, err := json.Marshal(transform)
		fmt.Println(merged.Layers[i], string(text), err)
	}
	// Output:
	// binding {"renameKey":{"from":"db-name","to":"name"}} <nil>
	// plan {"addKey":{"key":"port","stringValue":"5432"}} <nil>
	// binding {"removeKey":{"key":"uri"}} <nil>
}

// A schema that cannot be used is no reason to refuse anyone: the caller warns and goes on.
func ExampleCompile() {
	_, err := merge.Compile([]byte(`{"properties":{"size":{"$ref":"http://example.com/size.json"}}}`))
	if unusable, ok := errors.AsType[*merge.SchemaError](err); ok {
		fmt.Println(unusable.Reason)
	}

	schema, err := merge.Compile([]byte(`{"required":["password"],"properties":{"size":{"enum":["small","large"]}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	values, _ := merge.Decode([]byte(`{"size":"huge"}`))
	report, _ := schema.Check(values)
	for _, v := range report.Violations {
		fmt.Println(v.Pointer, v.Message)
	}
	// Output:
	// references outside the document
	// /password is required
	// /size must be one of "large", "small"
}
