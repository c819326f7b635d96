package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readmeName is the chart's page: what a registry of charts shows.
const readmeName = "README.md"

const readmeHeader = `# %s

<!-- Made by make generate from values.yaml: edit that. -->

%s.

No version is published yet. From a checkout of the project, build the images, install the chart and verify
the installation:

` + "```sh" + `
make image bin/svcat VERSION=%[3]s PUSH=HOST/defaultplan
helm install defaultplan deploy/charts/defaultplan -n defaultplan-system --create-namespace --wait \
  --set images.registry=HOST
bin/svcat check
` + "```" + `

The project's docs/install.md describes the other forms, the values that some managed clusters need,
upgrades and uninstalling.

## Values

| value | what | default |
|---|---|---|
`

// readme is the page of the chart: each value with its comment in values.yaml.
func readme(from string) (string, error) {
	var about struct {
		Name, Description string
		AppVersion        string `yaml:"appVersion"`
	}
	folder := filepath.Join(from, chartFolder)
	content, err := os.ReadFile(filepath.Join(folder, "Chart.yaml"))
	if err == nil {
		err = yaml.Unmarshal(content, &about)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the chart: %w", err)
	}
	var values yaml.Node
	if content, err = os.ReadFile(filepath.Join(folder, "values.yaml")); err == nil {
		err = yaml.Unmarshal(content, &values)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the values: %w", err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, readmeHeader, about.Name, about.Description, about.AppVersion)
	rows(&out, "", values.Content[0])
	return out.String(), nil
}

// rows writes a row for each value of a mapping. One with values of its own has a row where it has a comment.
func rows(out *strings.Builder, prefix string, mapping *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		inner := value.Kind == yaml.MappingNode && len(value.Content) > 0
		comment := commentOf(key)
		if !inner {
			fmt.Fprintf(out, "| `%s%s` | %s | `%s` |\n", prefix, key.Value, comment, shown(value))
			continue
		}
		if comment != "" {
			fmt.Fprintf(out, "| `%s%s` | %s | |\n", prefix, key.Value, comment)
		}
		rows(out, prefix+key.Value+".", value)
	}
}

// commentOf is the comment above a key as one line of a table; the one at the top of the file is not the first
// key's.
func commentOf(key *yaml.Node) string {
	paragraphs := strings.Split(key.HeadComment, "\n\n")
	var words []string
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		words = append(words, strings.Fields(strings.TrimPrefix(line, "#"))...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

// shown is a value as one types it: an empty text has quotes.
func shown(value *yaml.Node) string {
	if value.Kind == yaml.ScalarNode && value.Value == "" {
		return `""`
	}
	bare := *value
	bare.HeadComment, bare.LineComment, bare.FootComment = "", "", ""
	content, err := yaml.Marshal(&bare)
	if err != nil {
		return value.Value
	}
	return strings.TrimSpace(string(content))
}
