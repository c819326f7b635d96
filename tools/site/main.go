// Command site writes README.md, the other pages of the root and docs/ as HTML into bin/site.
// A browser opens it from the disk: nothing is fetched, and the search needs no server. Only the page
// that renders manifests needs one, because no browser loads WebAssembly from the disk.
package main

import (
	"fmt"
	"os"
)

func main() {
	const project, out = "../..", "../../bin/site"
	pages, err := build(project, out)
	if err == nil {
		err = buildRenderer(project, out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages; open bin/site/index.html\n", pages)
}
