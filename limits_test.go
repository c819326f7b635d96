package defaultplan_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// mostFiles bounds the files of a package, and mostFilesOfType those that the methods
	// of one type are in. Tests and generated files are not counted.
	mostFiles       = 25
	mostFilesOfType = 4
	// mostEmbedding bounds how deep a handler embeds: a struct of fields, and no more, is
	// read without looking up where a method comes from.
	mostEmbedding = 1
	// mostScopeBranches is how often code asks whether a namespace is empty, which is how it
	// tells kinds of the cluster from those of a namespace. A PlanObject or ClassObject of
	// api/v1beta1/scoped.go answers for both, and PerScope for what differs between them.
	mostScopeBranches = 25
)

// Packages and types that were over a limit when it was set, with what they had then. A number
// here only goes down, and an entry that is within the limit is taken off.
var (
	largePackages = map[string]int{}
	wideTypes     = map[string]int{}
	deepHandlers  = map[string]int{}
)

// A sourceFile is a file of the project that is written by hand and no test.
type sourceFile struct {
	// folder is its package's path below the module.
	folder, name string
	syntax       *ast.File
}

// sourceFiles parses them once for all limits. Modules within the module are left out: they
// are tools of the tests.
var sourceFiles = sync.OnceValues(func() ([]sourceFile, error) {
	var found []sourceFile
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isApart(name, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		syntax, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(syntax) {
			found = append(found, sourceFile{filepath.ToSlash(filepath.Dir(name)), filepath.Base(name), syntax})
		}
		return err
	})
	return found, err
})

// isApart says whether a folder has none of the project's sources.
func isApart(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil || strings.HasPrefix(name, ".") || name == "testdata" || name == "bin"
}

func readSources(t *testing.T) []sourceFile {
	t.Helper()
	files, err := sourceFiles()
	require.NoError(t, err)
	require.Greater(t, len(files), 500, "the sources are found")
	return files
}

// TestFilesPerPackage keeps a package to what a reader can look over.
func TestFilesPerPackage(t *testing.T) {
	t.Parallel()
	checkCeilings(t, "files in package", countFiles(readSources(t)), mostFiles, largePackages)
}

func countFiles(files []sourceFile) map[string]int {
	counts := map[string]int{}
	for _, file := range files {
		counts[file.folder]++
	}
	return counts
}

// TestFilesPerType keeps a type from becoming a package of its own.
func TestFilesPerType(t *testing.T) {
	t.Parallel()
	checkCeilings(t, "files with methods of", countFilesOfTypes(readSources(t)), mostFilesOfType, wideTypes)
}

// countFilesOfTypes is in how many files each type, as PACKAGE.TYPE, has methods.
func countFilesOfTypes(files []sourceFile) map[string]int {
	counts := map[string]int{}
	for _, file := range files {
		here := map[string]bool{}
		for _, declaration := range file.syntax.Decls {
			if method, is := declaration.(*ast.FuncDecl); is && method.Recv != nil {
				here[file.folder+"."+nameOf(method.Recv.List[0].Type)] = true
			}
		}
		for name := range here {
			counts[name]++
		}
	}
	return counts
}

// nameOf is the name of a type, without a pointer, arguments or the package.
func nameOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.IndexListExpr:
		return nameOf(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// TestEmbeddingOfHandlers keeps the methods of what handles a request or reconciles an object in
// sight.
func TestEmbeddingOfHandlers(t *testing.T) {
	t.Parallel()
	embedded := embeddings(readSources(t))
	depths := map[string]int{}
	for name := range embedded {
		if handles(name) {
			depths[name] = depthOf(embedded, name, nil)
		}
	}
	require.Greater(t, len(depths), 5, "the handlers are found")
	checkCeilings(t, "embeddings, one within the other, in", depths, mostEmbedding, deepHandlers)
}

// handles says whether a type, as PACKAGE.TYPE, is what the webhook or the controller decides
// one request or one reconcile in.
func handles(name string) bool {
	suffixes := []string{"handler", "reconciler", "validator", "mutator", "validation", "mutation", "subject", "resource"}
	folder, _, _ := strings.Cut(name, ".")
	return inside(folder, []string{"webhook", "osb/controller"}) && slices.ContainsFunc(suffixes, func(suffix string) bool {
		return strings.HasSuffix(strings.ToLower(name), suffix)
	})
}

// embeddings maps each struct, as PACKAGE.TYPE, to the types that it embeds. Types of other
// modules are in it without a package, and embed nothing.
func embeddings(files []sourceFile) map[string][]string {
	embedded := map[string][]string{}
	for _, file := range files {
		imports := importsOf(file)
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			declared, is := node.(*ast.TypeSpec)
			if !is {
				return true
			}
			structure, is := declared.Type.(*ast.StructType)
			if !is {
				return true
			}
			name := file.folder + "." + declared.Name.Name
			embedded[name] = nil
			for _, field := range structure.Fields.List {
				if len(field.Names) == 0 {
					embedded[name] = append(embedded[name], qualified(field.Type, file.folder, imports))
				}
			}
			return true
		})
	}
	return embedded
}

// importsOf maps the names by which a file knows packages of this module to their paths.
func importsOf(file sourceFile) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if folder, ours := strings.CutPrefix(imported, module); ours && err == nil {
			name := path.Base(folder)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[name] = folder
		}
	}
	return imports
}

// qualified is a type as PACKAGE.TYPE.
func qualified(expression ast.Expr, folder string, imports map[string]string) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return qualified(e.X, folder, imports)
	case *ast.IndexExpr:
		return qualified(e.X, folder, imports)
	case *ast.SelectorExpr:
		return imports[nameOf(e.X)] + "." + e.Sel.Name
	}
	return folder + "." + nameOf(expression)
}

