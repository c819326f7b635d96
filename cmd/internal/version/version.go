// Package version says which version a binary is of.
package version

import "runtime/debug"

// version is set by the linker where a release is built:
//
//	go build -ldflags "-X github.com/defaultplan/defaultplan/cmd/internal/version.version=v0.2.0"
var version string //nolint:gochecknoglobals // the linker's

// Unknown is the version of a binary that was built without one, and without the
// history that would tell.
const Unknown = "unknown"

// String is what the linker was told, else what Go recorded of the module and its
// history, else Unknown.
func String() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return of(version, build)
}

func of(stamped string, build *debug.BuildInfo) string {
	if stamped != "" {
		return stamped
	}
	if built := build.Main.Version; built != "" && built != "(devel)" {
		return built
	}
	return Unknown
}
