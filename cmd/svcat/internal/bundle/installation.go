package bundle

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

// A workload is a Deployment of the installation.
type workload struct {
	Name       string      `json:"name"`
	Wanted     *int32      `json:"wanted,omitempty"`
	Ready      int32       `json:"ready"`
	Containers []container `json:"containers"`
}

type container struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Args  []string `json:"args,omitempty"`
	// Environment are names.
	Environment []string `json:"environment,omitempty"`
}

// processes adds the versions, the Deployments of the installation, and the metrics of their
// Pods.
func (c *Collector) processes(ctx context.Context, a *Archive) {
	found := versions{Svcat: version.Line()}
	var err error
	if found.APIServer, err = c.ServerVersion(ctx); err != nil {
		a.lack("the API server's version", err)
	}
	list := &appsv1.DeploymentList{}
	if err := c.Reader.List(ctx, list, client.InNamespace(c.System)); err != nil {
		a.lack("deployments.json of namespace "+c.System, err)
	} else {
		all := make([]workload, 0, len(list.Items))
		found.Images = map[string][]string{}
		for i := range list.Items {
			all = append(all, workloadOf(&list.Items[i]))
			for _, one := range all[i].Containers {
				found.Images[all[i].Name] = append(found.Images[all[i].Name], one.Image)
			}
		}
		a.add("deployments.json", "Deployments of namespace "+c.System+": images, arguments, names of environment variables", all)
	}
	a.add("versions.json", "versions of svcat, the API server and the installation's images", found)
	c.metrics(ctx, a)
}

func workloadOf(d *appsv1.Deployment) workload {
	w := workload{Name: d.Name, Wanted: d.Spec.Replicas, Ready: d.Status.ReadyReplicas, Containers: []container{}}
	for i := range d.Spec.Template.Spec.Containers {
		of := &d.Spec.Template.Spec.Containers[i]
		one := container{Name: of.Name, Image: of.Image, Args: redacted(of.Args)}
		for _, variable := range of.Env {
			one.Environment = append(one.Environment, variable.Name)
		}
		w.Containers = append(w.Containers, one)
	}
	return w
}

// suspicious are the names of flags whose values are left out.
var suspicious = regexp.MustCompile(`(?i)token|pass|pwd|credential|header|auth|secret|key|private|dsn|cookie|session`)

// redacted are arguments without what may be secret: values of flags that are called so,
// addresses but for their scheme and host, and what is no flag.
func redacted(args []string) []string {
	shown := make([]string, 0, len(args))
	for _, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			arg = leftOutValue
		case has && suspicious.MatchString(name):
			arg = name + "=" + leftOutValue
		case has:
			arg = name + "=" + hostAlone(value)
		}
		shown = append(shown, arg)
	}
	return shown
}

// hostAlone is a text, of an address no more than scheme and host: users, paths and queries may hold
// tokens.
func hostAlone(text string) string {
	if !strings.Contains(text, "://") && !strings.ContainsAny(text, "@?#") {
		return text
	}
	address, err := url.Parse(text)
	if err != nil || address.Host == "" {
		return leftOutValue
	}
	return address.Scheme + "://" + address.Host
}

// metrics adds those of each Pod of the installation that says where it serves them. Other Pods of
// its namespace are not asked.
func (c *Collector) metrics(ctx context.Context, a *Archive) {
	list := &corev1.PodList{}
	if err := c.Reader.List(ctx, list, client.InNamespace(c.System), client.MatchingLabels{"app.kubernetes.io/name": "defaultplan"}); err != nil {
		a.lack("metrics of the Pods of namespace "+c.System, err)
		return
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if !servesMetrics(pod) {
			continue
		}
		text, err := c.scrape(ctx, pod.Name)
		if err != nil {
			a.lack("metrics of Pod "+pod.Name, err)
			continue
		}
		a.files = append(a.files, file{"metrics/" + pod.Name + ".txt", "metrics of the process", text})
	}
}

// mostMetrics bounds what is read of one process, in bytes.
const mostMetrics = 8 << 20

func servesMetrics(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == "metrics" })
	})
}

// scrape reads metrics through the API server: over HTTPS, as they are served unless an
// administrator says otherwise, else over HTTP. The API server does not hand on who asks, so a
// process that wants to know refuses.
func (c *Collector) scrape(ctx context.Context, pod string) ([]byte, error) {
	path := func(scheme string) string {
		return "/api/v1/namespaces/" + c.System + "/pods/" + scheme + ":" + pod + ":metrics/proxy/metrics"
	}
	answer, err := c.Proxy(ctx, path("https"))
	if err != nil {
		plain, failed := c.Proxy(ctx, path("http"))
		if failed != nil {
			return nil, err
		}
		answer = plain
	}
	defer func() { _ = answer.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(answer, mostMetrics+1))
	if err == nil && len(text) > mostMetrics {
		return nil, fmt.Errorf("they are more than %d MiB", mostMetrics>>20)
	}
	return text, err
}

