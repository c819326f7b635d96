package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
)

// PrintObject prints an object as one of kubectl's printers does, or nothing. Of a
// template that does not fit the object, those print the whole object, in the error or
// before it; this only says what does not fit.
func PrintObject(out io.Writer, printer printers.ResourcePrinter, object runtime.Object) error {
	var text bytes.Buffer
	if err := printer.PrintObj(object, &text); err != nil {
		return misfit(err)
	}
	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

var (
	// executing begins what printers say of a template: it quotes it, and goes on with
	// what the engine says, which is of one line but for values.
	executing = regexp.MustCompile(`^error executing (?:jsonpath|template) "(?:[^"\\]|\\.)*": `)
	// where is the place in a go-template: its own text, not the object's.
	where = regexp.MustCompile(`^template: \S+ executing "\w+" at <[^\n]*?>: `)
	// reasons are those that name no value, but what the template does.
	reasons = regexp.MustCompile(`^(?:error calling \w+: )?(?:` + strings.Join([]string{
		`array index out of bounds: index -?\d+, length \d+`,
		`starting index -?\d+ is greater than ending index -?\d+`,
		`\w+ is not found`,
		`(?:\w+|map\[string\]interface \{\}) is not array or slice\.`,
		`step must be (?:>|!=) 0`,
		`index out of range: -?\d+`,
		`can only compare one element at a time`,
		`incompatible types for comparison`,
		`cannot index slice/array with type \w+`,
		`index of untyped nil`,
		`(?:len of|can't index item of) type [\w\[\]]+`,
		`can't evaluate field \w+ in type [\w\[\]{} ]+`,
		`nil pointer evaluating [\w\[\]{}. ]+`,
		`illegal base64 data at input byte \d+`,
	}, "|") + `)`)
)

// misfit is the error of a printer without anything of the object.
func misfit(err error) error {
	text := err.Error()
	head := executing.FindString(text)
	if head == "" {
		return fmt.Errorf("cannot print: %w", err)
	}
	rest := strings.TrimPrefix(text[len(head):], "Error executing template: ")
	at := where.FindString(rest)
	reason := strings.TrimSuffix(reasons.FindString(rest[len(at):]), ".")
	if reason == "" {
		reason = "it does not fit the object"
	}
	return errors.New(head + at + reason)
}
