package defaultplan_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	dependenciesPage = "docs/dependencies.md"
	allPrograms      = "all programs"
	notShipped       = "not shipped"
	// controlPlane is the module whose programs are in the playground archive, and imageTool the one that
	// copies the CA certificates of a module into the images.
	controlPlane = "e2e/controlplane"
	imageTool    = "tools/image"
)

var (
	dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$")
	spanOfPage    = regexp.MustCompile("`([^`]+)`")
	// rootsOfImages is the module of the CA certificates, as the SBOM of an image names it.
	rootsOfImages = regexp.MustCompile(`(?m)^const rootsModule = "(.+)"$`)
)

// licensePhrases recognize a license by any of its phrases, which are in no other license. BSD licenses
// are recognized by counts.
var licensePhrases = map[string][]string{
	"Apache-2.0":   {"Apache License Version 2.0, January 2004", "Licensed under the Apache License, Version 2.0"},
	"GPL-3.0-only": {"GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007"},
	"ISC":          {"distribute this software for any purpose with or without fee is hereby granted"},
	"MIT":          {"Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files"},
	"MPL-2.0":      {"Mozilla Public License Version 2.0"},
}

// A goModule is a go.mod of the repository, as go mod edit prints it.
type goModule struct {
	Folder  string `json:"-"`
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Tool []struct{ Path string }
}

// A dependency is a module as the page describes it, or as it is. What is not known is empty.
type dependency struct {
	module string
	// by are the folders of the go.mod files that require it; empty for the main module.
	by, reason, license, shipped string
}

// TestDependenciesOfPrograms compares the first table of the page with go.mod.
func TestDependenciesOfPrograms(t *testing.T) {
	t.Parallel()
	main := readModule(t, ".")
	licenses := licensesOf(t, main)
	shipped := programsWith(t)
	required := map[string]dependency{}
	for _, module := range main.direct() {
		found := dependency{module: module, license: licenses[module], shipped: shippedIn(shipped[module])}
		required[module] = found
		// The programs cannot be built without the modules that they contain.
		assert.False(t, found.license == "" && found.shipped != notShipped, "%s: no license is recognized", module)
	}
	require.Greater(t, len(required), 20, "the dependencies are found")
	rows := rowsOf(t, "## The main module")
	assert.Empty(t, dependencyProblems(rows, required))
	for _, row := range rows {
		named := packagesNamed(row.reason)
		assert.NotEmpty(t, named, "%s: the row names no package that needs it", row.module)
		assert.Empty(t, withoutImport(t, main, row.module, named), "%s: these packages do not import it", row.module)
	}
}

// TestDependenciesOfTools compares the second table of the page with the other go.mod files.
func TestDependenciesOfTools(t *testing.T) {
	t.Parallel()
	required, modules := map[string]dependency{}, map[string]*goModule{}
	for _, folder := range foldersOfModules(t) {
		module := readModule(t, folder)
		modules[folder] = module
		licenses := licensesOf(t, module)
		archived := archivedModules(t, folder, licenses)
		for _, path := range module.direct() {
			found, is := required[path]
			if !is {
				found = dependency{module: path, shipped: notShipped}
			}
			found.by = strings.TrimPrefix(found.by+", `"+folder+"`", ", ")
			if license := licenses[path]; license == "" {
				t.Logf("%s of %s is not in the module cache", path, folder)
			} else {
				assert.Contains(t, []string{"", license}, found.license, "%s of %s has another license than its other versions", path, folder)
				found.license = license
			}
			switch {
			case path == rootsModule(t):
				found.shipped = "images"
			case folder == controlPlane && archived == nil:
				found.shipped = ""
			case archived[path]:
				found.shipped = "playground archive"
			}
			required[path] = found
		}
	}
	rows := rowsOf(t, "## Modules of tools and tests")
	assert.Empty(t, dependencyProblems(rows, required))
	for _, row := range rows {
		for _, folder := range packagesNamed(row.reason) {
			assert.DirExists(t, folder, row.module)
			if owner := modules[filepath.Dir(folder)]; owner != nil {
				assert.Empty(t, withoutImport(t, owner, row.module, []string{folder}), "%s: this package does not import it", row.module)
			}
		}
	}
}

