package describe

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// writeSecret writes the keys of the binding's Secret with their sizes, or values.
// Nothing is said of a Secret that is not there yet.
func writeSecret(ctx context.Context, reader client.Reader, w io.Writer, binding *v1beta1.ServiceBinding, values bool) error {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: cmp.Or(binding.Spec.SecretName, binding.Name)}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if headErr := writeHeading(w, "Secret Data"); headErr != nil {
		return headErr
	}
	if apierrors.IsForbidden(err) {
		return writeText(w, "  you may not read the Secret\n")
	}
	if err != nil {
		return err
	}
	if values {
		return writeText(w, secretValues(secret.Data))
	}
	var list printer.Pairs
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		list.Add(key, fmt.Sprintf("%d bytes", len(secret.Data[key])))
	}
	return list.Write(w)
}

// secretValues are the values as they are, below each other; one of several lines
// goes below its key, and what is no text is shown in base64.
func secretValues(data map[string][]byte) string {
	keys := slices.Sorted(maps.Keys(data))
	widest := 0
	for _, key := range keys {
		widest = max(widest, len(key))
	}
	var text strings.Builder
	for _, key := range keys {
		value := strings.TrimRight(string(data[key]), "\n")
		switch {
		case !utf8.ValidString(value) || strings.ContainsFunc(value, isObeyed):
			value = base64.StdEncoding.EncodeToString(data[key]) + "   (base64)"
		case strings.Contains(value, "\n"):
			fmt.Fprintf(&text, "  %s\n%s", key, indented(indented(value)))
			continue
		}
		fmt.Fprintf(&text, "  %-*s   %s\n", widest, key, value)
	}
	return text.String()
}

// isObeyed says that a terminal would obey the letter; lines and tabs are text.
func isObeyed(r rune) bool { return r != '\n' && r != '\t' && !termtext.Rune(r) }
