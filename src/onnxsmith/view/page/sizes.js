// How large a node, a closed box or a port is, and what is written on it.

const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const TITLE_FONT = `600 13px ${FONT}`;
const SMALL_FONT = `11px ${FONT}`;
const ROW_FONT = `10.5px ${MONO}`;

const CHIP = 22, PADDING = 8, NARROWEST = 92, WIDEST = 250, ROW = 15, MOST_ROWS = 4;

class Measurer {
  constructor() {
    this._context = document.createElement("canvas").getContext("2d");
    this._widths = new Map();
  }
  width(text, font) {
    const key = font + text;
    let found = this._widths.get(key);
    if (found === undefined) {
      this._context.font = font;
      found = this._context.measureText(text).width;
      this._widths.set(key, found);
    }
    return found;
  }
  // The text as far as it fits.
  fit(text, font, most) {
    if (this.width(text, font) <= most) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.width(text.slice(0, middle) + "…", font) <= most) low = middle; else high = middle - 1;
    }
    return text.slice(0, low) + "…";
  }
}

// What stands on each kind of item: {title, detail, rows, width, height}. Equal nodes share one.
class Faces {
  constructor(model) {
    this.model = model;
    this.measurer = new Measurer();
    this._nodes = new Array(model.count);
    this._shared = new Map();
    this._boxes = new Map();
    this._ports = new Map();
  }

  node(node) {
    const found = this._nodes[node];
    if (found) return found;
    const model = this.model;
    const rows = this._rows(node);
    const title = model.operatorName(node), detail = model.summary(node), opens = model.opens(node);
    const key = `${title}\n${detail}\n${opens}\n${rows.map((row) => row.join(" ")).join("\n")}`;
    let face = this._shared.get(key);
    if (!face) {
      face = this._made(title, detail, rows, opens);
      this._shared.set(key, face);
    }
    this._nodes[node] = face;
    return face;
  }

  _rows(node) {
    const model = this.model, rows = [];
    let operator = null, more = 0;
    model.inputs(node).forEach((value, k) => {
      if (!model.isWeight(value)) return;
      if (rows.length === MOST_ROWS) { more++; return; }
      operator = operator || model.operator(node);
      const weight = model.weight(value);
      const text = weight.text && weight.count <= 4 ? this.model.text(weight.text) : model.shortType(value);
      rows.push([model.inputName(operator, k), text]);
    });
    if (more) rows.push(["…", `${more} more`]);
    return rows;
  }

  _made(title, detail, rows, opens) {
    const m = this.measurer;
    const most = WIDEST - CHIP - 3 * PADDING;
    title = m.fit(title, TITLE_FONT, most - (opens ? 18 : 0));
    detail = m.fit(detail, SMALL_FONT, most);
    const keys = rows.reduce((width, row) => Math.max(width, m.width(row[0], ROW_FONT)), 0);
    const key = Math.min(keys, 80);
    rows = rows.map(([name, text]) => [m.fit(name, ROW_FONT, 80), m.fit(text, ROW_FONT, WIDEST - key - 3 * PADDING)]);
    const rowWidth = rows.reduce((width, row) => Math.max(width, key + PADDING + m.width(row[1], ROW_FONT)), 0);
    const head = Math.max(m.width(title, TITLE_FONT) + (opens ? 20 : 0), m.width(detail, SMALL_FONT));
    const width = Math.max(NARROWEST, head + CHIP + 3 * PADDING, rowWidth + 2 * PADDING);
    const headHeight = detail ? 38 : 32;
    const height = headHeight + (rows.length ? rows.length * ROW + 7 : 0);
    return { title, detail, rows, key, opens, headHeight, width: Math.ceil(width), height };
  }

  box(number) {
    let face = this._boxes.get(number);
    if (!face) {
      const held = this.model.boxes[number], m = this.measurer;
      const title = m.fit(this.model.text(held.label) || "graph", TITLE_FONT, 200);
      const kind = this.model.text(held.detail);
      const detail = m.fit((kind ? `${kind} · ` : "") + plural(held.count, "node"), SMALL_FONT, 220);
      const width = Math.max(120, Math.max(m.width(title, TITLE_FONT) + 22, m.width(detail, SMALL_FONT)) + 3 * PADDING);
      face = { title, detail, rows: [], opens: true, headHeight: 44, width: Math.ceil(width), height: 44 };
      this._boxes.set(number, face);
    }
    return face;
  }

  // A port of the model itself shows name and type; of a function or body its name; of a module nothing.
  port(value, kind, style) {
    const key = `${value},${kind},${style}`;
    let face = this._ports.get(key);
    if (!face) {
      const m = this.measurer;
      if (style === "dot") face = { title: "", detail: "", width: 10, height: 10 };
      else {
        const title = m.fit(this.model.valueName(value) || "value", style === "full" ? TITLE_FONT : SMALL_FONT, 180);
        const detail = style === "full" ? m.fit(this.model.shortType(value), SMALL_FONT, 200) : "";
        const width = Math.max(m.width(title, style === "full" ? TITLE_FONT : SMALL_FONT), m.width(detail, SMALL_FONT));
        face = { title, detail, width: Math.ceil(width) + (style === "full" ? 30 : 18), height: style === "full" ? 40 : 20 };
      }
      this._ports.set(key, face);
    }
    return face;
  }
}
