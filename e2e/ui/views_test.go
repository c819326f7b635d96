package ui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// A window is what a page is shown in.
type window struct {
	width  int64
	scheme string
}

// windows are a desk and a telephone, by day and by night.
var windows = []window{{1280, "light"}, {1280, "dark"}, {390, "dark"}, {390, "light"}}

// TestEveryViewFitsAndIsAccessible: no view is wider than its window, nor a table than its frame, and axe-core
// finds nothing wrong with any, whatever the width and the colours.
func TestEveryViewFitsAndIsAccessible(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	e.recorded()
	mysql, small := e.Name("mysql"), e.Name("azure")+"/small"
	plan := "plans/cluster/" + e.Name("small")
	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: db}, spec: {serviceType: " + mysql + ", parameters: {size: 5}}}")
	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: access}, spec: {instanceRef: {name: db}}}")
	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: own}, spec: {serviceType: " + mysql + ", provisionParameters: {size: 5}}}")
	address := e.serve(e.Kubeconfig(), "--allow-create")
	b.open(address, "Types on offer")
	root := ask(b, chromedp.Location())
	for _, view := range []struct{ path, heading string }{
		{"", "Types on offer"}, {"types/" + mysql, mysql}, {"plans", "All plans"}, {"plans?type=none", "All plans"}, {"plans?free=perhaps", "There is no such filter"},
		{"plans?namespace=default", "All plans"}, {"?namespace=" + strings.Repeat("long-", 12) + "end", "Types on offer"}, {"?namespace=No", "This names no namespace"},
		{plan, small}, {"instances", "Instances and bindings"}, {"bindings/access", "access"}, {"bindings/own", "own"}, {"types/none", "There is no such thing"}, {"nowhere", "Not Found"},
	} {
		b.open(root+view.path, view.heading)
		b.fits(view.path)
	}
	b.open(root+"instances/db", "db")
	// While something has the focus, the page does not refresh itself under the click.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#main").focus()`))
	b.do(clickOn("//button[normalize-space()='Stop refreshing']"))
	b.fits("an instance that is not ready")
	e.becomesReady("db")
	b.open(root+"instances/db", "db")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => { d.open = true })`))
	b.fits("an instance that is ready, step by step")

	b.open(root+plan+"?type="+mysql, small)
	b.fill("size", "many")
	b.do(clickOn(tryIt))
	b.sees("This is no whole number")
	b.fits("a form with a problem")
	b.fill("size", "65")
	b.send("It would be refused")
	b.fits("a denial")
	b.fill("size", "20")
	b.send("It would be admitted")
	b.fits("a dry run")

	other := newBrowser(t)
	other.open(address, "Forbidden")
	other.fits("an address that was opened before")
	kubeconfig, _ := e.user()
	b.open(e.serve(kubeconfig), "Not shown: you lack rights")
	b.fits("rights that are missing")
}

// tryIt is the button that sends the form.
const tryIt = "//button[normalize-space()='Try it: dry run']"

// fits asserts of the page that is open that it fits each window, and that axe-core finds
// nothing wrong there.
func (b *browser) fits(view string) {
	b.Helper()
	for _, in := range windows {
		where := fmt.Sprintf("%s: %d wide, %s", view, in.width, in.scheme)
		b.do(chromedp.EmulateViewport(in.width, 900), colours(in.scheme))
		assert.Empty(b, ask(b, chromedp.Evaluate[[]string](wider)), "%s: wider than its window", where)
		if axe != "" {
			b.do(chromedp.Evaluate[chromedp.Void](axe))
			assert.Empty(b, ask(b, chromedp.Evaluate[[]string](findings, chromedp.EvalAwaitPromise)), where)
		}
	}
}

const (
	// wider are the page and the frames of tables that one has to scroll sideways.
	wider = `[document.scrollingElement, ...document.querySelectorAll(".wide")].filter(e => e.scrollWidth > Math.min(e.clientWidth, innerWidth)).map(e => e.tagName + " " + e.className + ": " + e.scrollWidth + " of " + e.clientWidth)`
	// findings are those of axe-core: the rule, and where it is broken.
	findings = `axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target + ": " + n.failureSummary)))`
)

// colours shows pages as for a person who prefers a scheme.
func colours(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}
