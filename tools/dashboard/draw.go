package main

import (
	"context"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The measures of the picture, in pixels: those of a cell of the dashboard's grid, and the space
// between panels.
const (
	cellWidth, cellHeight = 60, 30
	gap, padding          = 8, 10
)

// palette are the colors of series, in their order; colors are those that the dashboard names.
var (
	palette = []string{"#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#37872d", "#8ab8ff", "#fade2a", "#e02f44"}
	colors  = map[string]string{
		"green": "#73bf69", "dark-green": "#37872d", "red": "#f2495c", "orange": "#ff9830", "yellow": "#fade2a", "blue": "#5794f2", "text": "#ccccdc",
	}
)

// A picture is an SVG that is being drawn.
type picture struct{ strings.Builder }

func (p *picture) rect(x, y, w, h float64, fill string) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" fill="%s"/>`+"\n", x, y, w, h, fill)
}

func (p *picture) line(x1, y1, x2, y2 float64, stroke, dash string) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, stroke, dash)
}

// text writes text that is at most as wide as it may be.
func (p *picture) text(x, y, width, size float64, anchor, fill, text string) {
	if most := max(1, int(width/(size*0.56))); len([]rune(text)) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" font-size="%.0f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, size, anchor, fill, html.EscapeString(text))
}

// An area is where a panel draws.
type area struct{ x, y, w, h float64 }

// draw draws the dashboard over a time.
func draw(ctx context.Context, b *board, data *store, from, to time.Time) (string, error) {
	height := 0
	for i := range b.Panels {
		height = max(height, b.Panels[i].GridPos.Y+b.Panels[i].GridPos.H)
	}
	var p picture
	fmt.Fprintf(&p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Inter, Helvetica, Arial, sans-serif">`+"\n", 24*cellWidth+gap, height*cellHeight+gap)
	fmt.Fprintf(&p, "<title>%s</title>\n", html.EscapeString(b.Title+", drawn from live data of a playground"))
	p.rect(0, 0, 24*cellWidth+gap, float64(height*cellHeight+gap), "#111217")
	for i := range b.Panels {
		if err := p.panel(ctx, &b.Panels[i], data, from, to); err != nil {
			return "", err
		}
	}
	p.WriteString("</svg>\n")
	return p.String(), nil
}

// A named series is one with the text of its legend.
type named struct {
	series

	name, color string
}

func (p *picture) panel(ctx context.Context, panel *panel, data *store, from, to time.Time) error {
	g := panel.GridPos
	a := area{float64(g.X*cellWidth + gap), float64(g.Y*cellHeight + gap), float64(g.W*cellWidth - gap), float64(g.H*cellHeight - gap)}
	if panel.Type == "row" {
		p.text(a.x, a.y+a.h-4, a.w, 15, "start", "#ccccdc", "▾ "+panel.Title)
		return nil
	}
	p.rect(a.x, a.y, a.w, a.h, "#181b1f")
	p.text(a.x+padding, a.y+19, a.w-2*padding, 13, "start", "#ccccdc", panel.Title)
	a = area{a.x + padding, a.y + 28, a.w - 2*padding, a.h - 28 - padding}
	all, err := panel.query(ctx, data, from, to)
	if err != nil {
		return err
	}
	switch panel.Type {
	case "stat":
		p.stat(panel, all, a)
	case "table":
		p.table(panel, all, a)
	default:
		p.timeSeries(panel, all, a, from, to)
	}
	return nil
}

var inLegend = regexp.MustCompile(`{{(\w+)}}`)

// query evaluates all queries of a panel.
func (panel *panel) query(ctx context.Context, data *store, from, to time.Time) ([]named, error) {
	var all []named
	for _, target := range panel.Targets {
		found, err := data.over(ctx, target.Expr, from, to)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			name := inLegend.ReplaceAllStringFunc(target.LegendFormat, func(label string) string { return one.labels.Get(strings.Trim(label, "{}")) })
			all = append(all, named{one, name, palette[len(all)%len(palette)]})
		}
	}
	for i := range all {
		for _, override := range panel.FieldConfig.Overrides {
			if override.Matcher.Options == all[i].name {
				all[i].color = colors[override.Properties[0].Value.FixedColor]
			}
		}
	}
	return all, nil
}

// stat draws the last value of each series, large.
func (p *picture) stat(panel *panel, all []named, a area) {
	d := &panel.FieldConfig.Defaults
	if len(all) == 0 {
		p.text(a.x+a.w/2, a.y+a.h/2+8, a.w, 22, "middle", "#ccccdc", d.NoValue)
		return
	}
	height := a.h / float64(len(all))
	for i := range all {
		shown, y := d.show(all[i].last()), a.y+height*float64(i)
		if panel.Options.TextMode == "value" {
			p.rect(a.x, y, a.w, height-2, colors[shown.Color])
			p.text(a.x+a.w/2, y+height/2+9, a.w, 26, "middle", "#111217", shown.Text)
			continue
		}
		p.text(a.x, y+height/2+6, a.w/2, 15, "start", "#ccccdc", all[i].name)
		p.text(a.x+a.w, y+height/2+7, a.w/2, 22, "end", colors[shown.Color], shown.Text)
	}
}

