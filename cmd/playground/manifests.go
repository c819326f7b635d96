package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// exampleFiles are what up lays out to be tried: a type with one plan that a broker
// suggests, and a type with two.
var exampleFiles = []string{"cache.yaml", "mydb.yaml"}

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
