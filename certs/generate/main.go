// The generate command writes the objects that have cert-manager issue the webhook's
// certificate, as a manifest, to standard output.
package main

import (
	"fmt"
	"os"

	"github.com/defaultplan/defaultplan/certs/certmanager"
)

func main() {
	manifest, err := certmanager.Manifest("defaultplan-system", "defaultplan-webhook")
	if err == nil {
		_, err = os.Stdout.Write(manifest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
