package plans

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAMLDepth is far beyond what parameters may have.
const maxYAMLDepth = 500

// number is a number as JSON writes it, and words what YAML 1.1 takes for a truth value
// and YAML 1.2 for a word.
var (
	number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	words  = regexp.MustCompile(`^(y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$`)
)

// A yamlError is what is wrong with a YAML text, and where. No value is in it.
type yamlError struct {
	line int
	why  string
}

func (f *yamlError) Error() string { return fmt.Sprintf("line %d: %s", f.line, f.why) }

// yamlToJSON is one YAML document as JSON. Nothing in it changes in silence: keys are
// text, numbers keep theirs, and what readers of YAML differ about is refused.
func yamlToJSON(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document.Kind == 0 {
		return nil, errEmpty
	}
	w := yamlWriter{}
	err := w.write(document.Content[0], 0)
	return w.out.Bytes(), err
}

type yamlWriter struct{ out bytes.Buffer }

func (w *yamlWriter) write(node *yaml.Node, depth int) error {
	switch {
	case depth > maxYAMLDepth:
		return &yamlError{node.Line, "it is nested too deep"}
	case w.out.Len() > maxText:
		return &yamlError{node.Line, fmt.Sprintf("with its aliases written out it is larger than %d bytes", maxText)}
	}
	switch node.Kind {
	case yaml.AliasNode:
		return w.write(node.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(node, depth)
	case yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if err := w.write(item, depth+1); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		return nil
	case yaml.ScalarNode, yaml.DocumentNode: // A document is in no other.
	}
	return w.scalar(node)
}

func (w *yamlWriter) mapping(node *yaml.Node, depth int) error {
	seen := map[string]bool{}
	w.out.WriteByte('{')
	for pair := range slices.Chunk(node.Content, 2) {
		key := pair[0]
		switch {
		case key.Kind != yaml.ScalarNode:
			return &yamlError{key.Line, "a key is no word"}
		case key.Tag == "!!merge":
			return &yamlError{key.Line, "<< is not read; write out what it stands for"}
		case seen[key.Value]:
			return &yamlError{key.Line, "a key appears twice in one object"}
		}
		if seen[key.Value] = true; len(seen) > 1 {
			w.out.WriteByte(',')
		}
		w.text(key.Value)
		w.out.WriteByte(':')
		if err := w.write(pair[1], depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *yamlWriter) scalar(node *yaml.Node) error {
	tag, given := node.ShortTag(), node.Style&yaml.TaggedStyle != 0
	quoted, value := node.Style&^yaml.TaggedStyle != 0, strings.ToLower(node.Value)
	why := ""
	switch {
	case !quoted && number.MatchString(node.Value) && (!given || tag == "!!int" || tag == "!!float"):
		w.out.WriteString(node.Value)
		why = unkept(node.Value)
	case !quoted && !given && words.MatchString(node.Value):
		why = "yes, no, on, off, y and n mean different things to readers of YAML; write true or false, or quote it"
	case tag == "!!str", tag == "!!timestamp":
		w.text(node.Value)
	case tag == "!!null" && slices.Contains([]string{"", "~", null}, value):
		w.out.WriteString(null)
	case tag == "!!bool" && slices.Contains([]string{"true", "false"}, value):
		w.out.WriteString(value)
	case tag == "!!int", tag == "!!float":
		why = "a number is not written as JSON has it; write it so, in decimal, or quote it"
	default:
		why = "a value has a tag that JSON has nothing for"
	}
	if why != "" {
		return &yamlError{node.Line, why}
	}
	return nil
}

func (w *yamlWriter) text(value string) {
	encoder := json.NewEncoder(&w.out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) //nolint:errchkjson // A word can be encoded, and a buffer written to.
	w.out.Truncate(w.out.Len() - 1)
}

// keepable says which number of a JSON text the API server would not keep.
func keepable(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil { // Its end: it was validated before.
			return nil //nolint:nilerr // See above.
		}
		if one, ok := token.(json.Number); ok {
			if why := unkept(one.String()); why != "" {
				return fmt.Errorf("before byte %d: %s", decoder.InputOffset()+1, why)
			}
		}
	}
}

// unkept says why the API server would not keep a number: it holds whole numbers of 64
// bits, and others as floating point.
func unkept(number string) string {
	if _, err := strconv.ParseFloat(number, 64); err != nil {
		return "a number is larger than the API server can hold; quote it"
	}
	if _, err := strconv.ParseInt(number, 10, 64); err != nil && !strings.ContainsAny(number, ".eE") {
		return "a whole number does not fit 64 bits with its sign, and the API server would round it; quote it"
	}
	return ""
}
