package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// What up loads and shows.
const (
	exampleFile = "mydb.yaml"
	// examplePlan is premium-p1, by its Kubernetes name.
	examplePlan = "f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"
)

var catalogFiles = []string{"azure-mysql.yaml", "inhouse-mysql.yaml"}

//go:embed manifests/*.yaml
var manifests embed.FS

func readManifest(name string) ([]byte, error) {
	content, err := manifests.ReadFile(path.Join("manifests", name))
	if err != nil {
		return nil, fmt.Errorf("cannot find manifest %q: %w", name, err)
	}
	return content, nil
}

// layOut writes the manifests into dir under their own names.
func layOut(dir string, names ...string) error {
	var failures []error
	for _, name := range names {
		content, err := readManifest(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
