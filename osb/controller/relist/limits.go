package relist

import (
	"fmt"
	"unicode/utf8"
)

// Limits of the API server for a class or plan: lengths in characters (see
// deploy/crds), sizes in bytes of JSON.
const (
	maxWord        = 63 // of an ID and of a name at the broker
	maxDescription = 65536
	maxList        = 1024 // tags, requires
	maxListed      = 1024 // one of them
	maxVersion     = 256
	maxMalformed   = 255 // before the ellipsis
	maxTransforms  = 256
	maxSchema      = 64 << 10
	maxMetadata    = 512 << 10
	// maxObject leaves room below etcd's 1.5 MiB for what others write.
	maxObject = 1 << 20
)

// unfit says why a service or plan with these texts cannot be applied.
func unfit(id, name, description string, tags, requires []string) string {
	switch {
	case id == "":
		return "it has no id"
	case name == "":
		return fmt.Sprintf("it has no name; its id is %q", shorten(id))
	}
	for _, text := range []struct {
		what, value string
		most        int
	}{{"id", id, maxWord}, {"name", name, maxWord}, {"description", description, maxDescription}} {
		if length := utf8.RuneCountInString(text.value); length > text.most {
			return fmt.Sprintf("its %s has %d characters; at most %d are allowed", text.what, length, text.most)
		}
	}
	if reason := listUnfit("tags", tags); reason != "" {
		return reason
	}
	return listUnfit("requires", requires)
}

func listUnfit(what string, list []string) string {
	if len(list) > maxList {
		return fmt.Sprintf("its %s are %d; at most %d are allowed", what, len(list), maxList)
	}
	size := 0
	for _, text := range list {
		size += len(text)
		if length := utf8.RuneCountInString(text); length > maxListed {
			return fmt.Sprintf("one of its %s has %d characters; at most %d are allowed", what, length, maxListed)
		}
	}
	if size > maxObject/4 {
		return fmt.Sprintf("its %s have %d bytes; at most %d are allowed", what, size, maxObject/4)
	}
	return ""
}
