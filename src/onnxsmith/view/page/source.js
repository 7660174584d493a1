// The Python lines that made the nodes. A line that made some is a button.

class SourcePane {
  constructor(model, onLine, onClose) {
    this.holder = element("div", { class: "source-of" });
    this.model = model;
    this.files = model.raw.sources.files;
    this.onLine = onLine;
    this.onClose = onClose;
    this.file = -1;
    this._byLine = new Map(); // "file:line" -> nodes
    Object.entries(model.raw.sources.spans).forEach(([node, spans]) => {
      for (let i = 0; i < spans.length; i += 5)
        for (let line = spans[i + 1]; line <= Math.min(spans[i + 3], spans[i + 1] + 60); line++) {
          const key = `${spans[i]}:${line}`;
          if (!this._byLine.has(key)) this._byLine.set(key, []);
          this._byLine.get(key).push(Number(node));
        }
    });
  }
  get isEmpty() { return !this.files.length; }

  // The places of a node: those in the source that is shown, and what the file claims.
  places(node) {
    const { spans, claims } = this.model.raw.sources, result = [];
    const own = spans[node] || [];
    for (let i = 0; i < own.length; i += 5) {
      const file = this.files[own[i]];
      const line = this.model.text(file.lines[own[i + 1] - file.first]) || "";
      result.push({ text: `${this.model.text(file.name).split("/").pop()}:${own[i + 1]}`, line: line.trim(), claim: false });
    }
    if (claims[node]) result.push({ text: this.model.text(claims[node]), claim: true });
    return result;
  }

  show(file) {
    if (file === this.file) return;
    this.file = file;
    const held = this.files[file], model = this.model;
    const choice = element("select", { "aria-label": "File", onchange: () => this.show(Number(choice.value)) },
      ...this.files.map((each, k) => element("option", { value: k, text: model.text(each.name), selected: k === file })));
    const list = element("ol", { class: "lines", start: held.first });
    held.lines.forEach((text, k) => {
      const number = held.first + k, nodes = this._byLine.get(`${file}:${number}`);
      const row = element("li", { "data-line": number });
      const content = [element("span", { class: "line-number", text: number }), element("code", {}, ...coloured(model.text(text)))];
      if (nodes) row.append(element("button", { type: "button", class: "line has-nodes", title: plural(nodes.length, "node"), onclick: () => this.choose(file, number) }, ...content,
        element("span", { class: "line-count", text: nodes.length })));
      else row.append(element("div", { class: "line" }, ...content));
      list.append(row);
    });
    const last = held.first + held.lines.length - 1;
    this.holder.replaceChildren(element("div", { class: "source-head" }, choice, closeButton("Close source (S)", this.onClose)),
      element("div", { class: "source-lines" }, leftOut(1, held.first - 1), list, leftOut(last + 1, held.total)));
  }

  choose(file, line) {
    this._light([[file, line, line]]);
    this.onLine(this._byLine.get(`${file}:${line}`) || [], `${this.model.text(this.files[file].name)}:${line}`);
  }

  // Lights the lines of a node and brings them into sight.
  follow(node) {
    const spans = this.model.raw.sources.spans[node] || [];
    if (!spans.length) { this._light([]); return false; }
    this.show(spans[0]);
    const places = [];
    for (let i = 0; i < spans.length; i += 5) if (spans[i] === this.file) places.push([spans[i], spans[i + 1], spans[i + 3]]);
    this._light(places);
    const first = this.holder.querySelector("li.lit");
    if (first) first.scrollIntoView({ block: "center" });
    return true;
  }
  _light(places) {
    for (const row of this.holder.querySelectorAll("li.lit")) row.classList.remove("lit");
    for (const [, from, to] of places)
      for (let line = from; line <= Math.min(to, from + 60); line++) {
        const row = this.holder.querySelector(`li[data-line="${line}"]`);
        if (row) row.classList.add("lit");
      }
  }
}

// The page has the lines around those that made nodes; which it does not have is said.
function leftOut(from, to) {
  if (to < from) return null;
  return element("p", { class: "lines-left-out", text: from === to ? `⋯ line ${from} is not in this page` : `⋯ lines ${from} to ${to} are not in this page` });
}

const PYTHON = /(#.*$)|("""|'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(def|class|return|if|elif|else|for|while|in|not|and|or|is|import|from|as|with|pass|break|continue|lambda|None|True|False|self|yield|raise|try|except|finally)\b|\b(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b/g;

// The words of a line in their colours.
function coloured(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(PYTHON)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    const kind = match[1] ? "comment" : match[2] ? "string" : match[3] ? "word" : "number";
    parts.push(element("span", { class: `py-${kind}`, text: match[0] }));
    at = match.index + match[0].length;
  }
  if (at < text.length || !parts.length) parts.push(text.slice(at) || " ");
  return parts;
}