// TestDependenciesCanBeWrong shows what is reported of a page.
func TestDependenciesCanBeWrong(t *testing.T) {
	t.Parallel()
	required := map[string]dependency{
		"a.example/kept":    {module: "a.example/kept", license: "MIT", shipped: "`svcat`"},
		"a.example/missing": {module: "a.example/missing", license: "MIT", shipped: notShipped},
		"a.example/license": {module: "a.example/license", license: "MIT", shipped: notShipped},
		"a.example/shipped": {module: "a.example/shipped", license: "MIT", shipped: allPrograms},
		"a.example/by":      {module: "a.example/by", by: "`tools`", license: "MIT", shipped: notShipped},
		"a.example/unknown": {module: "a.example/unknown"},
	}
	assert.Equal(t, []string{
		"a.example/missing: no row; license MIT, not shipped",
		"a.example/license: the license is MIT, not ISC",
		"a.example/shipped: shipped in: all programs, not: not shipped",
		"a.example/by: required by `tools`, not `e2e/a`",
		"a.example/gone: no go.mod requires it directly; remove the row",
		"a.example/kept: it has two rows",
	}, dependencyProblems([]dependency{
		{module: "a.example/kept", license: "MIT", shipped: "`svcat`"},
		{module: "a.example/license", license: "ISC", shipped: notShipped},
		{module: "a.example/shipped", license: "MIT", shipped: notShipped},
		{module: "a.example/by", by: "`e2e/a`", license: "MIT", shipped: notShipped},
		{module: "a.example/unknown", license: "ISC", shipped: allPrograms},
		{module: "a.example/gone"},
		{module: "a.example/kept", license: "MIT", shipped: "`svcat`"},
	}, required))

	assert.Equal(t, []string{"merge", "docs/none"}, packagesNamed("a in `merge`, `docs/none` and `go test`, `controlplane`, `docs/api.md`, `//`"))
	main := readModule(t, ".")
	assert.Equal(t, []string{"resolve", "docs/none"}, withoutImport(t, main, "github.com/santhosh-tekuri/jsonschema/v6", []string{"merge", "resolve", "docs/none"}))
	assert.Equal(t, "go.opentelemetry.io/otel/sdk", main.owner("go.opentelemetry.io/otel/sdk/resource"), "the longest path")
	assert.Empty(t, main.owner("go/parser"))
}

// TestLicensesAreRecognized shows what tells a license.
func TestLicensesAreRecognized(t *testing.T) {
	t.Parallel()
	const bsd, third = "Redistribution and use in source and\n  binary forms, with or without modification, are permitted", "Neither the name of A nor the names of its"
	for text, license := range map[string]string{
		"  Apache License\n  Version 2.0, January 2004":                         "Apache-2.0",
		"Licensed under the Apache License,\n    Version 2.0 (the \"License\")": "Apache-2.0",
		bsd:               "BSD-2-Clause",
		bsd + third:       "BSD-3-Clause",
		bsd + third + bsd: "BSD-2-Clause AND BSD-3-Clause",
		licensePhrases["MIT"][0] + " (the \"Software\")\n" + licensePhrases["MPL-2.0"][0]: "MIT AND MPL-2.0",
		"Permission to use, copy, modify, and/or " + licensePhrases["ISC"][0]:             "ISC",
		"All rights reserved.": "",
	} {
		assert.Equal(t, license, licenseIn(text), text)
	}
}

