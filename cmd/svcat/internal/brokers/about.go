package brokers

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// about is what a person says of a broker.
type about struct {
	url, basicSecret, bearerSecret, ca string
	classes, plans                     []string
	behavior                           string
	interval                           time.Duration
	skipTLS                            bool
}

func (a *about) bind(flags *pflag.FlagSet) {
	flags.StringVar(&a.url, "url", "", "The broker's address, without /v2 (required)")
	flags.StringVar(&a.basicSecret, "basic-secret", "", "The Secret with the keys username and password; for a broker of the cluster also NAMESPACE/SECRET")
	flags.StringVar(&a.bearerSecret, "bearer-secret", "", "The Secret with the key token; for a broker of the cluster also NAMESPACE/SECRET")
	flags.StringVar(&a.ca, "ca", "", "A file with the authorities that may sign the broker's certificate, as PEM")
	flags.StringArrayVar(&a.classes, "class-restrictions", nil, "Which classes to take, such as 'spec.externalName in (mysql, redis)'; may be given several times")
	flags.StringArrayVar(&a.plans, "plan-restrictions", nil, "Which plans to take, such as spec.free=true; may be given several times")
	flags.StringVar(&a.behavior, "relist-behavior", "", "When to read the catalog again: duration (after --relist-duration) or manual (when asked to)")
	flags.DurationVar(&a.interval, "relist-duration", 0, "How long until the catalog is read again, such as 30m or 24h; absent, the controller's own")
	flags.BoolVar(&a.skipTLS, "skip-tls", false, "Accept any certificate of the broker. Give --ca instead")
}

func (a *about) validate() error {
	switch {
	case a.url == "":
		return cli.Usagef("--url is required: the broker's address, such as https://broker.example.com")
	case !isAddress(a.url):
		return cli.Usagef("--url is no http or https address with a host: write the whole of it, such as https://broker.example.com")
	case a.basicSecret != "" && a.bearerSecret != "":
		return cli.Usagef("--basic-secret and --bearer-secret exclude each other: give one of them")
	case a.skipTLS && a.ca != "":
		return cli.Usagef("--skip-tls and --ca exclude each other: give one of them")
	case a.interval < 0:
		return cli.Usagef("--relist-duration is %s; it must be more than nothing", a.interval)
	}
	switch strings.ToLower(a.behavior) {
	case "", "duration", "manual":
		return nil
	}
	return cli.Usagef("--relist-behavior is %q; allowed are duration and manual", a.behavior)
}

// isAddress says that admission may take a URL. What it does not take is not sent: its
// refusal would repeat it, with the password that a user may have put there.
func isAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != ""
}

// requirements are those of a flag that was given several times. As ever, one may hold
// several, with commas; those in parentheses belong to a list of values.
func requirements(given []string) []string {
	var all []string
	for _, text := range given {
		depth := 0
		for _, one := range strings.FieldsFunc(text, func(letter rune) bool {
			switch letter {
			case '(':
				depth++
			case ')':
				depth--
			}
			return letter == ',' && depth <= 0
		}) {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}

func (a *about) clusterBroker(name, namespace string) (*v1beta1.ClusterServiceBroker, error) {
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: name}}
	switch {
	case a.basicSecret != "":
		broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: anywhere(a.basicSecret, namespace)}}
	case a.bearerSecret != "":
		broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: anywhere(a.bearerSecret, namespace)}}
	}
	return broker, a.write(&broker.Spec.CommonServiceBrokerSpec)
}

func (a *about) serviceBroker(name, namespace string) (*v1beta1.ServiceBroker, error) {
	broker := &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	switch {
	case a.basicSecret != "":
		broker.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Basic: &v1beta1.BasicAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: a.basicSecret}}}
	case a.bearerSecret != "":
		broker.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Bearer: &v1beta1.BearerTokenAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: a.bearerSecret}}}
	}
	return broker, a.write(&broker.Spec.CommonServiceBrokerSpec)
}

// write fills in what brokers of both scopes share.
func (a *about) write(spec *v1beta1.CommonServiceBrokerSpec) error {
	spec.URL, spec.InsecureSkipTLSVerify = a.url, a.skipTLS
	if classes, plans := requirements(a.classes), requirements(a.plans); len(classes)+len(plans) > 0 {
		spec.CatalogRestrictions = &v1beta1.CatalogRestrictions{ServiceClass: classes, ServicePlan: plans}
	}
	switch strings.ToLower(a.behavior) {
	case "duration":
		spec.RelistBehavior = v1beta1.RelistDuration
	case "manual":
		spec.RelistBehavior = v1beta1.RelistManual
	}
	if a.interval > 0 {
		spec.RelistDuration = &metav1.Duration{Duration: a.interval}
	}
	if a.ca == "" {
		return nil
	}
	bundle, err := cli.ReadFile(a.ca)
	if err != nil {
		return fmt.Errorf("cannot read --ca: %w", err)
	}
	spec.CABundle = bundle
	return nil
}

// anywhere is a Secret of the current namespace, or of the one before its name.
func anywhere(secret, current string) *v1beta1.ObjectReference {
	if namespace, name, ok := strings.Cut(secret, "/"); ok {
		return &v1beta1.ObjectReference{Namespace: namespace, Name: name}
	}
	return &v1beta1.ObjectReference{Namespace: current, Name: secret}
}
