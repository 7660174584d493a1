// Elements. Text goes in as text and in no other way: whatever a model holds, nothing of it becomes markup.

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const ICONS = {
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  open: "M12 3v6m0 0 3-3m-3 3L9 6M12 21v-6m0 0 3 3m-3-3-3 3M4 12h16",
  unfold: "M12 9V3m0 0 3 3m-3-3L9 6M12 15v6m0 0 3-3m-3 3-3-3M4 12h16",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  code: "m9 8-4 4 4 4m6-8 4 4-4 4",
  panel: "M4 5h16v14H4zM15 5v14",
  list: "M4 6h2M9 6h11M4 12h2M9 12h11M4 18h2M9 18h11",
  help: "M9.5 9.2a2.6 2.6 0 1 1 3.6 2.4c-.8.4-1.1.9-1.1 1.8M12 16.6v.4",
};
function icon(name) {
  const path = drawn("path", {
    d: ICONS[name], fill: name === "theme" ? "none" : "none", stroke: "currentColor", "stroke-width": 1.8,
    "stroke-linecap": "round", "stroke-linejoin": "round",
  });
  return drawn("svg", { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true" }, path);
}
function iconButton(name, title, action, extra = {}) {
  return element("button", { type: "button", title, "aria-label": title, onclick: action, ...extra }, icon(name));
}

// What a sheet has in a small window: a handle that makes it taller, by a tap or by a drag.
function grip(sheet) {
  let from = null;
  return element("button", { type: "button", class: "grip", "aria-label": "Taller or smaller",
    onclick: () => { if (from === null) sheet.classList.toggle("tall"); from = null; },
    onpointerdown: (event) => { from = null; sheet.dataset.grip = String(event.clientY); },
    onpointerup: (event) => {
      const by = event.clientY - Number(sheet.dataset.grip);
      if (Math.abs(by) < 12) return;
      from = by;
      sheet.classList.toggle("tall", by < 0);
    } });
}
function closeButton(title, action) {
  return element("button", { type: "button", class: "close", "aria-label": title, title, text: "×", onclick: action });
}

// Copies where the page may; else selects the text, for the user's own keys.
async function copyText(text, holder) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(holder);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    try { return document.execCommand("copy"); } catch { return false; }
  }
}
