package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpus are the objects that e2e/svcat compares svcat render with a cluster by.
const corpus = "../../e2e/svcat/testdata/render"

// mostPacked is how large the renderer may be as it is fetched, in bytes.
const mostPacked = 12_000_000

// An input is what a person writes on the page.
type input struct {
	Catalog   string `json:"catalog"`
	Manifests string `json:"manifests"`
	Namespace string `json:"namespace"`
}

// An answer is what the page gets from the renderer.
type answer struct {
	Objects  string   `json:"objects"`
	Messages []string `json:"messages"`
	Origins  []struct {
		Object     string      `json:"object"`
		Parameters [][2]string `json:"parameters"`
	} `json:"origins"`
}

// tried is what the page reports to the test.
type tried struct {
	Failed  string            `json:"failed"`
	Answers map[string]answer `json:"answers"`
	// Shown is the text of the page after it opened, Written what was written on it, and Linked what a
	// link to the corpus carries.
	Shown   map[string]string `json:"shown"`
	Written input             `json:"written"`
	Linked  input             `json:"linked"`
	// Damaged is what is said of a link that carries nothing.
	Damaged string `json:"damaged"`
	// Took are the milliseconds until the first answer.
	Took float64 `json:"took"`
}

// report has the page answer every input of inputs.json.
const report = `begun.then(async () => {
	const took = performance.now();
	const inputs = await (await fetch("inputs.json")).json();
	const answers = {};
	const shown = Object.fromEntries(["state", "objects", "messages", "origins"].map((id) => [id, element(id).innerText]));
	for (const [name, input] of Object.entries(inputs)) {
		answers[name] = await render(input);
	}
	const linked = await inputOf(await linkTo(inputs.corpus)), before = written();
	history.replaceState(null, "", "#damaged");
	await begin();
	return { answers, shown, took, linked, written: before, damaged: [element("state"), element("objects")].map((e) => e.innerText).join("") };
}).catch((error) => ({ failed: String(error) })).then((body) => fetch("report", { method: "POST", body: JSON.stringify(body) }));`

// TestTry opens the page in Chromium and compares what it answers with what svcat render prints: for
// all objects of the corpus, the examples of the pages, and what the page begins with.
func TestTry(t *testing.T) {
	t.Parallel()
	chromium := findChromium(t)
	site := t.TempDir()
	_, err := build("../..", site)
	require.NoError(t, err)
	require.NoError(t, buildRenderer("../..", site))
	packed, err := os.Stat(filepath.Join(site, rendererName))
	require.NoError(t, err)
	assert.LessOrEqual(t, packed.Size(), int64(mostPacked))

	inputs := inputsOf(t)
	got := openTry(t, chromium, site, inputs)
	require.Empty(t, got.Failed)
	t.Logf("the first answer after %.0f ms", got.Took)
	svcat := filepath.Join(t.TempDir(), "svcat")
	compile := exec.Command("go", "build", "-o", svcat, "./cmd/svcat")
	compile.Dir, compile.Env = "../..", append(os.Environ(), "GOWORK=off")
	output, err := compile.CombinedOutput()
	require.NoError(t, err, string(output))
	for name, in := range inputs {
		stdout, stderr := rendered(t, svcat, in)
		assert.Equal(t, stdout, got.Answers[name].Objects, name)
		assert.Equal(t, stderr, strings.Join(append(got.Answers[name].Messages, ""), "\n"), name)
	}
	assert.Greater(t, strings.Count(got.Answers["corpus"].Objects, "\n---\n"), 40, "the corpus is worth it")
	assert.Equal(t, inputs["corpus"], got.Linked)
	assert.Equal(t, "The link is damaged: it carries no input.", got.Damaged)

	begins := got.Answers["page"]
	assert.Equal(t, inputs["page"], got.Written)
	assert.Equal(t, "This is what admission would make of it.", got.Shown["state"])
	assert.Equal(t, strings.TrimSpace(begins.Objects), strings.TrimSpace(got.Shown["objects"]))
	require.Len(t, begins.Origins, 1)
	assert.Equal(t, "ServiceInstance default/orders", begins.Origins[0].Object)
	assert.Equal(t, [][2]string{{"backup/days:", "plan"}, {"backup/hour:", "class"}, {"location:", "user"}}, begins.Origins[0].Parameters)
	assert.Contains(t, got.Shown["origins"], "backup/days\tplan")
}

// inputsOf are the inputs by name: those of the page, of the corpus and of the examples.
func inputsOf(t *testing.T) map[string]input {
	t.Helper()
	read := func(name string) string {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(content)
	}
	field := func(id string) string {
		found := regexp.MustCompile(`(?s)<textarea id="` + id + `"[^>]*>(.*?)</textarea>`).FindStringSubmatch(string(tryBody))
		require.NotNil(t, found, id)
		return html.UnescapeString(found[1])
	}
	inputs := map[string]input{
		"page":   {Catalog: field("catalog"), Manifests: field("manifests"), Namespace: "default"},
		"corpus": {Catalog: read(filepath.Join(corpus, "catalog.yaml")), Manifests: read(filepath.Join(corpus, "objects.yaml")), Namespace: "dev"},
		"broken": {Manifests: "a: b"},
		"none":   {},
		"hostile": {Catalog: field("catalog"), Namespace: "default",
			Manifests: "{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: \"<img src=x onerror=alert(1)>\"}}"},
	}
	examples, err := filepath.Glob("../../docs/examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		inputs[filepath.Base(example)] = input{Catalog: field("catalog"), Manifests: read(example), Namespace: "default"}
	}
	return inputs
}

// openTry serves the site, opens its page in Chromium, and returns what that reports.
func openTry(t *testing.T, chromium, site string, inputs map[string]input) tried {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(site, "try.html"))
	require.NoError(t, err)
	more := `<script src="report.js" defer="defer"></script></head>`
	require.NoError(t, writeFile(site, "try.html", []byte(strings.Replace(string(page), "</head>", more, 1))))
	require.NoError(t, writeFile(site, "report.js", []byte(report)))
	text, err := json.Marshal(inputs)
	require.NoError(t, err)
	require.NoError(t, writeFile(site, "inputs.json", text))

	reports := make(chan tried, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(site)))
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		var got tried
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			got.Failed = err.Error()
		}
		reports <- got
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	profile, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // a child of Chromium may still write to it
	browser := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+profile, "--remote-debugging-port=0", server.URL+"/try.html")
	var said bytes.Buffer
	browser.Stderr = &said
	require.NoError(t, browser.Start())
	ended := make(chan error, 1)
	go func() { ended <- browser.Wait() }()
	t.Cleanup(func() {
		_ = browser.Process.Kill() // it may have ended
		<-ended
	})
	select {
	case got := <-reports:
		return got
	case err := <-ended:
		ended <- err
		t.Fatalf("Chromium ended: %v\n%s", err, &said)
	}
	return tried{}
}

// rendered is what svcat render prints for an input in files.
func rendered(t *testing.T, svcat string, in input) (stdout, stderr string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, writeFile(folder, "catalog.yaml", []byte(in.Catalog)))
	require.NoError(t, writeFile(folder, "manifests.yaml", []byte(in.Manifests)))
	command := exec.CommandContext(t.Context(), svcat, "render", "-f", "catalog.yaml", "-f", "manifests.yaml", "-n", in.Namespace)
	command.Dir = folder
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	if err := command.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.True(t, errors.As(err, &exit), "%v", err)
	}
	return out.String(), messages.String()
}
