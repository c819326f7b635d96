package rawhook

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// The paths of the raw hook.
const (
	// Path decodes the review and allows.
	Path = "/raw"
	// TwicePath decodes the object as well, twice.
	TwicePath = "/raw-twice"
	// PatchingPath allows with the patch that rawLearnPath was sent last.
	PatchingPath = "/raw-patching"
	LearnPath    = "/raw-learn"
)

// Command serves the raw hook: what admission is measured against.
func Command() *cobra.Command {
	var certDir string
	var port int
	command := &cobra.Command{
		Use: "raw-hook", Short: "Serve the raw hook", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// The same kind of server as that of cmd/webhook.
			server := crwebhook.NewServer(crwebhook.Options{
				Host: loopback.Host, Port: port, CertDir: certDir,
				TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
			})
			server.Register(Path, rawHook{})
			server.Register(TwicePath, rawHook{decodes: 2})
			learned := &lesson{}
			server.Register(LearnPath, learned)
			server.Register(PatchingPath, rawHook{patch: &learned.patch})
			if err := server.Start(c.Context()); err != nil {
				return fmt.Errorf("cannot serve the raw hook: %w", err)
			}
			return nil
		},
	}
	command.Flags().StringVar(&certDir, "cert-dir", "", "folder with tls.crt and tls.key")
	command.Flags().IntVar(&port, "port", 0, "port")
	return command
}

// A rawHook allows every review, and decodes its object as often as told.
type rawHook struct {
	decodes int
	// patch is the patch of its answers, if any.
	patch *atomic.Pointer[[]byte]
}

// A lesson learns a patch: the body of a request.
type lesson struct{ patch atomic.Pointer[[]byte] }

// ServeHTTP learns one patch.
func (l *lesson) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	patch, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	l.patch.Store(&patch)
	_, _ = io.WriteString(w, `{"allowed":true}`) // as review.Client expects it
}

// ServeHTTP answers one review.
func (h rawHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
		http.Error(w, "this is no review", http.StatusBadRequest)
		return
	}
	for range h.decodes {
		var object map[string]any
		if err := json.Unmarshal(review.Request.Object.Raw, &object); err != nil {
			http.Error(w, "this is no object", http.StatusBadRequest)
			return
		}
	}
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if h.patch != nil {
		patchType := admissionv1.PatchTypeJSONPatch
		response.Patch, response.PatchType = *h.patch.Load(), &patchType
	}
	answer, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	})
	if err != nil {
		http.Error(w, "cannot encode the answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // who hung up need not be told
}