// depthOf is how many embeddings are one within the other.
func depthOf(embedded map[string][]string, name string, within []string) int {
	deepest := 0
	for _, inner := range embedded[name] {
		if !slices.Contains(within, inner) {
			deepest = max(deepest, 1+depthOf(embedded, inner, append(within, name)))
		}
	}
	return deepest
}

// TestBranchesOnScope keeps the two scopes of a kind to one path.
func TestBranchesOnScope(t *testing.T) {
	t.Parallel()
	checkTotal(t, "comparisons of a namespace with the empty string", countScopeBranches(readSources(t)), mostScopeBranches)
}

func countScopeBranches(files []sourceFile) map[string]int {
	counts := map[string]int{}
	for _, file := range files {
		if file.folder == "api/v1beta1" && file.name == "scoped.go" || inside(file.folder, []string{"e2e"}) {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			if branch, is := node.(*ast.BinaryExpr); is && asksForScope(branch) {
				counts[file.folder]++
			}
			return true
		})
	}
	return counts
}

// asksForScope says whether an expression compares a namespace with the empty string.
func asksForScope(branch *ast.BinaryExpr) bool {
	if branch.Op != token.EQL && branch.Op != token.NEQ {
		return false
	}
	return isEmptyString(branch.X) && isNamespace(branch.Y) || isNamespace(branch.X) && isEmptyString(branch.Y)
}

func isEmptyString(expression ast.Expr) bool {
	literal, is := expression.(*ast.BasicLit)
	return is && literal.Value == `""`
}

func isNamespace(expression ast.Expr) bool {
	if call, is := expression.(*ast.CallExpr); is {
		expression = call.Fun // as object.GetNamespace()
	}
	return strings.HasSuffix(nameOf(expression), "amespace")
}

// TestLimitsCanBeBroken shows each limit at work on code that is over it.
func TestLimitsCanBeBroken(t *testing.T) {
	t.Parallel()
	parse := func(folder, name, code string) sourceFile {
		syntax, err := parser.ParseFile(token.NewFileSet(), name, "package p\n"+code, parser.ParseComments)
		require.NoError(t, err)
		return sourceFile{folder, name, syntax}
	}
	files := []sourceFile{
		parse("webhook", "a.go", `import api "`+module+`api/v1beta1"
			type one struct { two }
			type two struct { api.Three; n int }
			type oneHandler struct { *one }
			func (o *one) a(namespace string) bool { return namespace == "" || "" != o.Namespace }`),
		parse("webhook", "b.go", `func (o one) b() bool { return o.GetNamespace() == "" && o.Name == "" && o.Namespace == "n" }
			func (o one) c() {}
			func (g group[T]) d() {}`),
		parse("api/v1beta1", "scoped.go", `type Three struct { external.Four }
			func scope(namespace string) bool { return namespace == "" }`),
		parse("e2e/env", "e.go", `func scope(namespace string) bool { return namespace == "" }`),
	}
	assert.Equal(t, map[string]int{"webhook": 2, "api/v1beta1": 1, "e2e/env": 1}, countFiles(files))
	assert.Equal(t, map[string]int{"webhook.one": 2, "webhook.group": 1}, countFilesOfTypes(files))
	assert.Equal(t, map[string]int{"webhook": 3}, countScopeBranches(files), "of names and of selectors, but for scoped.go and e2e")
	assert.Equal(t, 4, depthOf(embeddings(files), "webhook.oneHandler", nil), "through a package of ours, and up to another's")
	assert.True(t, handles("webhook.oneHandler"))
	assert.False(t, handles("webhook.one"))

	counts, ceilings := map[string]int{"at the limit": 2, "over": 3, "at its ceiling": 4, "over its ceiling": 6}, map[string]int{"at its ceiling": 4, "over its ceiling": 5}
	assert.Equal(t, []string{
		"3 files in over; allowed are 2. Over the limit of 2 are listed: over its ceiling 5, at its ceiling 4",
		"6 files in over its ceiling; allowed are 5. Over the limit of 2 are listed: over its ceiling 5, at its ceiling 4",
	}, overCeilings("files in", counts, 2, ceilings))
}

// checkCeilings holds counts to a limit, and those that are listed to what they were. What is less
// than is listed is only logged, so that two changes that shrink it do not meet here.
func checkCeilings(t *testing.T, what string, counts map[string]int, limit int, ceilings map[string]int) {
	t.Helper()
	for _, problem := range overCeilings(what, counts, limit, ceilings) {
		t.Error(problem)
	}
	for name, ceiling := range ceilings {
		switch count := counts[name]; {
		case count <= limit:
			t.Logf("%d %s %s: take it off the list", count, what, name)
		case count < ceiling:
			t.Logf("%d %s %s: lower its ceiling from %d", count, what, name, ceiling)
		}
	}
}

// overCeilings says what is over the limit, or over what is listed.
func overCeilings(what string, counts map[string]int, limit int, ceilings map[string]int) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if allowed := max(limit, ceilings[name]); counts[name] > allowed {
			problems = append(problems, fmt.Sprintf("%d %s %s; allowed are %d. Over the limit of %d are listed: %s",
				counts[name], what, name, allowed, limit, listed(ceilings)))
		}
	}
	return problems
}

// checkTotal holds the sum of counts to a ceiling that only goes down.
func checkTotal(t *testing.T, what string, counts map[string]int, ceiling int) {
	t.Helper()
	total := 0
	for _, count := range counts {
		total += count
	}
	assert.LessOrEqual(t, total, ceiling, "%s, by package: %s", what, listed(counts))
	if total < ceiling {
		t.Logf("%d %s: lower the ceiling from %d", total, what, ceiling)
	}
}

// listed are counts, the highest first.
func listed(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}
