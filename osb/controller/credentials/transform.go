package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A credential is a future value of the Secret: JSON as the broker returned it,
// or bytes.
type credential struct {
	json  json.RawMessage
	bytes []byte
	// public says that a transform publishes it, in the ConfigMap beside the Secret.
	public bool
	// secret says that it is, or may contain, a value of another Secret: it is
	// never published.
	secret bool
}

// An Origin is what credentials are of.
type Origin struct {
	// ServiceType and Class are the external names of type and class; may be empty.
	ServiceType, Class string
	// Metadata is that of the Secret.
	Metadata Metadata
}

// content is what the Secret holds: the text of a string, the JSON of anything else.
func (c credential) content() []byte {
	if c.json == nil {
		return c.bytes
	}
	var text string
	if json.Unmarshal(c.json, &text) == nil && len(c.json) > 0 && c.json[0] == '"' {
		return []byte(text)
	}
	return c.json
}

// Text is the text of a credential as a broker gave it: what a Secret would hold.
func Text(raw json.RawMessage) string { return string(credential{json: raw}.content()) }

// contents are what the Secret of a binding holds, and what the ConfigMap beside it. A key is
// in one of them.
type contents struct {
	secret, public map[string][]byte
	// missing are the keys that the transforms did not find.
	missing []string
	// emptyBecause says why the Secret holds nothing; empty: it holds something.
	emptyBecause string
}

// data computes the contents from the credentials, by the binding's transforms
// in order. No error contains a value.
func (s Secrets) data(ctx context.Context, b *v1beta1.ServiceBinding, of Origin, given *osb.Binding) (made contents, err error) {
	credentials := keysOf(given)
	made.emptyBecause = "the broker gave no credentials"
	if len(credentials) > 0 {
		made.emptyBecause = "its transforms leave nothing in it"
	}
	for i := range b.Spec.SecretTransforms {
		t := &b.Spec.SecretTransforms[i]
		if field, key := wants(t); field != "" {
			if _, ok := credentials[key]; !ok {
				made.missing = append(made.missing, fmt.Sprintf("secretTransforms[%d].%s %.64q", i, field, key))
			}
		}
		err := s.transform(ctx, b, t, of, credentials)
		if adds := t.AddKey != nil || t.AddKeysFrom != nil || t.Preset != nil; err == nil && adds && size(credentials) > maxCredentials {
			err = UnstorableError{errTooLarge}
		}
		if err != nil {
			return contents{}, fmt.Errorf("secretTransforms[%d]: %w", i, err)
		}
	}
	made.secret, made.public, err = lawful(credentials)
	if len(made.secret) > 0 {
		made.emptyBecause = ""
	}
	return made, err
}

// The keys of what a broker gives beside credentials: the names of the specification.
const (
	keySyslogDrainURL  = "syslog_drain_url"
	keyRouteServiceURL = "route_service_url"
	keyVolumeMounts    = "volume_mounts"
)

// keysOf are the values that a broker returned, by key before any transform.
// Fields beside the credentials never replace a credential of the same name,
// which applications rely on.
func keysOf(given *osb.Binding) map[string]credential {
	keys := map[string]credential{}
	if given.SyslogDrainURL != "" {
		keys[keySyslogDrainURL] = credential{bytes: []byte(given.SyslogDrainURL)}
	}
	if given.RouteServiceURL != "" {
		keys[keyRouteServiceURL] = credential{bytes: []byte(given.RouteServiceURL)}
	}
	if given.VolumeMounts != nil {
		keys[keyVolumeMounts] = credential{json: given.VolumeMounts}
	}
	for key := range given.Credentials {
		delete(keys, lawfulKey(key)) // as the Secret would have it
	}
	for key, value := range given.Credentials {
		keys[key] = credential{json: value}
	}
	return keys
}

// Gives says whether a response has something for the Secret: an empty object
// of credentials counts, an absent one does not.
func Gives(given *osb.Binding) bool { return given.Credentials != nil || len(keysOf(given)) > 0 }

// wants is the key that a transform works on, and the field that names it; empty: any.
func wants(t *v1beta1.SecretTransform) (field, key string) {
	switch {
	case t.RenameKey != nil:
		return "renameKey.from", t.RenameKey.From
	case t.RemoveKey != nil:
		return "removeKey.key", t.RemoveKey.Key
	case t.PublishKey != nil:
		return "publishKey.key", t.PublishKey.Key
	}
	return "", ""
}

