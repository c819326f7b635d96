package moving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// Read reads a file and checks all that it says.
func Read(path string, seal Seal) (*Contents, error) {
	text, err := cli.ReadFileOf(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the export: %w", err)
	}
	if text, err = seal.decrypt(path, text); err != nil {
		return nil, err
	}
	contents, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return contents, nil
}

// decode reads the documents of a file.
func decode(text []byte) (*Contents, error) {
	contents := &Contents{}
	seen := newCheck()
	number := 0
	for part := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n"+separator)) {
		part = bytes.TrimSpace(part)
		if len(part) == 0 {
			continue
		}
		number++
		err := contents.decodeOne(number, part, seen)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
	}
	if number == 0 {
		return nil, errors.New("it is empty: write it with svcat export")
	}
	if found := number - 1; found != contents.Header.Objects {
		return nil, fmt.Errorf("it has %d objects, and its header says %d: it was cut or changed; copy or export it again", found, contents.Header.Objects)
	}
	return contents, seen.whole(contents)
}

func (c *Contents) decodeOne(number int, text []byte, seen *check) error {
	if err := seen.size(number, text); err != nil {
		return err
	}
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return errors.New("it is no JSON object: write the file with svcat export")
	}
	if number == 1 {
		if kind.Kind != kindHeader || kind.APIVersion != Version {
			return fmt.Errorf("it is %q of apiVersion %q, and this svcat reads a file that begins with %q of %q: take the svcat that wrote it, or export again", kind.Kind, kind.APIVersion, kindHeader, Version)
		}
		return strictly(text, &c.Header, "header")
	}
	empty, known := kinds[kind.Kind]
	if !known || kind.APIVersion != versionOf(kind.Kind) {
		return fmt.Errorf("it is a %q of apiVersion %q, which no export has", kind.Kind, kind.APIVersion)
	}
	object := empty()
	if err := strictly(text, object, kind.Kind); err != nil {
		return err
	}
	if err := seen.object(object, kind.Kind); err != nil {
		// Its name may be what is wrong with it.
		return fmt.Errorf("%s %s: %w", kind.Kind, termtext.Line(client.ObjectKeyFromObject(object).String()), err)
	}
	c.add(object)
	return nil
}

// strictly reads a document without a field that svcat does not know. Errors name fields, and
// no values.
func strictly(text []byte, into any, what string) error {
	wrong, err := kjson.UnmarshalStrict(text, into)
	if wrongType, is := errors.AsType[*json.UnmarshalTypeError](err); is && wrongType.Field != "" {
		return fmt.Errorf("it is no %s: field %s is of another type", what, wrongType.Field)
	}
	if err != nil {
		return fmt.Errorf("it is no %s that this svcat can read", what)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("it is no %s that this svcat can read: %w", what, wrong[0])
	}
	return nil
}
