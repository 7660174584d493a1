// Finding nodes: words that all must occur, in names, operators, types, attributes and addresses, of all graphs.
// `op:`, `dtype:`, `shape:`, `name:` and `attr:` before a word ask for that alone. Of two models both are searched, the
// one that the reader is at first.

const SHOWN_RESULTS = 150;

class Search {
  constructor(input, list, onChoose) {
    Object.assign(this, { input, list, onChoose });
    this._known = new Map(); // model -> what was read of it
    this.found = []; // { model, node }
    this.at = -1;
    input.addEventListener("input", () => this.run());
    input.addEventListener("focus", () => this.run());
    input.addEventListener("keydown", (event) => this._key(event));
    document.addEventListener("pointerdown", (event) => {
      if (!list.contains(event.target) && event.target !== input) this.close();
    });
  }

  // The models that are searched, the one that the reader is at first, and what they are called where there are two.
  use(models, names) {
    this.models = models;
    this._names = new Map(models.map((model, k) => [model, names[k]]));
    for (const model of models) if (!this._known.has(model)) this._known.set(model, { index: new Array(model.count), scopes: new Map() });
  }

  _texts(model, node) {
    const { index } = this._known.get(model);
    let found = index[node];
    if (!found) {
      const values = [...model.inputs(node), ...model.outputs(node)].filter((each) => each >= 0);
      const operator = model.raw.operators[model.nodes.operator[node]];
      const types = [...new Set(values.map((each) => `${model.shortType(each)} ${model.valueType(each)}`))].join(" ");
      found = index[node] = {
        name: `${model.name(node)} ${values.map((each) => model.valueName(each)).join(" ")}`.toLowerCase(),
        op: `${model.text(operator[1])}.${model.text(operator[0])}`.toLowerCase(),
        dtype: types.toLowerCase(),
        shape: types.toLowerCase().replaceAll("×", "x").replace(/[[\]' ]/g, "|").replaceAll(",|", "x"),
        attr: model.attributes(node).map(([name, text]) => `${name}=${text}`).join(" ").toLowerCase(),
        address: model.address(node).toLowerCase(),
        scope: this._scope(model, model.nodes.box[node]),
      };
    }
    return found;
  }

  // The labels of the boxes around.
  _scope(model, box) {
    if (box < 0) return "";
    const { scopes } = this._known.get(model);
    let found = scopes.get(box);
    if (found === undefined) {
      const held = model.boxes[box];
      found = `${this._scope(model, held.parent)}.${model.text(held.label)} ${model.text(held.detail)}`.toLowerCase();
      scopes.set(box, found);
    }
    return found;
  }

  find(query, model = this.models[0]) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const at = word.indexOf(":"), key = word.slice(0, at);
      return ["op", "dtype", "shape", "name", "attr"].includes(key) && at > 0 && word.length > at + 1
        ? [key, word.slice(at + 1).replace(/[×*]/g, "x")] : ["", word];
    });
    const result = [];
    for (let node = 0; node < model.count; node++) {
      const texts = this._texts(model, node);
      const fits = words.every(([key, word]) => {
        if (key === "op") return texts.op.endsWith(`.${word}`) || texts.op.includes(word);
        if (key) return texts[key].includes(word);
        const flat = word.replace(/[×*]/g, "x");
        return texts.name.includes(word) || texts.op.includes(word) || texts.dtype.includes(word) || texts.attr.includes(word)
          || texts.shape.includes(flat) || texts.scope.includes(word) || texts.address === word;
      });
      if (fits) result.push(node);
    }
    return result;
  }

  run() {
    const query = this.input.value.trim();
    this.found = this.models.flatMap((model) => this.find(query, model).map((node) => ({ model, node })));
    this.at = query && this.found.length ? 0 : -1;
    this._limit = SHOWN_RESULTS;
    this._show(query);
  }
  _show(query) {
    const rows = [], all = query ? "" : "All ";
    const counts = this.models.map((model) => {
      const name = this._names.get(model), count = this.found.filter((each) => each.model === model).length;
      return name ? `${count ? plural(count, "node") : "none"} in ${name}` : plural(count, "node");
    });
    rows.push(element("p", { class: "found-head", text: `${all}${counts.join(", ")}${query ? "" : "; type to narrow down"}` }));
    if (!this.found.length) {
      rows.push(element("p", { class: "found-none", text: "Nothing is called so. Words are looked for in names, operators, types, shapes (1x64), and attributes (axis=1); op:Conv, dtype:f16, shape:1x64, attr:axis narrow down." }));
    }
    this.found.slice(0, this._limit).forEach((each, k) => rows.push(this._row(each, k)));
    if (this.found.length > this._limit) {
      rows.push(element("button", { type: "button", class: "found-more", text: `${plural(this.found.length - this._limit, "node")} more`,
        onclick: () => { this._limit += 500; this._show(query); } }));
    }
    this.list.replaceChildren(...rows);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }
  _row({ model, node }, k) {
    const name = this._names.get(model), family = FAMILY[model.family(node)], graph = model.nodes.graph[node];
    const where = graph ? ` · in ${model.graphTitle(graph)}` : "";
    return element("button", { type: "button", class: "found-row", "aria-current": k === this.at ? "true" : null, onclick: () => this.choose(k) },
      element("span", { class: `chip chip-${model.family(node)}`, text: family.sign, "aria-hidden": "true" }),
      element("span", { class: "found-op", text: model.operatorName(node) }),
      element("span", { class: "found-name", text: (model.name(node) || `node ${model.address(node)}`) + where + (name ? ` · ${name}` : "") }),
      element("span", { class: "found-type", text: model.outputs(node).length ? model.shortType(model.outputs(node)[0]) : "" }));
  }
  _key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.at = Math.max(0, Math.min(this.found.length - 1, this.at + step));
      if (this.at >= this._limit) { this._limit += 500; this._show(this.input.value.trim()); }
      this.list.querySelectorAll(".found-row").forEach((row, k) => {
        if (k === this.at) { row.setAttribute("aria-current", "true"); row.scrollIntoView({ block: "nearest" }); }
        else row.removeAttribute("aria-current");
      });
    } else if (event.key === "Enter" && this.found.length) {
      event.preventDefault();
      this.choose(Math.max(0, this.at));
    } else if (event.key === "Escape") {
      this.close();
      this.input.blur();
    }
  }
  choose(k) {
    const found = this.found[k];
    this.close();
    if (found) this.onChoose(found.model, found.node);
  }
  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