func (s Secrets) transform(ctx context.Context, b *v1beta1.ServiceBinding, t *v1beta1.SecretTransform, of Origin, credentials map[string]credential) error {
	switch {
	case t.Preset != nil:
		of.preset(t.Preset, credentials)
	case t.RenameKey != nil:
		if value, ok := credentials[t.RenameKey.From]; ok {
			delete(credentials, t.RenameKey.From)
			credentials[t.RenameKey.To] = value
		}
	case t.RemoveKey != nil:
		delete(credentials, t.RemoveKey.Key)
	case t.PublishKey != nil:
		if value, ok := credentials[t.PublishKey.Key]; ok {
			value.public = !value.secret
			credentials[t.PublishKey.Key] = value
		}
	case t.AddKey != nil:
		value, err := added(ctx, t.AddKey, credentials)
		if err != nil {
			return err
		}
		credentials[t.AddKey.Key] = value
	case t.AddKeysFrom != nil:
		other, err := s.other(ctx, b, t.AddKeysFrom)
		if err != nil {
			return err
		}
		for key, value := range other.Data {
			credentials[key] = credential{bytes: value, secret: true}
		}
	}
	return nil
}

// added is the value of a key that is added: of a JSON path, or a text, or bytes.
func added(ctx context.Context, t *v1beta1.AddKeyTransform, credentials map[string]credential) (credential, error) {
	switch {
	case t.JSONPathExpression != nil:
		text, err := evaluated(ctx, *t.JSONPathExpression, credentials)
		return credential{bytes: text, secret: anySecret(credentials)}, err
	case t.StringValue != nil:
		return credential{bytes: []byte(*t.StringValue)}, nil
	}
	return credential{bytes: t.Value}, nil
}

// size is how many bytes the credentials have, with their keys.
func size(credentials map[string]credential) int {
	sum := 0
	for key, c := range credentials {
		sum += len(key) + len(c.json) + len(c.bytes)
	}
	return sum
}

// anySecret says that a text that is computed of credentials may hold what another Secret
// holds.
func anySecret(credentials map[string]credential) bool {
	for _, c := range credentials {
		if c.secret {
			return true
		}
	}
	return false
}

// other reads the Secret whose keys are added.
func (s Secrets) other(ctx context.Context, b *v1beta1.ServiceBinding, t *v1beta1.AddKeysFromTransform) (*corev1.Secret, error) {
	at := client.ObjectKey{Namespace: b.Namespace}
	if t.SecretRef != nil {
		at = client.ObjectKey{Namespace: cmp.Or(t.SecretRef.Namespace, b.Namespace), Name: t.SecretRef.Name}
	}
	var secret corev1.Secret
	if err := s.Live.Get(ctx, at, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("the Secret %q of addKeysFrom is not there", at)
		}
		return nil, fmt.Errorf("cannot read the Secret %q of addKeysFrom: %w", at, err)
	}
	return &secret, nil
}

// Unreadable says, before a bind, that a Secret of addKeysFrom does not exist
// or cannot be read.
func (s Secrets) Unreadable(ctx context.Context, b *v1beta1.ServiceBinding) *lifecycle.Problem {
	for i := range b.Spec.SecretTransforms {
		t := b.Spec.SecretTransforms[i].AddKeysFrom
		if t == nil {
			continue
		}
		if _, err := s.other(ctx, b, t); err != nil {
			return &lifecycle.Problem{Reason: ReasonNotStored, Waits: true, Message: fmt.Sprintf("spec.secretTransforms[%d]: %s", i, err)}
		}
	}
	return nil
}

// lawful is the data of a Secret, and of the ConfigMap beside it, with valid
// keys. Invalid characters become underscores; two keys that become equal are
// an error, even if one is published.
func lawful(credentials map[string]credential) (secret, public map[string][]byte, err error) {
	secret, public = map[string][]byte{}, map[string][]byte{}
	from := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(credentials)) {
		name, into := lawfulKey(key), secret
		if other, ok := from[name]; ok {
			return nil, nil, UnstorableError{fmt.Errorf("the keys %q and %q of the credentials would both be %q in the Secret: rename one by secretTransforms", other, key, name)}
		}
		if credentials[key].public {
			into = public
		}
		from[name], into[name] = key, credentials[key].content()
	}
	return secret, public, nil
}

func lawfulKey(key string) string {
	const most = 253
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, key)
	if name == "" || name == "." || strings.HasPrefix(name, "..") {
		name = "_" + name
	}
	return name[:min(len(name), most)]
}