// A configuration is a set of webhooks.
type configuration struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Hooks []hook `json:"hooks"`
}

type hook struct {
	Name          string                           `json:"name"`
	Service       *admissionv1.ServiceReference    `json:"service,omitempty"`
	URL           string                           `json:"url,omitempty"`
	Rules         []admissionv1.RuleWithOperations `json:"rules"`
	FailurePolicy *admissionv1.FailurePolicyType   `json:"failurePolicy,omitempty"`
	Timeout       *int32                           `json:"timeoutSeconds,omitempty"`
	Authorities   []validity                       `json:"caBundle,omitempty"`
}

// hooks adds the webhook configurations that are called for the catalog's kinds.
func (c *Collector) hooks(ctx context.Context, a *Archive) {
	const name = "webhooks.json"
	var mutating admissionv1.MutatingWebhookConfigurationList
	var validating admissionv1.ValidatingWebhookConfigurationList
	for _, list := range []client.ObjectList{&mutating, &validating} {
		if err := c.Reader.List(ctx, list); err != nil {
			a.lack(name, err)
			return
		}
	}
	all := []configuration{}
	add := func(kind, name string, hooks []hook) {
		if slices.ContainsFunc(hooks, hook.isOurs) {
			all = append(all, configuration{kind, name, hooks})
		}
	}
	for i := range mutating.Items {
		var hooks []hook
		for _, h := range mutating.Items[i].Webhooks {
			hooks = append(hooks, hookOf(h.Name, h.ClientConfig, h.Rules, h.FailurePolicy, h.TimeoutSeconds))
		}
		add("MutatingWebhookConfiguration", mutating.Items[i].Name, hooks)
	}
	for i := range validating.Items {
		var hooks []hook
		for _, h := range validating.Items[i].Webhooks {
			hooks = append(hooks, hookOf(h.Name, h.ClientConfig, h.Rules, h.FailurePolicy, h.TimeoutSeconds))
		}
		add("ValidatingWebhookConfiguration", validating.Items[i].Name, hooks)
	}
	a.add(name, "webhook configurations, with how long the certificates of caBundle hold", all)
}

func hookOf(name string, to admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations, policy *admissionv1.FailurePolicyType, timeout *int32) hook {
	h := hook{Name: name, Service: to.Service, Rules: rules, FailurePolicy: policy, Timeout: timeout, Authorities: certificatesIn(to.CABundle)}
	if to.URL != nil {
		h.URL = hostAlone(*to.URL)
	}
	return h
}

func (h hook) isOurs() bool {
	return slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool { return slices.Contains(r.APIGroups, v1beta1.GroupName) })
}

// A validity is how long a certificate holds.
type validity struct {
	From  time.Time `json:"notBefore"`
	Until time.Time `json:"notAfter"`
}

// certificatesIn are the certificates of PEM text.
func certificatesIn(text []byte) (all []validity) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if found, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			all = append(all, validity{found.NotBefore, found.NotAfter})
		}
	}
	return all
}

// A keyed is a Secret or ConfigMap of the installation: what it has, not what that is.
type keyed struct {
	Name string   `json:"name"`
	Type string   `json:"type,omitempty"`
	Keys []string `json:"keys"`
	// Certificates are those of each key that has any.
	Certificates map[string][]validity `json:"certificates,omitempty"`
}

// keys adds the Secrets and ConfigMaps of the installation.
func (c *Collector) keys(ctx context.Context, a *Archive) {
	secrets := &corev1.SecretList{}
	if err := c.Reader.List(ctx, secrets, client.InNamespace(c.System)); err != nil {
		a.lack("secrets.json of namespace "+c.System, err)
	} else {
		all := make([]keyed, 0, len(secrets.Items))
		for i := range secrets.Items {
			s := &secrets.Items[i]
			one := keyed{Name: s.Name, Type: string(s.Type), Keys: slices.Sorted(maps.Keys(s.Data)), Certificates: map[string][]validity{}}
			for key, value := range s.Data {
				if found := certificatesIn(value); len(found) > 0 {
					one.Certificates[key] = found
				}
			}
			all = append(all, one)
		}
		a.add("secrets.json", "Secrets of namespace "+c.System+": types, names of keys, how long certificates hold", all)
	}
	configs := &corev1.ConfigMapList{}
	if err := c.Reader.List(ctx, configs, client.InNamespace(c.System)); err != nil {
		a.lack("configmaps.json of namespace "+c.System, err)
		return
	}
	all := make([]keyed, 0, len(configs.Items))
	for i := range configs.Items {
		all = append(all, keyed{Name: configs.Items[i].Name, Keys: slices.Sorted(maps.Keys(configs.Items[i].Data))})
	}
	a.add("configmaps.json", "ConfigMaps of namespace "+c.System+": names of keys", all)
}
