// What a page can do without, made where it is missed: buttons that copy, fields that narrow
// a table, the age of what is shown, and a page that loads itself again while an instance is
// on its way. Texts are only ever set as text.
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

const shownAt = Date.now();

// Of one clock only: the page may come from another machine, through a tunnel.
function showAge(time) {
  const seconds = Math.round((Date.now() - shownAt) / 1000);
  time.textContent = seconds < 60 ? seconds + " s ago" : Math.floor(seconds / 60) + " min ago";
}

function keepAge(time) {
  time.title = time.textContent;
  showAge(time);
  setInterval(showAge, 1000, time);
}

// The page loads itself again, but not under the hands of a person: neither while something
// on it has the focus, nor once it was told to stop.
function follow(notice) {
  const line = document.createElement("p");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = "Stop refreshing";
  const timer = setInterval(() => {
    if (document.activeElement === document.body) {
      location.reload();
    }
  }, 3000);
  button.addEventListener("click", () => {
    clearInterval(timer);
    line.textContent = "This page no longer refreshes itself.";
  });
  line.append("This page refreshes itself. ", button);
  notice.append(line);
}

document.querySelectorAll("[data-age]").forEach(keepAge);
document.querySelectorAll("[data-pending]").forEach(follow);
document.querySelectorAll("[data-copy]").forEach(copyButton);
document.querySelectorAll("table[data-filter]").forEach(filterField);
document.getElementById("result")?.focus();
