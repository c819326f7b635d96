"use strict";

const fields = ["catalog", "manifests", "namespace"];
const element = (id) => document.getElementById(id);
const waiting = new Map();
let worker, asked = 0;

// render gives what svcat render makes of an input.
function render(input) {
	asked++;
	worker.postMessage({ id: asked, input });
	return new Promise((resolve) => waiting.set(asked, resolve));
}

function received({ data }) {
	if (data.id) {
		waiting.get(data.id)(data.answer);
		waiting.delete(data.id);
	} else if (data.failed) {
		element("state").textContent = `The renderer cannot be loaded: ${data.failed}.`;
	}
}

const written = () => Object.fromEntries(fields.map((id) => [id, element(id).value]));

const cells = (row) => row.map((text) => {
	const cell = document.createElement("td");
	cell.textContent = text;
	return cell;
});

function show(answer) {
	element("objects").textContent = answer.objects;
	element("told").replaceChildren(...(answer.told ?? []).map((line) => {
		const item = document.createElement("li");
		item.textContent = line;
		return item;
	}));
	const rows = (answer.origins ?? []).flatMap((of) => of.parameters.map(([path, from]) => [of.object, path.replace(/:$/, ""), from]));
	element("origins").tBodies[0].replaceChildren(...rows.map((row) => {
		const line = document.createElement("tr");
		line.append(...cells(row));
		return line;
	}));
}

async function run() {
	element("state").textContent = "Rendering …";
	show(await render(written()));
	element("state").textContent = "This is what admission would make of it.";
}

// A link carries the input behind its #, which a browser sends to no server.
async function streamed(bytes, through) {
	return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());
}

async function linkTo(input) {
	const packed = await streamed(new TextEncoder().encode(JSON.stringify(input)), new CompressionStream("deflate-raw"));
	let text = "";
	for (const byte of packed) {
		text += String.fromCharCode(byte);
	}
	return "#" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function inputOf(link) {
	const packed = Uint8Array.from(atob(link.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
	return JSON.parse(new TextDecoder().decode(await streamed(packed, new DecompressionStream("deflate-raw"))));
}

// follow fills in what the address carries.
async function follow() {
	if (location.hash.length < 2) {
		return;
	}
	try {
		const input = await inputOf(location.hash);
		for (const id of fields) {
			element(id).value = String(input[id] ?? "");
		}
	} catch {
		element("told").replaceChildren("The link is damaged: it carries no input.");
	}
}

async function begin() {
	await follow();
	if (location.protocol === "file:") {
		element("state").textContent = "A browser loads no WebAssembly from the disk: serve this folder by HTTP, on your own machine too.";
		return;
	}
	element("state").textContent = "Loading the renderer, about 11 MB …";
	worker = new Worker("assets/try-worker.js");
	worker.onmessage = received;
	worker.onerror = (event) => received({ data: { failed: event.message } });
	await run();
}

element("try").addEventListener("submit", (event) => {
	event.preventDefault();
	run();
});
element("link").addEventListener("click", async (event) => {
	event.preventDefault();
	history.replaceState(null, "", await linkTo(written()));
	element("state").textContent = "The address of this page carries what is written here.";
});
window.addEventListener("hashchange", async () => {
	await follow();
	await run();
});
const begun = begin();
