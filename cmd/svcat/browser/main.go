//go:build js && wasm

// Command browser is svcat render for a page: WebAssembly that answers a catalog and manifests. The
// page of the site that runs it is tools/site/assets/try.js.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/trial"
)

func main() {
	js.Global().Set("svcatRender", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var in trial.Input
		if err := json.Unmarshal([]byte(args[0].String()), &in); err != nil {
			return err.Error()
		}
		answer, err := json.Marshal(trial.Run(context.Background(), in))
		if err != nil {
			return err.Error()
		}
		return string(answer)
	}))
	js.Global().Call("svcatReady")
	select {}
}
