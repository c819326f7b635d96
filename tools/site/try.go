package main

import (
	"compress/gzip"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tryBody is the page on which try.js runs svcat render in the browser. It begins with a request by
// type, to which a class and two plans have defaults.
const tryBody template.HTML = `<h1>Try it</h1>
<p>What would admission make of your manifests? The code of the webhook answers here, in your browser, as
<a href="docs/svcat.html#svcat-render">svcat render</a> does from files: nothing is sent anywhere. Write the catalog (classes, plans,
types, policies, namespaces, or a broker's own catalog as JSON with its ClusterServiceBroker named catalog) on the left, and below it
the instances and bindings.</p>
<form id="try" class="try">
<div>
<label for="catalog">Catalog and policies</label>
<textarea id="catalog" rows="24" spellcheck="false">apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-mysql}
spec:
  clusterServiceBrokerName: azure
  externalName: azure-mysql
  externalID: 997b8372-8dac-40ac-ae65-758b4a5075a5
  description: MySQL on Azure
  bindable: true
  serviceType: mysql
  defaultProvisionParameters: {location: eastus, backup: {days: 7, hour: 3}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata:
  name: basic50
  annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}
spec:
  clusterServiceBrokerName: azure
  clusterServiceClassRef: {name: azure-mysql}
  externalName: basic50
  externalID: 427559f1-bf2a-45d3-8844-32374a3e58aa
  description: Basic tier, 50 units
  free: false
  defaultProvisionParameters: {backup: {days: 14}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: premium}
spec:
  clusterServiceBrokerName: azure
  clusterServiceClassRef: {name: azure-mysql}
  externalName: premium
  externalID: edc2badc-d93b-4d9c-9d8e-da2f1c8c3e1c
  description: Premium tier
  free: false
</textarea>
<label for="manifests">Instances and bindings</label>
<textarea id="manifests" rows="9" spellcheck="false">apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: orders}
spec:
  serviceType: mysql
  parameters: {location: westeurope}
</textarea>
<p><label for="namespace">Namespace</label> <input id="namespace" value="default" size="20" />
<button id="run">Render</button> <a id="link" href="#">Link to this</a></p>
</div>
<div>
<p id="state" role="status">This page needs JavaScript and WebAssembly.</p>
<ul id="messages"></ul>
<h2>As stored</h2>
<pre tabindex="0"><code id="objects"></code></pre>
<h2>Where parameters come from</h2>
<table id="origins"><thead><tr><th>Object</th><th>Parameter</th><th>From</th></tr></thead><tbody></tbody></table>
</div>
</form>
`

// rendererName is the program that the page runs, packed by gzip. It has no suffix that a server would
// take for an encoding, which a browser would undo.
const rendererName = "assets/svcat.wasm.packed"

// buildRenderer compiles svcat render to WebAssembly into a site.
func buildRenderer(project, out string) error {
	folder, err := os.MkdirTemp("", "renderer")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is for this only
	program := filepath.Join(folder, "svcat.wasm")
	// Without inlining it is a sixth smaller.
	compile := exec.Command("go", "build", "-gcflags=all=-l", "-ldflags", "-s -w", "-o", program, "./cmd/svcat/browser")
	compile.Dir, compile.Stderr = project, os.Stderr
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off")
	if err := compile.Run(); err != nil {
		return fmt.Errorf("cannot compile svcat render to WebAssembly: %w", err)
	}
	if err := pack(program, filepath.Join(out, filepath.FromSlash(rendererName))); err != nil {
		return fmt.Errorf("cannot pack svcat render: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("cannot find GOROOT: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	return writeFile(out, "assets/wasm_exec.js", glue)
}

// pack writes a file compressed by gzip.
func pack(from, to string) (err error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := packed.Write(content); err != nil {
		return err
	}
	return packed.Close()
}
