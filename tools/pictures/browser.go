package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	// graphName is the picture of the graph, and mermaidScript what draws it.
	graphName     = "explain.svg"
	mermaidScript = "node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js"
	// quote is a quotation mark that no graph has.
	quote = "\u201d"
	// patience is how long all of the browser's work may take.
	patience = 5 * time.Minute
	// mostBytes bounds a screenshot.
	mostBytes = 150_000
)

// shots are the screenshots of svcat ui.
var shots = []struct {
	name, path, scheme string
	width, height      int64
}{
	{"ui-type.png", "/types/mysql", "light", 1280, 860},
	{"ui-types-narrow.png", "/", "dark", 390, 844},
}

// inBrowser draws the graph and takes the screenshots.
func inBrowser(ctx context.Context, s *stack, graph string) ([]picture, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var flags []chromedp.ExecAllocatorOption
	for _, name := range []string{"headless", "no-sandbox", "disable-gpu", "hide-scrollbars", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"} {
		flags = append(flags, chromedp.Flag(name, true))
	}
	allocated, release := chromedp.NewExecAllocator(ctx, append(flags, chromedp.ExecPath("chromium"))...)
	defer release()
	browser, end := chromedp.NewContext(allocated)
	defer end()
	drawn, err := drawGraph(browser, graph)
	if err != nil {
		return nil, fmt.Errorf("cannot draw the graph: %w", err)
	}
	shown, err := screenshots(browser, s)
	if err != nil {
		return nil, fmt.Errorf("cannot show svcat ui: %w", err)
	}
	return append(shown, picture{graphName, []byte(drawn)}), nil
}

// drawGraph has mermaid draw the graph, without HTML in the SVG, which some viewers leave out.
func drawGraph(ctx context.Context, graph string) (string, error) {
	script, err := os.ReadFile(mermaidScript)
	if err != nil {
		return "", err
	}
	// Without HTML mermaid shows the entity of a quotation mark; in the drawing, another mark has its place.
	source, err := json.Marshal(strings.ReplaceAll(graph, "#quot;", quote))
	if err != nil {
		return "", err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return "", err
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](string(script)+"; null")); err != nil {
		return "", err
	}
	svg, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`
		mermaid.initialize({startOnLoad: false, theme: "neutral", htmlLabels: false, flowchart: {htmlLabels: false, wrappingWidth: 420, nodeSpacing: 12, rankSpacing: 40, padding: 8}});
		mermaid.render("graph", %s).then((drawn) => new XMLSerializer().serializeToString(
			new DOMParser().parseFromString(drawn.svg, "image/svg+xml").documentElement))`, source), chromedp.EvalAwaitPromise))
	if err != nil {
		return "", err
	}
	svg = strings.ReplaceAll(svg, quote, "&quot;")
	opening := strings.Index(svg, ">") + 1
	paper := `<rect x="-10%" y="-10%" width="120%" height="120%" fill="#fff"/>`
	return svg[:opening] + "<title>svcat explain mysql: the plan that mysql means, and why</title>" + describe(graph) + paper + svg[opening:] + "\n", nil
}

// describe has the text of the graph: for readers who do not see it, and for -check.
func describe(graph string) string { return "<desc>" + escape(graph) + "</desc>" }

// screenshots opens svcat ui, whose address works once, and takes all screenshots in one window.
func screenshots(ctx context.Context, s *stack) (shown []picture, err error) {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ui := s.command(serving, s.bin+"/svcat", "ui")
	printed, err := ui.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := ui.Start(); err != nil {
		return nil, err
	}
	defer func() { stop(); _ = ui.Wait() }() // it is killed
	address, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("svcat ui printed no address: %w", err)
	}
	address = strings.TrimSpace(address)
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(address, "//")
	host, _, _ := strings.Cut(rest, "/")
	for _, shot := range shots {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: shot.scheme}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
			return nil, err
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(shot.width, shot.height), chromedp.Navigate(scheme+"//"+host+shot.path)); err != nil {
			return nil, err
		}
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return nil, err
		}
		if len(png) > mostBytes {
			return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed: show less of the page", shot.name, len(png), mostBytes)
		}
		shown = append(shown, picture{shot.name, png})
	}
	return shown, nil
}
