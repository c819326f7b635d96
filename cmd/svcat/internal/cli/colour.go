package cli

import (
	"errors"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/printers"
)

// A colourMode is the value of --color.
type colourMode string

// The modes.
const (
	colourAuto   colourMode = "auto"
	colourAlways colourMode = "always"
	colourNever  colourMode = "never"
)

// bindColour adds the flag that says when to write colours.
func (e *Env) bindColour(flags *pflag.FlagSet) {
	e.colour = colourAuto
	flags.Var(&e.colour, "color", "When to write colours: auto (to a terminal, unless NO_COLOR is set), always or never")
}

func (m *colourMode) String() string { return string(*m) }

// Type is what help calls the value.
func (*colourMode) Type() string { return "string" }

// Set takes a value of the flag.
func (m *colourMode) Set(value string) error {
	switch mode := colourMode(value); mode {
	case colourAuto, colourAlways, colourNever:
		*m = mode
		return nil
	}
	return errors.New("allowed are auto, always and never")
}

// Colours says whether to write colours to standard output.
func (e *Env) Colours() bool { return e.colours(e.Out) }

// colours says whether to write colours to a stream. Left to svcat, those are terminals only,
// where NO_COLOR is not set.
func (e *Env) colours(stream any) bool {
	switch e.colour {
	case colourAlways:
		return true
	case colourNever:
		return false
	case colourAuto:
	}
	on, ok := stream.(*terminal)
	return ok && os.Getenv("NO_COLOR") == "" && printers.AllowsColorOutput(on.file)
}
