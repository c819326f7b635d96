package relist

import (
	"crypto/md5" //nolint:gosec // names, not secrets; the sum is part of the wire
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// maxName is how long the name of a class or plan may be.
	maxName = 63
	// headOfLong is what stays of a name that is too long, before the sum of its ID.
	headOfLong = 30
	sumLength  = 2 * md5.Size
)

// Name returns the Kubernetes name of the class or plan with an ID at a broker, the
// same as the retired catalog gave it, with the broker's suffix behind it. It is a
// DNS subdomain of at most 63 characters; the ID must not be empty.
func Name(id, suffix string) string {
	name, tail := escape(id), ""
	if suffix != "" {
		tail = "-" + suffix
	}
	if len(name)+len(tail) <= maxName {
		return name + tail
	}
	head := min(headOfLong, maxName-sumLength-len("-")-len(tail))
	sum := md5.Sum([]byte(id)) //nolint:gosec // see the import
	return strings.TrimSuffix(name[:head], ".") + "-" + hex.EncodeToString(sum[:]) + tail
}

// escape writes what a DNS subdomain may not have as zHEXz, z and capitals included,
// so that no two IDs become alike.
func escape(id string) string {
	var name strings.Builder
	before := rune(0) // the dot or dash that was kept last, if nothing followed it
	for i, r := range id {
		inner := i > 0 && i+len(string(r)) < len(id)
		switch {
		case 'a' <= r && r <= 'y', '0' <= r && r <= '9':
			before = 0
		case r == '.' && inner && before == 0, r == '-' && inner && before != '.':
			before = r
		default:
			fmt.Fprintf(&name, "z%xz", r)
			before = 0
			continue
		}
		name.WriteRune(r)
	}
	return name.String()
}
