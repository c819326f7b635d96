package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// A board is the part of a dashboard that is drawn.
type board struct {
	Title  string
	Panels []panel
}

type panel struct {
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct {
		Defaults  defaults
		Overrides []struct {
			Matcher    struct{ Options string }
			Properties []struct {
				ID    string
				Value struct{ FixedColor string }
			}
		}
	}
	Options struct {
		TextMode string
	}
	Transformations []struct {
		Options struct {
			IndexByName  map[string]int
			RenameByName map[string]string
		}
	}
	Targets []struct{ Expr, LegendFormat string }
}

type defaults struct {
	Unit, NoValue string
	Thresholds    struct {
		Steps []step
	}
	Mappings []mapping
	Custom   struct {
		Stacking, ThresholdsStyle struct{ Mode string }
	}
}

type step struct {
	Color string
	Value *float64
}

type mapping struct {
	Type    string
	Options json.RawMessage
}

type mapped struct{ Text, Color string }

func readDashboard(path string) (*board, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the dashboard: %w", err)
	}
	var b board
	if err := json.Unmarshal(content, &b); err != nil {
		return nil, fmt.Errorf("cannot decode the dashboard: %w", err)
	}
	for i := range b.Panels {
		for j := range b.Panels[i].Targets {
			t := &b.Panels[i].Targets[j]
			t.Expr = strings.NewReplacer("$__rate_interval", "1m", "$cluster", ".*", "$namespace", ".*", "$broker", ".*").Replace(t.Expr)
		}
	}
	return &b, nil
}

// show is how a value is shown: by a mapping, or else with its unit and the color of its step.
func (d *defaults) show(value float64) mapped {
	color := ""
	for _, s := range d.Thresholds.Steps {
		if s.Value == nil || value >= *s.Value {
			color = s.Color
		}
	}
	for _, m := range d.Mappings {
		if found, has := m.find(value); has {
			return found
		}
	}
	return mapped{format(d.Unit, value), color}
}

func (m *mapping) find(value float64) (mapped, bool) {
	if m.Type == "value" {
		var texts map[string]mapped
		_ = json.Unmarshal(m.Options, &texts) // checked by the schema
		found, has := texts[format("none", value)]
		return found, has
	}
	var bounds struct {
		From, To *float64
		Result   mapped
	}
	_ = json.Unmarshal(m.Options, &bounds) // checked by the schema
	return bounds.Result, (bounds.From == nil || value >= *bounds.From) && (bounds.To == nil || value <= *bounds.To)
}

// A scale is a unit in which values from least on are shown.
type scale struct {
	least, size float64
	unit        string
}

var (
	times = []scale{
		{1209600, 604800, " weeks"}, {172800, 86400, " days"}, {7200, 3600, " hours"}, {120, 60, " min"}, {1, 1, " s"}, {1e-3, 1e-3, " ms"}, {1e-6, 1e-6, " µs"}, {0, 1, " s"},
	}
	sizes = []scale{{1 << 20, 1 << 20, " MiB"}, {1 << 10, 1 << 10, " KiB"}, {0, 1, " B"}}
)

// format is a value as Grafana shows it, in one of the units that the dashboard uses.
func format(unit string, value float64) string {
	scales := []scale{{0, 1, ""}}
	switch unit {
	case "s":
		scales = times
	case "bytes":
		scales = sizes
	case "percentunit":
		return number(value*100) + "%"
	case "reqps":
		scales[0].unit = " req/s"
	case "ops":
		scales[0].unit = " ops/s"
	}
	for _, s := range scales {
		if value >= s.least || -value >= s.least {
			return number(value/s.size) + s.unit
		}
	}
	return number(value)
}

func number(value float64) string {
	text := fmt.Sprintf("%.3g", value)
	if strings.Contains(text, "e") {
		text = fmt.Sprintf("%.0f", value)
	}
	return text
}
