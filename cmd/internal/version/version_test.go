package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	t.Parallel()
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	cases := map[string]struct {
		reason  string
		stamped string
		build   *debug.BuildInfo
		want    string
	}{
		"Stamped":  {reason: "the linker knows best", stamped: "v0.2.0", build: build("v1.2.3", commit), want: "v0.2.0"},
		"Module":   {reason: "of go install", build: build("v1.2.3", commit), want: "v1.2.3"},
		"Commit":   {reason: "of a checkout", build: build("(devel)", commit), want: "0123456789ab"},
		"Modified": {reason: "and that it was changed", build: build("", modified, commit), want: "0123456789ab+dirty"},
		"Short":    {reason: "no more than there is", build: build("", debug.BuildSetting{Key: "vcs.revision", Value: "01"}), want: "01"},
		"Changed":  {reason: "what was changed is not known", build: build("", modified), want: Unknown},
		"Unknown":  {reason: "nothing was recorded", build: build("(devel)"), want: Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, of(tc.stamped, tc.build), tc.reason)
		})
	}
}

func TestLineAndUserAgent(t *testing.T) {
	t.Parallel()
	assert.Equal(t, String()+" ("+runtime.Version()+")", Line())
	manager, rest, found := strings.Cut(UserAgent("webhook"), "/")
	assert.True(t, found)
	assert.Equal(t, "webhook", manager, "the manager of the fields that it writes")
	assert.Equal(t, String()+" ("+runtime.GOOS+"/"+runtime.GOARCH+")", rest)
}
