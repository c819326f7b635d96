package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/osb"
)

// brokerCredentials are the credentials for a broker, and the version of their
// Secret.
type brokerCredentials struct {
	auth        osb.Authentication
	certificate *tls.Certificate
	version     string
}

// credentialsOf reads the Secret of a broker. With the keys tls.crt and tls.key it holds a
// client certificate, too, or instead.
func (b *Clients) credentialsOf(ctx context.Context, found Broker) (brokerCredentials, error) {
	at, keys := found.basic, []string{corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey}
	if at.Name == "" {
		at, keys = found.bearer, []string{"token"}
	}
	if at.Name == "" {
		return brokerCredentials{}, nil
	}
	var secret corev1.Secret
	if err := b.Live.Get(ctx, at, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return brokerCredentials{}, fmt.Errorf("the Secret %q with the broker's credentials is not there: make it, or change authInfo", at)
		}
		return brokerCredentials{}, fmt.Errorf("cannot read the Secret %q with the broker's credentials: %w", at, err)
	}
	b.Secrets.keep(ctx, found, &secret)
	shown := brokerCredentials{version: string(secret.UID) + "/" + secret.ResourceVersion}
	if pair, ok := secret.Data[corev1.TLSCertKey]; ok {
		certificate, err := tls.X509KeyPair(pair, secret.Data[corev1.TLSPrivateKeyKey])
		if err != nil { // the error may quote what is in it
			return brokerCredentials{}, fmt.Errorf("the Secret %q with the broker's credentials has a client certificate in %s and %s that cannot be used: they must be a pair, in PEM",
				at, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
		}
		shown.certificate = &certificate
	}
	if err := absent(&secret, at, keys); err != nil {
		if shown.certificate != nil {
			return shown, nil
		}
		return brokerCredentials{}, err
	}
	shown.auth = osb.Authentication{Username: string(secret.Data[keys[0]]), Password: string(secret.Data[corev1.BasicAuthPasswordKey])}
	if found.basic.Name == "" {
		shown.auth = osb.Authentication{Token: string(secret.Data[keys[0]])}
	}
	return shown, nil
}

// absent says which keys a Secret lacks.
func absent(secret *corev1.Secret, at types.NamespacedName, keys []string) error {
	var absent []error
	for _, key := range keys {
		if _, ok := secret.Data[key]; !ok {
			absent = append(absent, fmt.Errorf("the Secret %q with the broker's credentials has no key %q", at, key))
		}
	}
	return errors.Join(absent...)
}
