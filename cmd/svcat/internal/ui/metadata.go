package ui

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/merge"
)

// metadata is what a broker wrote for user interfaces, of which it promises nothing:
// what has another shape than the specification's convention is left out. An imageUrl
// is never read: a picture would tell its server who looks.
type metadata map[string]any

func metadataOf(raw *runtime.RawExtension) metadata {
	if raw == nil {
		return nil
	}
	values, err := merge.Decode(raw.Raw)
	if err != nil {
		return nil
	}
	return values
}

// text is a text of the metadata, empty if it is none.
func (m metadata) text(name string) string {
	text, _ := m[name].(string)
	return strings.TrimSpace(text)
}

// bullets are what a plan has, in a line each.
func (m metadata) bullets() []string {
	var bullets []string
	list, _ := m["bullets"].([]any)
	for _, item := range list {
		if text, ok := item.(string); ok && strings.TrimSpace(text) != "" {
			bullets = append(bullets, strings.TrimSpace(text))
		}
	}
	return bullets
}
