package page

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Panel is one measure of a curve: a value for each size.
type Panel struct {
	Title, Unit string
	X, Y        []float64
}

// The drawing: panels in rows, each with a frame within margins. All in pixels.
const (
	columns                = 3
	panelWidth             = 280
	panelHeight            = 190
	marginLeft, marginTop  = 56, 34
	marginRight, marginLow = 18, 30
	frameWidth             = panelWidth - marginLeft - marginRight
	frameHeight            = panelHeight - marginTop - marginLow
)

// Draw is an SVG with one panel for each measure. The sizes are on a logarithmic scale, the values on
// a linear one from zero.
func Draw(panels []Panel) string {
	rows := (len(panels) + columns - 1) / columns
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11" fill="#24292f">`+"\n",
		columns*panelWidth, rows*panelHeight)
	svg.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i := range panels {
		fmt.Fprintf(&svg, `<g transform="translate(%d,%d)">`+"\n", i%columns*panelWidth, i/columns*panelHeight)
		panels[i].draw(&svg)
		svg.WriteString("</g>\n")
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

func (p *Panel) draw(svg *strings.Builder) {
	top := ceiling(slices.Max(append([]float64{0}, p.Y...)))
	fmt.Fprintf(svg, `<text x="%d" y="18" font-weight="bold">%s (%s)</text>`+"\n", marginLeft, html.EscapeString(p.Title), html.EscapeString(p.Unit))
	for _, part := range []float64{0, .5, 1} {
		y := marginTop + frameHeight*(1-part)
		fmt.Fprintf(svg, `<path d="M%d %.1fh%d" stroke="#d0d7de"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			marginLeft, y, frameWidth, marginLeft-6, y+4, label(top*part))
	}
	points := make([]string, len(p.X))
	for i := range p.X {
		x, y := p.across(p.X[i]), marginTop+frameHeight*(1-p.Y[i]/top)
		points[i] = fmt.Sprintf("%.1f,%.1f", x, y)
		fmt.Fprintf(svg, `<circle cx="%.1f" cy="%.1f" r="3" fill="#0969da"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, y, x, y-7, label(p.Y[i]), x, panelHeight-marginLow+16, sizeLabel(p.X[i]))
	}
	fmt.Fprintf(svg, `<polyline points="%s" fill="none" stroke="#0969da" stroke-width="1.5"/>`+"\n", strings.Join(points, " "))
}

// across is where a size is, between the least and the largest of the panel.
func (p *Panel) across(x float64) float64 {
	least, largest := math.Log(slices.Min(p.X)), math.Log(slices.Max(p.X))
	const inset = 14
	if least == largest {
		return marginLeft + frameWidth/2
	}
	return marginLeft + inset + (frameWidth-2*inset)*(math.Log(x)-least)/(largest-least)
}

// ceiling is the next of 1, 2, 5, 10, 20 and so on that is not less.
func ceiling(value float64) float64 {
	if value <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{1, 2, 5} {
		if value <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// label is a value with three digits that count.
func label(value float64) string {
	if value >= 100 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}

// sizeLabel is a number with commas between thousands.
func sizeLabel(value float64) string {
	text := strconv.FormatFloat(value, 'f', 0, 64)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
