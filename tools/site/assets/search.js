"use strict";

// What a section scores for each word of the query: where the word is in the title of the
// page, in the heading, and in the text. Titles are what authors chose to be found by.
const inTitle = 12, inHeading = 8, inText = 1, mostInText = 4, phrase = 3;

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

// countOf is how many words of a text begin as one of the query does.
const countOf = (words, asked) => words.filter((word) => word.startsWith(asked)).length;

function score([, title, heading, text], asked) {
	const places = [wordsOf(title), wordsOf(heading), wordsOf(text)];
	let sum = 0;
	for (const word of asked) {
		const counts = places.map((words) => countOf(words, word));
		if (counts.every((count) => count === 0)) {
			return 0;
		}
		sum += (counts[0] && inTitle) + (counts[1] && inHeading) + Math.min(counts[2] * inText, mostInText);
	}
	const together = places.some((words) => ` ${words.join(" ")}`.includes(` ${asked.join(" ")}`));
	return together ? sum * phrase : sum;
}

// search gives the sections with all words of a query, the best first, one for each page.
function search(query) {
	const asked = wordsOf(query);
	if (asked.length === 0) {
		return [];
	}
	const found = sections.map((section) => ({ section, score: score(section, asked) })).filter((one) => one.score > 0);
	found.sort((a, b) => b.score - a.score);
	const pages = new Set();
	return found.map((one) => one.section).filter(([address]) => {
		const page = address.split("#")[0];
		return !pages.has(page) && pages.add(page);
	});
}

// excerpt is the text around the first word of the query.
function excerpt(text, asked) {
	const at = Math.max(0, text.toLowerCase().indexOf(asked[0]) - 80);
	return (at > 0 ? "… " : "") + text.slice(at, at + 240) + (text.length > at + 240 ? " …" : "");
}

function show(query) {
	const found = search(query);
	document.getElementById("q").value = query;
	document.getElementById("found").textContent = query === "" ? "Type what to look for." : `${found.length} pages have “${query}”.`;
	document.getElementById("results").replaceChildren(...found.slice(0, 30).map(([address, title, heading, text]) => {
		const item = document.createElement("li"), link = document.createElement("a"), shown = document.createElement("p");
		link.href = address;
		link.textContent = heading === title ? title : `${title}: ${heading}`;
		shown.textContent = excerpt(text, wordsOf(query));
		item.append(link, shown);
		return item;
	}));
}

show(new URLSearchParams(location.search).get("q") ?? "");
