package main

import (
	"bytes"
	"fmt"
	"text/template"
)

// krewManifest is a plugin's manifest for Krew, kubectl's plugin manager.
var krewManifest = template.Must(template.New("krew").Parse(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: svcat
spec:
  version: {{ .Version }}
  homepage: {{ .Project }}
  shortDescription: Work with services of the service catalog
  description: |
    Lists what a cluster's service catalog offers, provisions instances by type,
    class or plan, binds them, and explains which plan is chosen and why.
  caveats: |
    The cluster needs defaultplan: {{ .Project }}
  platforms:
{{- range .Platforms }}
  - selector:
      matchLabels:
        os: {{ .System }}
        arch: {{ .Processor }}
    uri: {{ $.Project }}/releases/download/{{ $.Version }}/{{ .File }}
    sha256: {{ .Sum }}
    bin: {{ .Binary }}
    files:
    - from: {{ .Binary }}
      to: .
    - from: LICENSE
      to: .
{{- end }}
`))

// A platform is an archive of svcat for one system and processor.
type platform struct{ System, Processor, File, Sum, Binary string }

// krewOf is the manifest of svcat's archives.
func krewOf(version string, platforms []platform) ([]byte, error) {
	var text bytes.Buffer
	err := krewManifest.Execute(&text, map[string]any{"Version": version, "Project": project, "Platforms": platforms})
	if err != nil {
		return nil, fmt.Errorf("cannot write the manifest for Krew: %w", err)
	}
	return text.Bytes(), nil
}
