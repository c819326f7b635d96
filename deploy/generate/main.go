// The generate command writes what is made from the manifests of deploy:
// install.yaml, those templates of the Helm chart that are the same objects as
// elsewhere, and the chart's README. make generate runs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "deploy", "folder of the manifests")
	to := flag.String("to", "deploy", "folder that install.yaml and charts/ are written to")
	flag.Parse()
	if err := generate(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate writes every generated file below to, and nothing else: its path, from
// there, is its key in what it is made from.
func generate(from, to string) error {
	version, err := appVersion(from)
	if err != nil {
		return err
	}
	sources, err := readSources(from)
	if err != nil {
		return err
	}
	files := map[string]string{"install.yaml": install(sources, version)}
	for path, content := range chart(sources) {
		files[filepath.Join(chartFolder, path)] = content
	}
	copied, err := monitoring(from)
	if err != nil {
		return err
	}
	for path, content := range copied {
		files[filepath.Join(chartFolder, path)] = content
	}
	if files[filepath.Join(chartFolder, readmeName)], err = readme(from); err != nil {
		return err
	}
	return write(to, files)
}

// write replaces the generated files below folder: one that is not made any more
// goes.
func write(folder string, files map[string]string) error {
	for _, generated := range []string{templatesFolder, filesFolder} {
		if err := os.RemoveAll(filepath.Join(folder, chartFolder, generated)); err != nil {
			return fmt.Errorf("cannot remove old files: %w", err)
		}
	}
	for path, content := range files {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // files of a repository, for everyone to read
			return fmt.Errorf("cannot make folder %q: %w", filepath.Dir(path), err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // likewise
			return fmt.Errorf("cannot write %q: %w", path, err)
		}
	}
	return nil
}
