package stack

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// RejectedAtRandom is what a Rejecter says to a write that it refuses.
const RejectedAtRandom = "the rejecter refuses this one"

const rejecterName = "stack-rejecter"

// A Rejecter is a validating webhook of another project, called beside ours: it
// refuses a share of the writes of plans and service types, at random. It serves
// in this process.
type Rejecter struct {
	client client.Client
	server *http.Server
	served chan error

	mu     sync.Mutex
	random *rand.Rand
	share  float64
	// asked and rejected count the writes.
	asked, rejected int
}

// StartRejecter starts a Rejecter that refuses that share of the writes, 0 to 1,
// and returns when the API server calls it. The same seed refuses the same ones
// of writes that come in the same order.
func StartRejecter(ctx context.Context, c client.Client, share float64, seed uint64) (*Rejecter, error) {
	issued, err := certs.Issue("defaultplan rejecter", []string{loopback.Host}, time.Now(), lifetime)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(issued.Leaf.Cert, issued.Leaf.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the certificate of the rejecter: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback.Host+":0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the rejecter: %w", err)
	}
	r := &Rejecter{client: c, served: make(chan error, 1), share: share, random: rand.New(rand.NewPCG(seed, seed))} //nolint:gosec // it keeps no secret
	r.server = &http.Server{
		Handler: r, ReadHeaderTimeout: readyTimeout,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	go func() { r.served <- r.server.ServeTLS(listener, "", "") }()
	if err := r.install(ctx, "https://"+listener.Addr().String(), issued.CA.Cert); err != nil {
		return nil, errors.Join(err, r.Stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *Rejecter) install(ctx context.Context, url string, caBundle []byte) error {
	hook := admissionregistrationv1.ValidatingWebhook{
		Name:         "rejecter.stack.test",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: caBundle},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{api.GroupName}, APIVersions: []string{"*"},
				Resources: []string{"clusterserviceplans", "serviceplans", "clusterservicetypes", "servicetypes"},
			},
		}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: []string{"v1"},
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: rejecterName}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook},
	}
	if err := r.client.Create(ctx, configuration); err != nil {
		return fmt.Errorf("cannot create the hook of the rejecter: %w", err)
	}
	return wait.Eventually(ctx, func() (bool, error) { return r.called(ctx) })
}

// called says whether the API server calls it now: a type is created as a trial,
// in a dry run.
func (r *Rejecter) called(ctx context.Context) (bool, error) {
	before, _ := r.Count()
	trial := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{GenerateName: "stack-trial-"}}
	err := r.client.Create(ctx, trial, client.DryRunAll)
	if after, _ := r.Count(); after > before {
		return true, nil // whatever came of it
	}
	return false, err
}

// Stop removes the hook, returns when the API server no longer calls it, and then
// stops serving.
func (r *Rejecter) Stop(ctx context.Context) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: rejecterName}}
	err := client.IgnoreNotFound(r.client.Delete(ctx, configuration))
	if err == nil {
		err = wait.Eventually(ctx, func() (bool, error) {
			called, err := r.called(ctx)
			return !called && err == nil, err
		})
	}
	err = errors.Join(err, r.server.Shutdown(ctx))
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("cannot stop the rejecter: %w", err)
	}
	return nil
}

// Count is how many writes it was asked about, and how many of them it refused.
func (r *Rejecter) Count() (asked, rejected int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked, r.rejected
}

// ServeHTTP answers an AdmissionReview.
func (r *Rejecter) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "this is no AdmissionReview", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: r.admits()}
	if !review.Response.Allowed {
		review.Response.Result = &metav1.Status{Message: RejectedAtRandom, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden}
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (r *Rejecter) admits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.random.Float64() >= r.share {
		return true
	}
	r.rejected++
	return false
}
