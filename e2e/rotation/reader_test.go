package rotation_test

import (
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A reader is an application: it reads its Secret again and again, and uses what it finds
// at the broker.
type reader struct {
	env   *testEnv
	done  chan struct{}
	ended sync.WaitGroup

	mutex sync.Mutex
	uid   types.UID
	reads int
	// passwords are those that it found, in order, without repetitions; wrong are what it
	// did not like.
	passwords, wrong []string
}

// reads begins to read the Secret of a binding that is Ready. At the end of the test it
// must have liked all that it found.
func (e *testEnv) reads(b *api.ServiceBinding) *reader {
	e.Helper()
	secret := e.SecretOf(b)
	r := &reader{env: e, done: make(chan struct{}), uid: secret.UID}
	at := client.ObjectKeyFromObject(secret)
	r.ended.Go(func() {
		ticker := time.NewTicker(25 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-r.done:
				return
			case <-ticker.C:
				r.read(at)
			}
		}
	})
	e.Cleanup(r.stop)
	return r
}

// stop ends it, once.
func (r *reader) stop() {
	select {
	case <-r.done:
		return
	default:
	}
	close(r.done)
	r.ended.Wait()
	assert.Empty(r.env, r.wrong)
	assert.Positive(r.env, r.reads)
}

// read reads once. What the broker has is looked at after the Secret was read: a
// credential that was removed in between stayed for the overlap.
func (r *reader) read(at client.ObjectKey) {
	secret := &corev1.Secret{}
	err := r.env.Client().Get(r.env.Context(), at, secret)
	known := r.env.broker.Bindings()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.reads++
	password := string(secret.Data["password"])
	switch {
	case r.env.Context().Err() != nil:
	case err != nil:
		r.wrong = append(r.wrong, "the Secret cannot be read: "+err.Error())
	case secret.UID != r.uid:
		r.wrong = append(r.wrong, "it is another Secret")
	case !takes(known, password):
		r.wrong = append(r.wrong, "the broker does not take what the Secret holds")
	case len(r.passwords) == 0 || r.passwords[len(r.passwords)-1] != password:
		r.passwords = append(r.passwords, password)
	}
}

// takes says whether a broker takes a password: of a binding that is there, and valid.
func takes(known map[string]osbtest.Binding, password string) bool {
	for _, b := range known {
		if b.Credentials["password"] == password && b.State == osbtest.Ready && (b.ExpiresAt.IsZero() || time.Now().Before(b.ExpiresAt)) {
			return true
		}
	}
	return false
}

// seen are how many passwords it found.
func (r *reader) seen() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.passwords)
}
