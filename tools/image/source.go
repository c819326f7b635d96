package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A source is what an image tells of where it comes from. It depends on nothing but the
// commit, unless the caller says otherwise.
type source struct {
	version  string
	revision string
	created  time.Time
}

// unknown is the version of files that have no history, and were given none.
const unknown = "unknown"

// versions are those that a linker's flag and a tag can carry.
var versions = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)

// readSource asks git for the version, the commit and its time. A version that is given
// stands; so does epoch, in seconds since 1970 (SOURCE_DATE_EPOCH), for the time. What
// has no history is unknown, and of 1970.
func readSource(ctx context.Context, root, version, epoch string) (source, error) {
	s := source{version: version, revision: git(ctx, root, "rev-parse", "HEAD"), created: time.Unix(0, 0).UTC()}
	if s.version == "" {
		s.version = git(ctx, root, "describe", "--tags", "--always", "--dirty")
	}
	if s.version == "" {
		s.version = unknown
	}
	if !versions.MatchString(s.version) {
		return source{}, fmt.Errorf("version %q is none: up to 128 letters, digits and . _ + - are allowed", s.version)
	}
	if epoch == "" {
		epoch = git(ctx, root, "log", "-1", "--format=%ct")
	}
	if epoch == "" {
		return s, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("cannot read the time %q, in seconds since 1970: %w", epoch, err)
	}
	s.created = time.Unix(seconds, 0).UTC()
	return s, nil
}

// checkOut writes the files of a version's tag into a folder, and says what they are of.
func checkOut(ctx context.Context, repository, version, folder string) (source, error) {
	tags, err := gitOutput(ctx, repository, "tag", "--list", version)
	if err != nil {
		return source{}, err
	}
	if len(tags) == 0 {
		return source{}, fmt.Errorf("%q has no tag %s: a release is built from one: git tag %s", repository, version, version)
	}
	told, err := gitOutput(ctx, repository, "log", "-1", "--format=%H %ct", "refs/tags/"+version)
	if err != nil {
		return source{}, err
	}
	revision, epoch, _ := strings.Cut(strings.TrimSpace(string(told)), " ")
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("cannot read the time of commit %q: %w", revision, err)
	}
	packed, err := gitOutput(ctx, repository, "archive", "--format=tar", revision)
	if err != nil {
		return source{}, err
	}
	return source{version: version, revision: revision, created: time.Unix(seconds, 0).UTC()}, unpack(packed, folder)
}

// tag is the version as a registry takes it, which knows no plus.
func (s *source) tag() string { return strings.ReplaceAll(s.version, "+", "_") }

// gitOutput is what git prints of a repository, whose files are those of its commits whatever the user has
// configured.
func gitOutput(ctx context.Context, repository string, args ...string) ([]byte, error) {
	options := []string{"-C", repository, "--no-replace-objects", "-c", "core.autocrlf=false", "-c", "core.attributesFile=" + os.DevNull}
	output, err := exec.CommandContext(ctx, "git", append(options, args...)...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the repository: git %s: %w", args[0], err)
	}
	return output, nil
}

// git is what git prints of a folder, or nothing where there is no history.
func git(ctx context.Context, folder string, args ...string) string {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(output))
}