// dependencyProblems are the differences between the rows of a table and what is required.
func dependencyProblems(rows []dependency, required map[string]dependency) []string {
	var problems []string
	report := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	seen := map[string]int{}
	for _, row := range rows {
		seen[row.module]++
	}
	for _, module := range slices.Sorted(maps.Keys(required)) {
		if seen[module] == 0 {
			report("%s: no row; license %s, %s", module, required[module].license, required[module].shipped)
		}
	}
	for _, row := range rows {
		is, found := required[row.module]
		switch {
		case !found:
			report("%s: no go.mod requires it directly; remove the row", row.module)
			continue
		case row.by != is.by:
			report("%s: required by %s, not %s", row.module, is.by, row.by)
		case is.license != "" && row.license != is.license:
			report("%s: the license is %s, not %s", row.module, is.license, row.license)
		case is.shipped != "" && row.shipped != is.shipped:
			report("%s: shipped in: %s, not: %s", row.module, is.shipped, row.shipped)
		}
	}
	for _, module := range slices.Sorted(maps.Keys(seen)) {
		if seen[module] > 1 {
			report("%s: it has two rows", module)
		}
	}
	return problems
}

// rowsOf are the rows of the table below a heading of the page.
func rowsOf(t *testing.T, heading string) []dependency {
	t.Helper()
	page, err := os.ReadFile(dependenciesPage)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	require.True(t, found, "%s has no heading %q", dependenciesPage, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []dependency
	for _, match := range dependencyRow.FindAllStringSubmatch(section, -1) {
		cells := strings.Split(match[2], " | ")
		if len(cells) == 3 {
			cells = append([]string{""}, cells...)
		}
		require.Len(t, cells, 4, match[0])
		rows = append(rows, dependency{match[1], cells[0], cells[1], cells[2], cells[3]})
	}
	require.Equal(t, strings.Count(section, "\n|")-2, len(rows), "a row of %s starts with a module", heading) //nolint:testifylint // Len prints all rows
	return rows
}

// packagesNamed are the packages of the repository in the code spans of a text: names of folders, and
// paths that could be one.
func packagesNamed(text string) []string {
	var named []string
	for _, match := range spanOfPage.FindAllStringSubmatch(text, -1) {
		if !fs.ValidPath(match[1]) || filepath.Ext(match[1]) != "" {
			continue
		}
		info, err := os.Stat(match[1])
		if err == nil && info.IsDir() || strings.Contains(match[1], "/") {
			named = append(named, match[1])
		}
	}
	return named
}

// withoutImport are the folders with no Go file that imports a package of the module. Tests count as well.
func withoutImport(t *testing.T, of *goModule, module string, folders []string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(folders), func(folder string) bool {
		names, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		return slices.ContainsFunc(names, func(name string) bool {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, spec := range file.Imports {
				if imported, err := strconv.Unquote(spec.Path.Value); err == nil && of.owner(imported) == module {
					return true
				}
			}
			return false
		})
	})
}

// foldersOfModules are the folders of the go.mod files below the main one.
func foldersOfModules(t *testing.T) []string {
	t.Helper()
	folders := []string{"tools"}
	for _, pattern := range []string{"tools/*/go.mod", "e2e/*/go.mod"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		for _, name := range names {
			folders = append(folders, filepath.Dir(name))
		}
	}
	slices.Sort(folders)
	return folders
}

func readModule(t *testing.T, folder string) *goModule {
	t.Helper()
	module := &goModule{Folder: folder}
	require.NoError(t, json.Unmarshal([]byte(runGo(t, ".", "mod", "edit", "-json", filepath.Join(folder, "go.mod"))), module))
	return module
}

// direct are the modules that are required without "// indirect", and those that provide a tool; the
// project's own is none.
func (m *goModule) direct() []string {
	var paths []string
	for _, required := range m.Require {
		if !required.Indirect && required.Path+"/" != module {
			paths = append(paths, required.Path)
		}
	}
	for _, tool := range m.Tool {
		paths = append(paths, m.owner(tool.Path))
	}
	return paths
}

