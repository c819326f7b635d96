// What a page can do without, made where it is missed: buttons that copy, and fields
// that narrow a table. Texts are only ever set as text.
"use strict";

function copyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(block);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      button.textContent = "Selected: copy it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const frame = document.createElement("div");
  frame.className = "copyable";
  block.replaceWith(frame);
  frame.append(block, button);
}

function filterField(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 6) {
    return;
  }
  const label = document.createElement("label");
  label.className = "filter";
  label.textContent = "Show " + table.dataset.filter + " with ";
  const input = document.createElement("input");
  input.type = "search";
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    }
  });
  label.append(input);
  table.closest(".wide").before(label);
}

document.querySelectorAll("[data-copy]").forEach(copyButton);
document.querySelectorAll("table[data-filter]").forEach(filterField);
document.getElementById("result")?.focus();
