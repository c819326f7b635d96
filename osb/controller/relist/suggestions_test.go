package relist

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// say is a suggestion as one line.
func say(suggestions []Suggestion) string {
	var lines []string
	for _, s := range suggestions {
		lines = append(lines, strings.ReplaceAll(s.At[len(s.At)-1], "attributes.servicecatalog.k8s.io/", s.At[len(s.At)-2]+"/")+"="+string(applied(s.Value)))
	}
	return strings.Join(lines, " ")
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	const one, two = `"plans":[{"id":"p","name":"small"}]`, `"plans":[{"id":"p","name":"small"},{"id":"q","name":"large"}]`
	plan := func(rest string) string { return `"plans":[{"id":"p","name":"small",` + rest + `}]` }
	cases := map[string]struct {
		reason, service string
		class, plan     string
		skipped         []string
	}{
		"None":              {"Nothing is suggested by itself.", `"tags":["sql","fast"],` + one, ``, ``, nil},
		"Type":              {"The type of a service is that of its plans, too.", `"tags":["ServiceType=MySQL"],` + one, `serviceType="mysql"`, `serviceType="mysql"`, nil},
		"TypeOfPlan":        {"A plan's own wins.", `"tags":["ServiceType=a"],` + plan(`"tags":["ServiceType=b"]`), `serviceType="a"`, `serviceType="b"`, nil},
		"TypeInMetadata":    {"A plan's tags may be in its metadata.", plan(`"metadata":{"tags":["ServiceType=b"]}`), ``, `serviceType="b"`, nil},
		"MetadataTagsWrong": {"What is no list of tags is none.", plan(`"metadata":{"tags":"ServiceType=b"}`), ``, ``, nil},
		"TypeInvalid":       {"A type is a DNS label.", `"tags":["ServiceType=my sql"],` + one, ``, ``, []string{`service "db": its type "my sql" is left out: a type is a DNS label, such as mysql`}},
		"TypeEmpty":         {"Nothing is no type.", `"tags":["ServiceType="],` + one, ``, ``, []string{`service "db": its type "" is left out: a type is a DNS label, such as mysql`}},
		"TypeSecond":        {"There is one type.", `"tags":["ServiceType=a","ServiceType=b"],` + one, `serviceType="a"`, `serviceType="a"`, []string{`service "db": its type "b" is left out: its type is "a" already`}},
		"TypeTwice":         {"The same again is nothing new.", `"tags":["ServiceType=a","ServiceType=A"],` + one, `serviceType="a"`, `serviceType="a"`, nil},
		"SuggestedOnPlan":   {"A plan says so itself.", plan(`"tags":["SuggestedPlan=true"]`), ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOnlyPlan": {"Of one plan, the service may say so.", `"tags":["SuggestedPlan=true"],` + one, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOfTwo":    {"Of two, it must say which.", `"tags":["SuggestedPlan=true"],` + two, ``, ``, []string{`service "db": its tag SuggestedPlan=true is left out: it has 2 plans; name one: SuggestedPlan=NAME`}},
		"SuggestedName":     {"And may.", `"tags":["SuggestedPlan=small"],` + two, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedOther":    {"So this one is not.", `"tags":["SuggestedPlan=large"],` + two, ``, ``, nil},
		"SuggestedUnknown":  {"A plan that there is not.", `"tags":["SuggestedPlan=huge"],` + two, ``, ``, []string{`service "db": its tag SuggestedPlan=huge is left out: it has no plan of that name`}},
		"SuggestedTwice":    {"Which of two is meant is unknown.", `"plans":[{"id":"p","name":"small","tags":["SuggestedPlan=true"]},{"id":"q","name":"large","tags":["SuggestedPlan=true"]}]`, ``, ``, []string{`service "db": none of its plans is taken as suggested, because several are: small, large`}},
		"SuggestedPlanWins": {"What a plan says of itself comes first.", `"tags":["SuggestedPlan=large"],"plans":[{"id":"p","name":"small","tags":["SuggestedPlan=true"]},{"id":"q","name":"large"}]`, ``, `servicecatalog.kubernetes.io/is-suggested-plan="true"`, nil},
		"SuggestedNot":      {"Also when it says no.", `"tags":["SuggestedPlan=small"],` + plan(`"tags":["SuggestedPlan=false"]`), ``, ``, nil},
		"SuggestedWrong":    {"A plan suggests no other.", plan(`"tags":["SuggestedPlan=large"]`), ``, ``, []string{`plan "small" of service "db": its tag SuggestedPlan=large is left out: on a plan it is true or false`}},
		"Attributes":        {"Attributes are labels.", `"tags":["Engine=8.0"],` + plan(`"tags":["Cores=4","Fast="]`), `labels/Engine="8.0"`, `labels/Cores="4" labels/Fast=""`, nil},
		"AttributeText":     {"Or annotations, where no label may be so.", plan(`"tags":["Use=for trying out"]`), ``, `annotations/Use="for trying out"`, nil},
		"AttributeName":     {"What has no lawful name was not meant as one.", `"tags":["see https://x/?a=b","=c"],` + one, ``, ``, nil},
		"AttributeTwice":    {"The first of a name stays.", plan(`"tags":["A=1","A=2"]`), ``, `labels/A="1"`, []string{`plan "small" of service "db": its attribute A=2 is left out: it has one of that name`}},
		"Weight":            {"A plan's weight among those that a selector matches.", plan(`"tags":["Weight=-20"]`), ``, `weight=-20`, nil},
		"WeightWrong":       {"It is a number, within bounds.", plan(`"tags":["Weight=heavy"]`), ``, ``, []string{`plan "small" of service "db": its weight "heavy" is left out: a weight is a number from -100000 to 100000`}},
		"WeightTooMuch":     {"Also at the bounds.", plan(`"tags":["Weight=100001"]`), ``, ``, []string{`plan "small" of service "db": its weight "100001" is left out: a weight is a number from -100000 to 100000`}},
		"WeightTwice":       {"The first stays.", plan(`"tags":["Weight=1","Weight=2"]`), ``, `weight=1`, []string{`plan "small" of service "db": its weight 2 is left out: it has one before it`}},
		"Defaults":          {"Defaults of both.", `"metadata":{"defaultProvisionParameters":{"a":1}},` + plan(`"metadata":{"defaultBindParameters":{"b":[1.50]}}`), `defaultProvisionParameters={"a":1}`, `defaultBindParameters={"b":[1.5]}`, nil},
		"DefaultsEmpty":     {"Nothing is no default.", `"metadata":{"defaultProvisionParameters":{},"defaultBindParameters":null,"defaultSecretTransforms":[]},` + one, ``, ``, nil},
		"DefaultsNoObject":  {"They are objects.", `"metadata":{"defaultProvisionParameters":[1]},` + one, ``, ``, []string{`service "db": its metadata.defaultProvisionParameters is left out: cannot decode parameters: they must be a JSON object`}},
		"Transforms":        {"In their order.", `"metadata":{"defaultSecretTransforms":[{"removeKey":{"key":"a"}},{"addKey":{"key":"b","stringValue":"c"}}]},` + one, `defaultSecretTransforms=[{"removeKey":{"key":"a"}},{"addKey":{"jsonPathExpression":null,"key":"b","stringValue":"c","value":null}}]`, ``, nil},
		"TransformsNoList":  {"They are a list.", `"metadata":{"defaultSecretTransforms":{"a":1}},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: it is not a list of transforms`}},
		"TransformSecret":   {"Others' Secrets are not a broker's to hand out.", `"metadata":{"defaultSecretTransforms":[{"addKeysFrom":{"secretRef":{"name":"x","namespace":"y"}}},{"removeKey":{"key":"a"}}]},` + one, `defaultSecretTransforms=[{"removeKey":{"key":"a"}}]`, ``, []string{`service "db": its metadata.defaultSecretTransforms[0] is left out: a broker may not suggest addKeysFrom`}},
		"TransformNone":     {"One with nothing in it.", `"metadata":{"defaultSecretTransforms":[{}]},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: entry 0 is not exactly one of renameKey, addKey, removeKey, publishKey and preset`}},
		"TransformPublish":  {"What is no secret, and the well-known keys.", `"metadata":{"defaultSecretTransforms":[{"publishKey":{"key":"host"}},{"preset":{"name":"servicebinding","type":"mysql"}}]},` + one, `defaultSecretTransforms=[{"publishKey":{"key":"host"}},{"preset":{"name":"servicebinding","type":"mysql"}}]`, ``, nil},
		"TransformPreset":   {"One that there is not.", `"metadata":{"defaultSecretTransforms":[{"preset":{"name":"other"}}]},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: entry 0 is a preset that there is not, or has a value that is too long`}},
		"TransformKey":      {"One without a key.", `"metadata":{"defaultSecretTransforms":[{"removeKey":{}}]},` + one, ``, ``, []string{`service "db": its metadata.defaultSecretTransforms is left out: entry 0 has a key that is empty, or longer than 253 characters`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, skipped := Wanted(Broker{Name: "b"}, catalogOf(t, `{"services":[{"id":"s","name":"db",`+tc.service+`}]}`))
			require.Len(t, objects.Classes, 1, tc.reason)
			want := strings.ReplaceAll(tc.class, `"jsonPathExpression":null,`, "")
			want = strings.ReplaceAll(want, `,"value":null`, "")
			got := strings.ReplaceAll(strings.ReplaceAll(say(objects.Classes[0].Suggestions), `"jsonPathExpression":null,`, ""), `,"value":null`, "")
			assert.Equal(t, want, got, tc.reason)
			assert.Equal(t, tc.plan, say(objects.Classes[0].Plans[0].Suggestions), tc.reason)
			var told []string
			for _, one := range skipped {
				told = append(told, one.String())
			}
			assert.Equal(t, tc.skipped, told, tc.reason)
		})
	}
}
