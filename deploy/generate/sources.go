package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// namespace is the one that the manifests name.
	namespace = "defaultplan-system"
	// chartFolder is where the chart is, from deploy.
	chartFolder = "charts/defaultplan"
)

// folders are those of the manifests, in the order in which they are to be applied:
// what others need first, and the hooks last.
var folders = []string{"crds", "rbac", "endpoints", "flow", "certs/managed", "certs/switch", "certs/cert-manager", "workload", "vap", "hooks"}

// A source is one file of manifests.
type source struct {
	// folder is one of folders; name is the file's, without .yaml.
	folder, name string
	documents    []string
}

// readSources reads every manifest below from.
func readSources(from string) ([]source, error) {
	var sources []source
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(from, folder, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("cannot list manifests %q: %w", folder, err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("cannot find manifests in %q", filepath.Join(from, folder))
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("cannot read manifest: %w", err)
			}
			sources = append(sources, source{
				folder: folder, name: strings.TrimSuffix(filepath.Base(file), ".yaml"), documents: documents(string(content)),
			})
		}
	}
	return sources, nil
}

// documents are those of a file of YAML, as they are written, comments and all.
func documents(content string) []string {
	var all []string
	for document := range strings.SplitSeq("\n"+content, "\n---\n") {
		if document = strings.Trim(document, "\n"); document != "" {
			all = append(all, document+"\n")
		}
	}
	return all
}

// appVersion is what the chart, and so everything that is made from it, is a version
// of.
func appVersion(from string) (string, error) {
	file := filepath.Join(from, chartFolder, "Chart.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot read the chart's version: %w", err)
	}
	var chart struct {
		AppVersion string `json:"appVersion"`
	}
	if err := yaml.Unmarshal(content, &chart); err != nil {
		return "", fmt.Errorf("cannot decode %q: %w", file, err)
	}
	if chart.AppVersion == "" {
		return "", errors.New("cannot find appVersion in Chart.yaml")
	}
	return chart.AppVersion, nil
}

// field finds a line of an object's metadata.
func field(name string) *regexp.Regexp { return regexp.MustCompile(`(?m)^  ` + name + `:\n`) }

var (
	metadataLine    = regexp.MustCompile(`(?m)^metadata:\n`)
	labelsLine      = field("labels")
	annotationsLine = field("annotations")
	specLine        = regexp.MustCompile(`(?m)^(spec|rules|webhooks|data|value|roleRef):`)
)

// within adds lines, as they are, at the head of a map of the object's metadata,
// which is added where there is none.
func within(document, name, lines string, line *regexp.Regexp) string {
	metadata := metadataLine.FindStringIndex(document)
	if metadata == nil {
		return document
	}
	end := len(document)
	if spec := specLine.FindStringIndex(document); spec != nil && spec[0] > metadata[1] {
		end = spec[0]
	}
	if found := line.FindStringIndex(document[metadata[1]:end]); found != nil {
		at := metadata[1] + found[1]
		return document[:at] + lines + document[at:]
	}
	return document[:metadata[1]] + "  " + name + ":\n" + lines + document[metadata[1]:]
}
