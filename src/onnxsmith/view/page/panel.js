// What is known of the chosen node, box or port; of the model while nothing is chosen.

class Panel {
  constructor(holder, model, actions) {
    this.holder = holder;
    this.model = model;
    this.actions = actions; // { select(node), open(node), source(node) }
  }

  _fill(title, kind, ...parts) {
    this.holder.replaceChildren(grip(this.holder),
      element("div", { class: "panel-head" }, ...kind, element("h2", { text: title }), closeButton("Close details", () => this.actions.close())),
      element("div", { class: "panel-body", tabindex: 0 }, ...parts.filter(Boolean)));
    this.holder.querySelector(".panel-body").scrollTop = 0;
  }
  _section(title, ...content) {
    const parts = content.flat().filter(Boolean);
    return parts.length ? element("section", {}, element("h3", { text: title }), ...parts) : null;
  }
  _table(rows) {
    if (!rows.length) return null;
    return element("dl", { class: "table" }, ...rows.map(([name, value]) => [
      element("dt", { text: name, title: name }),
      value instanceof Node ? element("dd", {}, value) : element("dd", { text: value }),
    ]));
  }

  // ---- the model ----

  showModel() {
    const model = this.model, info = model.raw.info;
    const counts = new Map();
    for (let node = 0; node < model.count; node++) {
      const name = model.operatorName(node);
      if (!counts.has(name)) counts.set(name, { count: 0, family: model.family(node) });
      counts.get(name).count++;
    }
    const operators = [...counts.entries()].sort((a, b) => b[1].count - a[1].count);
    const most = operators.length ? operators[0][1].count : 1;
    const main = model.graphs[0];
    this._fill(info.title, [],
      element("p", { class: "lead", text: info.lead }),
      this._section("Inputs", this._table(main.inputs.map((value) => [model.valueName(value), model.valueType(value)]))),
      this._section("Outputs", this._table(main.outputs.map((value) => [model.valueName(value), model.valueType(value)]))),
      this._section("Operators", element("div", { class: "bars" }, ...operators.slice(0, 40).map(([name, { count, family }]) => {
        const fill = element("i", { class: `bar-fill chip-${family}` });
        fill.style.width = `${Math.max(2, (100 * count) / most)}%`;
        return element("button", { type: "button", class: "bar-row", title: `Find ${name}`, onclick: () => this.actions.search(`op:${name}`) },
          element("span", { class: `chip chip-${family}`, text: FAMILY[family].sign, "aria-hidden": "true" }),
          element("span", { class: "bar-name", text: name }), element("span", { class: "bar" }, fill),
          element("span", { class: "bar-count", text: count.toLocaleString("en") }));
      }), operators.length > 40 ? element("p", { class: "note", text: `and ${operators.length - 40} more` }) : null)),
      this._functions(),
      this._section("Model", this._table(info.facts)),
      info.metadata.length ? this._section("Metadata", this._table(info.metadata)) : null);
  }
  _functions() {
    const model = this.model;
    const functions = model.graphs.map((graph, k) => [graph, k]).filter(([graph]) => graph.kind === "function");
    return this._section("Functions", functions.slice(0, 60).map(([graph, k]) =>
      element("button", { type: "button", class: "link-row", onclick: () => this.actions.showGraph(k) },
        element("span", { class: "chip chip-function", text: "λ", "aria-hidden": "true" }),
        element("span", { text: model.text(graph.name) }), element("small", { text: plural(graph.nodes.length, "node") }))));
  }

  // ---- a node ----

  showNode(node) {
    const model = this.model, operator = model.operator(node), family = FAMILY[operator.family];
    const chip = element("span", { class: `chip chip-${operator.family}`, text: family.sign, title: family.label });
    const code = model.raw.code[node] ? model.text(model.raw.code[node]) : "";
    const overlay = this.actions.note(node);
    this._fill(operator.name, [chip],
      element("p", { class: "lead" }, model.name(node) ? element("code", { text: model.name(node) }) : null,
        element("span", { class: "address", text: `node ${model.address(node)}`, title: "The address of the node" })),
      overlay && (overlay.text || overlay.label) ? element("p", { class: `told told-${overlay.kind}`, text: overlay.text || overlay.label }) : null,
      this._sourceLink(node),
      model.opens(node) ? element("button", { type: "button", class: "wide", text: "Open or close it in the graph", onclick: () => this.actions.open() }) : null,
      this._section("Attributes", this._table(model.attributes(node))),
      this._section("Inputs", model.inputs(node).map((value, k) => this._value(value, model.inputName(operator, k), true))),
      this._section("Reads from around it", model.captured(node).map((value) => this._value(value, "", true))),
      this._section("Outputs", model.outputs(node).map((value, k) =>
        this._value(value, k < operator.outputs.length ? operator.outputs[k][0] : `${k}`, false))),
      code ? this._section("As code", this._code(code)) : null,
      this._documentation(operator), this._metadata(model.metadata(node)));
  }

  _metadata(pairs) {
    if (!pairs.length) return null;
    const rows = pairs.map(([key, text]) => [key, text.includes("\n") || text.length > 90 ? element("pre", { text }) : text]);
    return element("details", { class: "documentation" }, element("summary", { text: `Metadata (${pairs.length})` }), this._table(rows));
  }

  _sourceLink(node) {
    const places = this.actions.places(node);
    return this._section("Made by", places.map(({ text, claim, line }) => claim
      ? element("p", { class: "claim", title: "What the model's file says; nothing was read for it" }, element("code", { text }))
      : element("button", { type: "button", class: "link-row", onclick: () => this.actions.source(node) },
        element("code", { class: "source-line", text: line || text }), element("small", { text }))));
  }