// owner is the required module that a package is in, empty if there is none.
func (m *goModule) owner(imported string) string {
	owner := ""
	for _, required := range m.Require {
		if len(required.Path) > len(owner) && inside(imported, []string{required.Path}) {
			owner = required.Path
		}
	}
	return owner
}

// licensesOf maps the direct dependencies of a module to their licenses, those that are not in the
// module cache to none.
func licensesOf(t *testing.T, module *goModule) map[string]string {
	t.Helper()
	licenses := map[string]string{}
	for line := range strings.Lines(runGo(t, module.Folder, append([]string{"list", "-m", "-e", "-f", "{{.Path}}\t{{.Dir}}"}, module.direct()...)...)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if folder == "" {
			continue
		}
		licenses[path] = licenseOf(t, folder)
		assert.NotEmpty(t, licenses[path], "%s: no license is recognized in %s", path, folder)
	}
	return licenses
}

// licenseOf is the SPDX expression of the license file in a folder.
func licenseOf(t *testing.T, folder string) string {
	t.Helper()
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"} {
		if content, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			return licenseIn(string(content))
		}
	}
	return ""
}

func licenseIn(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var found []string
	for license, phrases := range licensePhrases {
		if slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) }) {
			found = append(found, license)
		}
	}
	bsd, third := strings.Count(text, "Redistribution and use in source and binary forms"), strings.Count(text, "Neither the name of")
	if third > 0 {
		found = append(found, "BSD-3-Clause")
	}
	if bsd > third {
		found = append(found, "BSD-2-Clause")
	}
	slices.Sort(found)
	return strings.Join(found, " AND ")
}

// programsWith maps modules to the programs of cmd that contain a package of them.
func programsWith(t *testing.T) map[string][]string {
	t.Helper()
	programs := map[string][]string{}
	for _, program := range programNames(t) {
		for path := range modulesIn(t, ".", "./cmd/"+program) {
			programs[path] = append(programs[path], program)
		}
	}
	return programs
}

// programNames are the programs of the main module that a release has, in the order of the page.
func programNames(t *testing.T) []string {
	t.Helper()
	names, unreleased := []string{"webhook", "controller", "svcat", "playground"}, []string{"osb-conformance"}
	found, err := filepath.Glob("cmd/*/main.go")
	require.NoError(t, err)
	require.Len(t, found, len(names)+len(unreleased), "the programs of cmd")
	return names
}

// shippedIn is how the page says which programs contain a module.
func shippedIn(programs []string) string {
	switch len(programs) {
	case 0:
		return notShipped
	case 4:
		return allPrograms
	}
	return "`" + strings.Join(programs, "`, `") + "`"
}

// archivedModules are the modules in the programs of e2e/controlplane, nil if not all of them
// are in the module cache.
func archivedModules(t *testing.T, folder string, licenses map[string]string) map[string]bool {
	t.Helper()
	if folder != controlPlane || licenses["k8s.io/kubernetes"] == "" {
		return nil
	}
	return modulesIn(t, folder, ".", "./kubectl")
}

// modulesIn are the modules with a package in one of these programs.
func modulesIn(t *testing.T, folder string, programs ...string) map[string]bool {
	t.Helper()
	modules := map[string]bool{}
	for path := range strings.FieldsSeq(runGo(t, folder, append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, programs...)...)) {
		modules[path] = true
	}
	return modules
}

// rootsModule is the module whose CA certificates are in the images.
func rootsModule(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(imageTool + "/sbom.go")
	require.NoError(t, err)
	match := rootsOfImages.FindSubmatch(content)
	require.NotNil(t, match, rootsOfImages)
	return string(match[1])
}

// runGo runs the go command in a folder without the network, as for the released programs.
func runGo(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false", "GOOS=linux", "CGO_ENABLED=0")
	var problem strings.Builder
	command.Stderr = &problem
	output, err := command.Output()
	require.NoError(t, err, "go %s in %s: %s", strings.Join(arguments, " "), folder, problem.String())
	return string(output)
}
