"use strict";

// Runs svcat render, compiled to WebAssembly, apart from the page, so that the page stays usable.
importScripts("wasm_exec.js");

const started = (async () => {
	const ready = new Promise((resolve) => { self.svcatReady = resolve; });
	const packed = await fetch("svcat.wasm.packed");
	if (!packed.ok) {
		throw new Error(`the server answered ${packed.status} for svcat.wasm.packed`);
	}
	const program = new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
	const go = new Go();
	const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
	go.run(instance);
	await ready;
})();

onmessage = async ({ data }) => {
	try {
		await started;
		postMessage({ id: data.id, answer: JSON.parse(svcatRender(JSON.stringify(data.input))) });
	} catch (error) {
		postMessage({ id: data.id, failed: String(error) });
	}
};