  _value(value, role, isInput) {
    const model = this.model;
    if (value < 0) return element("div", { class: "value" }, element("span", { class: "role", text: role }), element("span", { class: "left-out", text: "left out" }));
    const weight = model.weight(value), { maker, takers } = model.wiring();
    const others = isInput ? [maker.get(value)] : takers.get(value) || [];
    const links = weight ? [] : others.filter((each) => each !== undefined).slice(0, 12).map((each) =>
      element("button", { type: "button", class: "go", text: (isInput ? "↑ " : "↓ ") + model.operatorName(each), title: model.title(each),
        onclick: () => this.actions.select(each) }));
    return element("div", { class: "value" },
      element("div", { class: "value-head" }, element("span", { class: "role", text: role }), element("code", { class: "type", text: model.valueType(value) })),
      element("div", { class: "value-name", text: model.valueName(value) || "(no name)" }),
      links.length ? element("div", { class: "links" }, ...links, !isInput && others.length > 12 ? element("small", { text: `and ${others.length - 12} more` }) : null) : null,
      weight ? this._weight(weight, value) : null);
  }

  _weight(weight, value) {
    const model = this.model, rows = [["elements", weight.count.toLocaleString("en")], ["size", bytes(weight.bytes)]];
    if (weight.place) rows.push(["lies in", model.text(weight.place)]);
    const constant = model.text(model.values.constant[value]);
    if (constant) rows.push(["made by", `Constant, node ${constant}`]);
    const parts = [];
    const statistics = weight.statistics;
    if (statistics) {
      rows.push(["least, most", `${short(statistics.low)}, ${short(statistics.high)}`], ["mean", short(statistics.mean)], ["deviation", short(statistics.deviation)]);
      if (statistics.zeros) rows.push(["zeros", `${(100 * statistics.zeros).toPrecision(3)} %`]);
      if (statistics.odd) rows.push(["not finite", statistics.odd.toLocaleString("en")]);
      if (statistics.bins) parts.push(histogram(statistics.bins, statistics.low, statistics.high));
      if (statistics.sampled) parts.push(element("p", { class: "note", text: `Of a sample of ${statistics.sampled.toLocaleString("en")} elements, not of all.` }));
    } else if (weight.note) parts.push(element("p", { class: "note", text: model.text(weight.note) }));
    const text = model.text(weight.text);
    return element("div", { class: "weight" }, this._table(rows), ...parts, text ? element("pre", { class: "elements", text }) : null);
  }

  _code(code) {
    const holder = element("pre", { class: "code", tabindex: 0 }, element("code", { text: code }));
    const button = element("button", { type: "button", class: "copy", text: "Copy", onclick: async () => {
      button.textContent = (await copyText(code, holder)) ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } });
    return element("div", { class: "code-holder" }, holder, button);
  }

  _documentation(operator) {
    const parameters = [...operator.inputs, ...operator.outputs].filter(([, doc]) => doc);
    if (!operator.doc && !parameters.length) {
      return operator.family === "function" ? null : element("p", { class: "note", text: operator.since ? "" : `Nothing is known of ${operator.domain || "this domain"}'s ${operator.name}: no schema of it is installed.` });
    }
    const version = operator.since ? `${operator.domain || "ai.onnx"} ${operator.since}` : operator.domain;
    return element("details", { class: "documentation", open: true }, element("summary", { text: `About ${operator.name}` }),
      element("p", { class: "note", text: `Since ${version}` }),
      ...operator.doc.split("\n\n").map((text) => element("p", { text })),
      parameters.length ? this._table(parameters) : null);
  }

  // ---- others ----

  showBox(number, isOpen) {
    const model = this.model, box = model.boxes[number];
    this._fill(model.text(box.label) || "graph", [], element("p", { class: "lead", text: model.text(box.detail) || "A module of the program" }),
      element("button", { type: "button", class: "wide", text: isOpen ? "Close it" : "Open it", onclick: () => this.actions.open() }),
      this._section("Holds", this._table([["nodes", box.count.toLocaleString("en")], ["items", box.items.length.toLocaleString("en")]])),
      this._section("Takes", this._values(box, INPUT)), this._section("Gives", this._values(box, OUTPUT)));
  }
  _values(box, kind) {
    return box.items.filter((item) => kindOf(item) === kind).slice(0, 60).map((item) => this._value(numberOf(item), "", kind === INPUT));
  }
  showChange(title, kind, text, details) {
    this._fill(title, [], element("p", { class: `told told-${kind}`, text: [`${CLASS_SIGNS[kind]} ${text}`, ...details].join("\n") }));
  }
  showPort(value, isInput) {
    this._fill(this.model.valueName(value) || "value", [], element("p", { class: "lead", text: isInput ? "Comes in here" : "Goes out here" }), this._value(value, "", !isInput));
  }
  showNodes(title, nodes) {
    const model = this.model;
    this._fill(title, [], element("p", { class: "lead", text: plural(nodes.length, "node") }),
      ...nodes.slice(0, 300).map((node) => element("button", { type: "button", class: "link-row", onclick: () => this.actions.select(node) },
        element("span", { class: `chip chip-${model.family(node)}`, text: FAMILY[model.family(node)].sign, "aria-hidden": "true" }),
        element("span", { text: model.operatorName(node) }), element("small", { text: model.title(node) }))));
  }
}
