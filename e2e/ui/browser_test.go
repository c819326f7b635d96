package ui_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// patience is how long a page may take, on a machine that does much else.
const patience = 60 * time.Second

// startBrowser starts a real browser with an empty profile in a folder. Its tests have a
// window each, and cookies of their own.
func startBrowser(ctx context.Context, path, folder string) (browser context.Context, end func() error, err error) {
	flags := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(folder), chromedp.WindowSize(1100, 1400)}
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync",
	} {
		flags = append(flags, chromedp.Flag(name, true))
	}
	allocated, release := chromedp.NewExecAllocator(ctx, flags...)
	browser, closeFirst := chromedp.NewContext(allocated)
	end = func() error {
		defer release()
		defer closeFirst()
		return chromedp.Cancel(browser)
	}
	return browser, end, chromedp.Do(browser)
}

// A browser is a person's, who has none of the others' cookies. It remembers what pages
// did besides showing text.
type browser struct {
	*testing.T

	ctx context.Context

	mutex sync.Mutex
	// requests are the addresses that were asked for, dialogs the texts of those that
	// opened, and complaints what its console was told.
	requests, dialogs, complaints []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	ctx, end := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	b := &browser{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.watch))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	return b
}

// watch remembers what a page does.
func (b *browser) watch(event any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		b.requests = append(b.requests, e.URL)
	case *page.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, e.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		// Of every page that is not 200 it says so: those are ours, too.
		if e.Entry.Source != log.EntrySourceNetwork {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

// do runs actions; the test fails if one of them does.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ask(b, chromedp.Steps(actions...))
}

// ask runs an action that answers.
func ask[T any](b *browser, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, wait.Patience(patience))
	defer cancel()
	answer, err := chromedp.Run(ctx, action)
	if err != nil {
		require.NoError(b, err, "the page is:\n%s", b.seen())
	}
	return answer
}

// open goes to an address and waits for its heading.
func (b *browser) open(address, heading string) {
	b.Helper()
	b.do(chromedp.Navigate(address))
	b.arrives(heading)
}

// arrives waits for the page of a heading.
func (b *browser) arrives(heading string) {
	b.Helper()
	b.do(chromedp.WaitVisible("//h1[normalize-space()=" + quoted(heading) + "]"))
}

// click clicks the first link or button of that text, and waits for a page.
func (b *browser) click(text, heading string) {
	b.Helper()
	named := quoted(text)
	b.do(chromedp.Click("(//main//a|//nav//a|//main//button)[normalize-space()=" + named + "]"))
	b.arrives(heading)
}

// fill types into the field of a label.
func (b *browser) fill(label, text string) {
	b.Helper()
	named := "//label[starts-with(normalize-space()," + quoted(label) + ")]/following-sibling::*[self::input or self::textarea]"
	b.do(chromedp.SetValue(named, text))
}

// send sends the form, and waits for the result.
func (b *browser) send(result string) {
	b.Helper()
	b.do(
		chromedp.Click("//button[normalize-space()='Try it: dry run']"),
		chromedp.WaitVisible("//h2[@id='result-title'][normalize-space()="+quoted(result)+"]"),
	)
}

// text is what an element shows.
func (b *browser) text(selector string) string {
	b.Helper()
	return ask(b, chromedp.Text(chromedp.CSS(selector)))
}

// seen is what the page shows, for a failure.
func (b *browser) seen() string {
	ctx, cancel := context.WithTimeout(b.ctx, wait.Patience(patience/10))
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	return text
}

// rows are the cells of a table, row by row.
func (b *browser) rows(table string) [][]string {
	b.Helper()
	return ask(b, chromedp.Evaluate[[][]string](`[...document.querySelectorAll("`+table+` tbody tr")].map(r => [...r.cells].map(c => c.innerText.trim()))`))
}

// behaved asserts that nothing but the site was asked for, that nothing opened and that
// the console was told nothing.
func (b *browser) behaved(address string) {
	b.Helper()
	site, err := url.Parse(address)
	require.NoError(b, err)
	b.mutex.Lock()
	defer b.mutex.Unlock()
	assert.NotEmpty(b, b.requests)
	for _, request := range b.requests {
		assert.True(b, strings.HasPrefix(request, "http://"+site.Host+"/"), "asked for %s", request)
	}
	assert.Empty(b, b.dialogs)
	assert.Empty(b, b.complaints)
}

// quoted is a text in XPath.
func quoted(text string) string {
	if !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// clickOn clicks an element.
func clickOn(path string) chromedp.Action[chromedp.Void] { return chromedp.Click(path) }

// sees waits until the page shows a text.
func (b *browser) sees(text string) {
	b.Helper()
	b.do(chromedp.WaitVisible("//main//*[contains(normalize-space(text())," + quoted(text) + ")]"))
}

// choose takes the option of that value in the choice of a label.
func (b *browser) choose(label, value string) {
	b.Helper()
	b.do(chromedp.SetValue("//label[starts-with(normalize-space(),"+quoted(label)+")]/following-sibling::select", value))
}

// oneLine is text without its line ends.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
