package describe

import (
	"io"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// writeOfferDefaults writes what a class or plan gives to instances and bindings.
func writeOfferDefaults(w io.Writer, defaults *v1beta1.Defaults) error {
	return cli.InOrder(
		func() error {
			return writeDefaults(w, "Default Provision Parameters", defaults.DefaultProvisionParameters)
		},
		func() error { return writeDefaults(w, "Default Bind Parameters", defaults.DefaultBindParameters) },
		func() error {
			return writeTransforms(w, "Default Secret Transforms", defaults.DefaultSecretTransforms, nil)
		},
	)
}

// writeTransforms writes transforms in order, each with where it came from if that
// is known; nothing where there are none.
func writeTransforms(w io.Writer, heading string, transforms []v1beta1.SecretTransform, origins []string) error {
	if len(transforms) == 0 {
		return nil
	}
	var list printer.Pairs
	for i := range transforms {
		origin := ""
		if i < len(origins) {
			origin = origins[i]
		}
		list.Add(transformText(&transforms[i]), origin)
	}
	return writeList(w, heading, &list)
}

// transformText is a transform in words; values are not told, they may be secret.
func transformText(transform *v1beta1.SecretTransform) string {
	switch t := transform; {
	case t.RenameKey != nil:
		return "rename " + t.RenameKey.From + " to " + t.RenameKey.To
	case t.AddKey != nil && t.AddKey.JSONPathExpression != nil:
		return "add " + t.AddKey.Key + " from " + *t.AddKey.JSONPathExpression
	case t.AddKey != nil:
		return "add " + t.AddKey.Key + " with a fixed value"
	case t.AddKeysFrom != nil && t.AddKeysFrom.SecretRef != nil:
		return "add every key of Secret " + t.AddKeysFrom.SecretRef.Namespace + "/" + t.AddKeysFrom.SecretRef.Name
	case t.RemoveKey != nil:
		return "remove " + t.RemoveKey.Key
	case t.PublishKey != nil:
		return "publish " + t.PublishKey.Key + " in the ConfigMap"
	case t.Preset != nil:
		return "add the well-known keys of " + t.Preset.Name
	}
	return "nothing"
}
