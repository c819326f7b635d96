package stack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// metricsReader is the ServiceAccount that reads the metrics of the daemons, with the
// shipped role.
const metricsReader = "metrics-reader"

// scraper verifies no certificate: the daemons make theirs themselves.
var scraper = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as the shipped ServiceMonitors
}}

// A Scraper reads metrics of daemons.
type Scraper struct {
	access *Access
	// token is that of who reads metrics; empty before there is one.
	token string
}

// addMetricsReader makes the ServiceAccount and its token. It has the right before any
// daemon is asked: what a daemon was told of a right it believes for a while.
func (s *Scraper) addMetricsReader(ctx context.Context) (err error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: keeperNamespace, Name: metricsReader}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: metricsReader},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "defaultplan-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	for _, object := range []client.Object{account, binding} {
		// A stack that ran here before has left them.
		if err := client.IgnoreAlreadyExists(s.access.client.Create(ctx, object)); err != nil {
			return fmt.Errorf("cannot make who reads metrics: %w", err)
		}
	}
	s.token, err = s.access.Token(ctx, account.Namespace+":"+account.Name)
	return err
}

// Scrape reads the metrics of a daemon, by its URL, as a Prometheus with the shipped role
// does.
func (s *Scraper) Scrape(ctx context.Context, url string) (string, error) {
	status, page, err := ScrapeAs(ctx, url, s.token)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %s", url, status, page)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read metrics: %w", err)
	}
	return page, nil
}

// ScrapeAs asks a daemon for its metrics with a token, or with none if it is empty.
func ScrapeAs(ctx context.Context, url, token string) (status int, page string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := scraper.Do(request)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), errors.Join(err, response.Body.Close())
}
