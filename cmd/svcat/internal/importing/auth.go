package importing

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

var zeroTime metav1.Time

// auth gives brokers their credentials. A Secret that is here is used only if --broker-secret names
// it: a file could else have any Secret be sent to an address of its own.
type auth struct {
	*side

	contents *moving.Contents
	secrets  *secretFlags
}

// give has the broker name a Secret of this cluster with its credentials, and returns why there is
// none.
func (a *auth) give(ctx context.Context, exported, broker v1beta1.BrokerObject) (string, error) {
	old, keys := moving.AuthSecret(exported)
	key := a.names.Key(old)
	point(broker, key, keys)
	if len(keys) == 0 {
		return "", nil
	}
	if here, given := a.secrets.of[old]; given {
		there, err := a.there(ctx, here)
		_, local := broker.(*v1beta1.ServiceBroker)
		switch {
		case err != nil:
			return "", err
		case !there:
			return fmt.Sprintf("Secret %s of --broker-secret is not here", here), nil
		case local && here.Namespace != broker.GetNamespace():
			return fmt.Sprintf("Secret %s of --broker-secret is in another namespace than the broker", here), nil
		}
		point(broker, here, keys)
		return "", a.confirm(ctx, broker, here)
	}
	if carried := a.contents.Secret(old); carried != nil {
		return a.store(ctx, placed(carried, key))
	}
	if why, err := a.lacksNamespace(ctx, key); err != nil || why != "" {
		return why, err
	}
	typed, why, err := a.ask(ctx, broker, old, keys)
	if typed == nil {
		return why, err
	}
	return a.store(ctx, placed(typed, key))
}

// lacksNamespace says that the namespace of a Secret is not here, before a person types what it is to hold.
func (a *auth) lacksNamespace(ctx context.Context, key types.NamespacedName) (string, error) {
	err := a.client.Get(ctx, types.NamespacedName{Name: key.Namespace}, &corev1.Namespace{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("namespace %q of Secret %s with its credentials is not here: create it, or name another Secret with --broker-secret", key.Namespace, key), nil
	case err != nil && !apierrors.IsForbidden(err): // what is created there tells
		return "", fmt.Errorf("cannot read namespace %q: %w", key.Namespace, err)
	}
	return "", nil
}

// confirm tells the address to which a Secret of this cluster is sent, which is the file's, and asks
// a person at a terminal whether it is meant.
func (a *auth) confirm(ctx context.Context, broker v1beta1.BrokerObject, here types.NamespacedName) error {
	if a.dryRun {
		return nil
	}
	text := fmt.Sprintf("%s is registered at %s, to which the credentials of Secret %s are sent.", moving.Title(broker), where(broker), here)
	if a.secrets.yes || !a.env.Interactive() {
		_, err := fmt.Fprintln(a.env.ErrOut, text)
		return err
	}
	q := &cli.Question{Text: text + "\nIs that its broker?"}
	return q.Ask(ctx, a.env)
}

// ask asks a person for the credentials; where there is none, it says what to do.
func (a *auth) ask(ctx context.Context, broker v1beta1.BrokerObject, old types.NamespacedName, keys []string) (*corev1.Secret, string, error) {
	if a.dryRun || !a.env.Interactive() {
		return nil, fmt.Sprintf("its credentials are not in the file: create a Secret with %s and name it: --broker-secret %s=NAMESPACE/NAME; "+
			"or export with --with-secrets; or run import at a terminal, which asks for them", strings.Join(keys, " and "), old), nil
	}
	secret := &corev1.Secret{Data: map[string][]byte{}}
	for _, key := range keys {
		// The address is the file's: a person looks at it before typing a password for it.
		value, err := askHidden(ctx, a.env, fmt.Sprintf("%s of broker %q at %s", key, broker.GetName(), where(broker)))
		if err != nil {
			return nil, "", fmt.Errorf("cannot ask for the credentials of broker %q: %w", broker.GetName(), err)
		}
		secret.Data[key] = []byte(value)
	}
	return secret, "", nil
}

// point has a broker name the Secret with its credentials, which has these keys, and no other: what
// else a file says there is dropped. Without keys it is called without credentials.
func point(broker v1beta1.BrokerObject, at types.NamespacedName, keys []string) {
	token := len(keys) == 1
	switch b := broker.(type) {
	case *v1beta1.ClusterServiceBroker:
		ref := &v1beta1.ObjectReference{Namespace: at.Namespace, Name: at.Name}
		b.Spec.AuthInfo = nil
		switch {
		case token:
			b.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: ref}}
		case len(keys) > 0:
			b.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: ref}}
		}
	case *v1beta1.ServiceBroker:
		ref := &v1beta1.LocalObjectReference{Name: at.Name}
		b.Spec.AuthInfo = nil
		switch {
		case token:
			b.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Bearer: &v1beta1.BearerTokenAuthConfig{SecretRef: ref}}
		case len(keys) > 0:
			b.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Basic: &v1beta1.BasicAuthConfig{SecretRef: ref}}
		}
	}
}
