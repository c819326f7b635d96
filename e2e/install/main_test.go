package install_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

var (
	// root is the project's folder.
	root = filepath.Join("..", "..")
	// binFolder is where the binaries are; stateFolder is where clusters keep theirs.
	binFolder, stateFolder string
)

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "install", Up: root, AtOnce: 3, Run: run,
		Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "helm", "helm3"},
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (int, error) {
	binFolder, stateFolder = bin, dir
	return m.Run(), nil
}
