"use strict";

const fields = ["catalog", "manifests", "namespace"];
const element = (id) => document.getElementById(id);
const waiting = new Map();
// How many bytes a link may carry once they are unpacked.
const mostLinked = 1 << 20;
let worker, asked = 0;

// render gives what svcat render makes of an input.
function render(input) {
	asked++;
	worker.postMessage({ id: asked, input });
	return new Promise((resolve, reject) => waiting.set(asked, { resolve, reject }));
}

function received({ id, answer, failed }) {
	const { resolve, reject } = waiting.get(id);
	waiting.delete(id);
	if (failed) {
		reject(failed);
	} else {
		resolve(answer);
	}
}

// stopped ends all that waits for a worker that ended.
function stopped(failed) {
	for (const id of [...waiting.keys()]) {
		received({ id, failed });
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
	element("messages").replaceChildren(...(answer.messages ?? []).map((line) => {
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
	if (!worker) {
		return;
	}
	element("state").textContent = "Rendering … (the renderer is 11 MB)";
	try {
		show(await render(written()));
		element("state").textContent = "This is what admission would make of it.";
	} catch (failed) {
		show({ objects: "" });
		element("state").textContent = `It cannot be rendered here: ${failed}.`;
	}
}

// A link carries the input behind its #, which a browser sends to no server.
async function streamed(bytes, through) {
	const all = [];
	let length = 0;
	for await (const chunk of new Blob([bytes]).stream().pipeThrough(through)) {
		length += chunk.length;
		if (length > mostLinked) {
			throw new Error("too large");
		}
		all.push(chunk);
	}
	return new Uint8Array(await new Blob(all).arrayBuffer());
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

// follow fills in what the address carries, and says whether it could.
async function follow() {
	if (location.hash.length < 2) {
		return true;
	}
	try {
		const input = await inputOf(location.hash);
		for (const id of fields) {
			element(id).value = String(input[id] ?? "");
		}
		return true;
	} catch {
		for (const id of fields) {
			element(id).value = "";
		}
		show({ objects: "" });
		element("state").textContent = "The link is damaged: it carries no input.";
		return false;
	}
}

async function begin() {
	const followed = await follow();
	if (location.protocol === "file:") {
		element("state").textContent = "A browser loads no WebAssembly from the disk: serve this folder by HTTP, on your own machine too.";
		return;
	}
	worker = new Worker("assets/try-worker.js");
	worker.onmessage = ({ data }) => received(data);
	worker.onerror = (event) => stopped(event.message);
	if (followed) {
		await run();
	}
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
	if (await follow()) {
		await run();
	}
});
const begun = begin();
