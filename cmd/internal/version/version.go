// Package version says which version a binary is of.
package version

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker where a release is built:
//
//	go build -ldflags "-X github.com/defaultplan/defaultplan/cmd/internal/version.version=v0.2.0"
var version string //nolint:gochecknoglobals // the linker's

// Unknown is the version of a binary that was built without one, and without the
// history that would tell.
const Unknown = "unknown"

// revisionDigits is how much of a commit's name is enough to find it.
const revisionDigits = 12

// String is what the linker was told, else what Go recorded of the module or of its
// history, else Unknown.
func String() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return of(version, build)
}

// Line is what a program prints about itself: its version, and the Go release
// that built it.
func Line() string {
	return String() + " (" + runtime.Version() + ")"
}

// UserAgent is the User-Agent of a program, such as webhook/v0.2.0
// (linux/amd64). The part before the slash becomes the field manager of its
// writes, and so must not change between versions.
func UserAgent(name string) string {
	return name + "/" + String() + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

func of(stamped string, build *debug.BuildInfo) string {
	if stamped != "" {
		return stamped
	}
	if built := build.Main.Version; built != "" && built != "(devel)" {
		return built
	}
	if revision := revisionOf(build.Settings); revision != "" {
		return revision
	}
	return Unknown
}

// revisionOf is the commit that Go recorded, and whether the files were others.
func revisionOf(settings []debug.BuildSetting) string {
	var revision, changed string
	for _, setting := range settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(revisionDigits, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}