// table draws the labels that the dashboard names as columns.
func (p *picture) table(panel *panel, all []named, a area) {
	options := panel.Transformations[0].Options
	columns := make([]string, len(options.IndexByName))
	for label, i := range options.IndexByName {
		columns[i] = label
	}
	slices.SortFunc(all, func(x, y named) int { return strings.Compare(x.labels.Get(columns[0]), y.labels.Get(columns[0])) })
	width, rows := a.w/float64(len(columns)), int(a.h/22)
	for c, label := range columns {
		x := a.x + width*float64(c)
		p.text(x, a.y+14, width-6, 12, "start", "#6e9fff", options.RenameByName[label])
		for r, one := range all[:min(len(all), rows-1)] {
			p.text(x, a.y+14+22*float64(r+1), width-6, 13, "start", "#ccccdc", one.labels.Get(label))
		}
	}
}

// timeSeries draws lines, or areas above each other.
func (p *picture) timeSeries(panel *panel, all []named, a area, from, to time.Time) {
	d := &panel.FieldConfig.Defaults
	legend := min(4, (len(all)+1)/2)
	plot := area{a.x + 74, a.y, a.w - 74, a.h - float64(18*legend) - 18}
	stacked := d.Custom.Stacking.Mode == "normal"
	if stacked {
		stack(all)
	}
	top := 0.0
	for i := range all {
		for _, point := range all[i].points {
			top = max(top, point.F)
		}
	}
	if top == 0 {
		top = 1
	}
	top = rounded(top)
	at := func(t int64, value float64) (x, y float64) {
		return plot.x + plot.w*float64(t-from.UnixMilli())/float64(to.Sub(from).Milliseconds()), plot.y + plot.h*(1-value/top)
	}
	p.axes(d, plot, top, from, to)
	if len(all) == 0 {
		p.text(plot.x+plot.w/2, plot.y+plot.h/2, plot.w, 14, "middle", "#8e8e99", "No data")
	}
	for i := len(all) - 1; i >= 0; i-- {
		p.curve(&all[i], stacked, at)
	}
	if d.Custom.ThresholdsStyle.Mode == "line" {
		for _, s := range d.Thresholds.Steps {
			if s.Value != nil && *s.Value <= top {
				_, y := at(0, *s.Value)
				p.line(plot.x, y, plot.x+plot.w, y, colors[s.Color], "")
			}
		}
	}
	p.legend(all, area{a.x, a.y + a.h - float64(18*legend) + 8, a.w, float64(18 * legend)})
}

// rounded is the next larger value that thirds of are short to write.
func rounded(value float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, steps := range []float64{1.2, 1.5, 1.8, 2.4, 3, 4.5, 6, 7.5, 9, 12} {
		if value <= steps*power {
			return steps * power
		}
	}
	return value
}

// stack adds to each series those before it, at the same times.
func stack(all []named) {
	below := map[int64]float64{}
	for i := range all {
		for j := range all[i].points {
			point := &all[i].points[j]
			point.F += below[point.T]
			below[point.T] = point.F
		}
	}
}

func (p *picture) axes(d *defaults, plot area, top float64, from, to time.Time) {
	for i := range 4 {
		share := float64(i) / 3
		y := plot.y + plot.h*(1-share)
		p.line(plot.x, y, plot.x+plot.w, y, "#2c3235", "")
		p.text(plot.x-6, y+4, 74, 10, "end", "#8e8e99", format(d.Unit, top*share))
	}
	for i := range 3 {
		share := float64(i) / 2
		anchor := []string{"start", "middle", "end"}[i]
		moment := from.Add(time.Duration(share * float64(to.Sub(from))))
		p.text(plot.x+plot.w*share, plot.y+plot.h+14, 80, 10, anchor, "#8e8e99", moment.UTC().Format(time.TimeOnly))
	}
}

func (p *picture) curve(one *named, filled bool, at func(int64, float64) (x, y float64)) {
	var path strings.Builder
	for _, point := range one.points {
		x, y := at(point.T, point.F)
		fmt.Fprintf(&path, "%.1f,%.1f ", x, y)
	}
	fill := "none"
	if filled && len(one.points) > 0 {
		fill = one.color + "40"
		first, bottom := at(one.points[0].T, 0)
		last, _ := at(one.points[len(one.points)-1].T, 0)
		fmt.Fprintf(p, `<polygon points="%.1f,%.1f %s%.1f,%.1f" fill="%s"/>`+"\n", first, bottom, path.String(), last, bottom, fill)
	}
	fmt.Fprintf(p, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.TrimSpace(path.String()), one.color)
}

// legend names the series in two columns, as many as fit.
func (p *picture) legend(all []named, a area) {
	most := 2 * int(math.Round(a.h/18))
	for i := range all[:min(len(all), most)] {
		x, y := a.x+a.w/2*float64(i%2), a.y+18*float64(i/2)
		name := all[i].name
		if i == most-1 && len(all) > most {
			name = fmt.Sprintf("and %d more", len(all)-most+1)
		}
		p.rect(x, y, 12, 4, all[i].color)
		p.text(x+18, y+6, a.w/2-24, 11, "start", "#ccccdc", name)
	}
}
