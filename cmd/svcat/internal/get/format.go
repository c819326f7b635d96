package get

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// shortDescription is how many letters of a description tables show that are not
// wide: SCOPE stands behind it.
const shortDescription = 80

// short is a description in at most shortDescription letters, cut between words
// where it can be.
func short(description string) string {
	letters := []rune(description)
	if len(letters) <= shortDescription {
		return description
	}
	cut := string(letters[:shortDescription-1])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// descriptionIn is a description as a layout shows it.
func descriptionIn(layout, description string) string {
	if layout == layoutTable {
		return short(description)
	}
	return description
}

// columnAge is the column of what changes all the time.
const columnAge = "age"

// age is how long something has been there, as kubectl says it.
func age(created metav1.Time) string {
	if created.IsZero() {
		return ""
	}
	return duration.HumanDuration(time.Since(created.Time))
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// byType orders types by name; none comes last, so that a catalog that is typed in
// part begins with that part.
func byType(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}
