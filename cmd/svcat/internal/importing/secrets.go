package importing

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// secretFlags say which Secrets of this cluster stand for those of the old side.
type secretFlags struct {
	given []string
	of    map[types.NamespacedName]types.NamespacedName
	// yes says that it is not asked where they are sent.
	yes bool
}

func (f *secretFlags) bind(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.given, "broker-secret", nil, "The Secret here with the credentials of a broker, as OLDNS/NAME=NEWNS/NAME; may be given several times")
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do not ask whether the Secret of --broker-secret is to be sent to the address of the file")
}

func (f *secretFlags) validate() error {
	f.of = map[types.NamespacedName]types.NamespacedName{}
	for _, text := range f.given {
		old, here, _ := strings.Cut(text, "=")
		from, isOne := secretKey(old)
		to, isOther := secretKey(here)
		if !isOne || !isOther {
			return cli.Usagef("--broker-secret is %q; write it as OLDNS/NAME=NEWNS/NAME: the Secret that the file names, and the one here", text)
		}
		f.of[from] = to
	}
	return nil
}

// unused is the error of a Secret that --broker-secret names and no broker of the file does.
func (f *secretFlags) unused(contents *moving.Contents) error {
	named := map[types.NamespacedName]bool{}
	for _, broker := range contents.Brokers {
		key, _ := moving.AuthSecret(broker)
		named[key] = true
	}
	for _, text := range f.given {
		old, _, _ := strings.Cut(text, "=")
		if key, _ := secretKey(old); !named[key] {
			return cli.Usagef("--broker-secret names %s, and no broker of the file uses that Secret", key)
		}
	}
	return nil
}

func secretKey(text string) (types.NamespacedName, bool) {
	namespace, name, is := strings.Cut(text, "/")
	key := types.NamespacedName{Namespace: namespace, Name: name}
	return key, is && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// store makes a Secret be here with what it is to hold. It returns why that cannot be: one that is
// here with other contents is never overwritten.
func (s *side) store(ctx context.Context, secret *corev1.Secret) (string, error) {
	if s.lacking[secret.Namespace] {
		s.addSecret(secret, moving.WouldMove, "not tried: its namespace is not here yet")
		return "", nil
	}
	err := s.create(ctx, secret)
	if err == nil {
		result := moving.Moved
		if s.dryRun {
			result = moving.WouldMove
		}
		s.addSecret(secret, result, "keys: "+strings.Join(slices.Sorted(maps.Keys(secret.Data)), ", "))
	}
	if !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	has := &corev1.Secret{}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(secret), has); err != nil {
		return "", fmt.Errorf("cannot read Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	if !maps.EqualFunc(has.Data, secret.Data, bytes.Equal) {
		return fmt.Sprintf("Secret %s is here with other contents: remove it if it is not needed, or move into another namespace with --map", client.ObjectKeyFromObject(secret)), nil
	}
	s.addSecret(secret, moving.Unchanged, "")
	return "", nil
}

// addSecret reports what became of a Secret of this cluster.
func (s *side) addSecret(secret *corev1.Secret, result moving.Result, reason string) {
	s.report.Add(secret, &moving.Names{}, result, reason)
}

// there says whether a Secret of this cluster exists.
func (s *side) there(ctx context.Context, key types.NamespacedName) (bool, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := s.client.Get(ctx, key, object)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("cannot read Secret %s: %w", key, err)
	}
	return err == nil, nil
}

// need makes a Secret that a spec names be here: as the file carries it, else as it is. It returns
// why it is not.
func (s *side) need(ctx context.Context, carried *corev1.Secret, key types.NamespacedName) (string, error) {
	if carried != nil {
		return s.store(ctx, placed(carried, key))
	}
	there, err := s.there(ctx, key)
	if err == nil && there {
		// A file could name any Secret of the namespace.
		s.addSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, moving.Note,
			"it was here before, and a spec of the file names it: what it holds reaches the broker with the next update")
	}
	if err != nil || there || s.lacking[key.Namespace] {
		return "", err
	}
	return fmt.Sprintf("Secret %s, which its spec names, is not here: create it, or export with --with-secrets", key), nil
}

// placed is a Secret of the file as it comes here. The cluster gives some types a meaning, such as
// a token of a service account: those are never made from a file.
func placed(carried *corev1.Secret, key types.NamespacedName) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Type:       corev1.SecretTypeOpaque, Data: maps.Clone(carried.Data),
	}
	if strings.HasPrefix(string(carried.Type), "servicebinding.io/") {
		secret.Type = carried.Type
	}
	return secret
}
