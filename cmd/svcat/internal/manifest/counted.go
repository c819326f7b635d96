package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counted says how many there are of each kind, such as "1 Deployment, 2 Secret".
func Counted(kinds map[string]int) string {
	texts := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		texts = append(texts, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	return strings.Join(texts, ", ")
}
