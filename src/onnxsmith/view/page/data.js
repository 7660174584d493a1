// A model as the page was given it (page_data.py writes it), with the questions that all other parts ask.

async function readModels(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { models, both, strings } = JSON.parse(await new Response(stream).text());
  return { models: models.map((each) => new Model(each, strings)), both };
}

const NODE = 0, BOX = 1, INPUT = 2, OUTPUT = 3;
const kindOf = (item) => item & 3;
const numberOf = (item) => item >> 2;

class Model {
  constructor(raw, strings) {
    this.raw = raw;
    this.strings = strings;
    this.nodes = raw.nodes;
    this.values = raw.values;
    this.graphs = raw.graphs;
    this.boxes = raw.boxes;
    this.families = raw.families;
    this.count = raw.nodes.operator.length;
    this.folded = new Set(raw.nodes.folded);
    this._position = new Int32Array(this.count);
    for (const graph of this.graphs) graph.nodes.forEach((node, k) => { this._position[node] = k; });
    this._owners = new Map(); // graph of a body -> the node that it is in
    for (const [node, bodies] of Object.entries(raw.nodes.bodies))
      for (const [, graph] of bodies) this._owners.set(graph, Number(node));
    this._callers = new Map(); // graph of a function -> the nodes that call it
    for (const [node, graph] of Object.entries(raw.nodes.callee)) {
      if (!this._callers.has(graph)) this._callers.set(graph, []);
      this._callers.get(graph).push(Number(node));
    }
  }

  text(number) { return this.strings[number]; }

  // ---- nodes ----

  operator(node) {
    const [name, domain, since, family, doc, inputs, outputs, repeated] = this.raw.operators[this.nodes.operator[node]];
    return {
      name: this.text(name), domain: this.text(domain), since, family: this.families[family], doc: this.text(doc),
      inputs: this.pairs(inputs), outputs: this.pairs(outputs), repeated: !!repeated,
    };
  }
  operatorName(node) { return this.text(this.raw.operators[this.nodes.operator[node]][0]); }
  family(node) { return this.families[this.raw.operators[this.nodes.operator[node]][3]]; }
  name(node) { return this.text(this.nodes.name[node]); }
  summary(node) { return this.text(this.nodes.summary[node]); }
  attributes(node) { return this.pairs(this.nodes.attributes[node]); }
  metadata(node) { return this.pairs(this.nodes.metadata[node]); }
  inputs(node) { return this.nodes.inputs[node]; }
  outputs(node) { return this.nodes.outputs[node]; }
  captured(node) { return this.nodes.captured[node] || []; }
  bodies(node) { return this.nodes.bodies[node] || []; }
  callee(node) { const found = this.nodes.callee[node]; return found === undefined ? -1 : found; }
  opens(node) { return this.callee(node) >= 0 || this.bodies(node).length > 0; }
  address(node) { return this.text(this.graphs[this.nodes.graph[node]].prefix) + this._position[node]; }
  title(node) { return this.name(node) || `${this.operatorName(node)} ${this.address(node)}`; }
  inputName(operator, k) {
    const all = operator.inputs;
    if (k < all.length) return all[k][0];
    return operator.repeated && all.length ? `${all[all.length - 1][0]} ${k - all.length + 2}` : `${k}`;
  }

  byAddress(address) {
    if (!this._byAddress) {
      this._byAddress = new Map();
      for (let node = 0; node < this.count; node++) this._byAddress.set(this.address(node), node);
    }
    const found = this._byAddress.get(address);
    return found === undefined ? -1 : found;
  }

  // ---- values ----

  valueName(value) { return this.text(this.values.name[value]); }
  valueType(value) { return this.text(this.values.type[value]); }
  shortType(value) { return this.text(this.values.short[value]); }
  weight(value) { const found = this.raw.weights[value]; return found === undefined ? null : found; }
  isWeight(value) { return value >= 0 && this.raw.weights[value] !== undefined; }

  // Who makes and who takes each value, among nodes that are drawn; made when first asked for.
  wiring() {
    if (!this._wiring) {
      const maker = new Map(), takers = new Map();
      for (let node = 0; node < this.count; node++) {
        for (const value of this.outputs(node)) maker.set(value, node);
        for (const value of new Set([...this.inputs(node), ...this.captured(node)])) {
          if (value < 0) continue;
          if (!takers.has(value)) takers.set(value, []);
          takers.get(value).push(node);
        }
      }
      this._wiring = { maker, takers };
    }
    return this._wiring;
  }

  // The node that is drawn for this one: a folded constant stands in what takes it.
  drawn(node) {
    if (!this.folded.has(node)) return node;
    for (const value of this.outputs(node)) {
      const taker = (this.wiring().takers.get(value) || []).find((each) => !this.folded.has(each));
      if (taker !== undefined) return taker;
    }
    return node;
  }

  // ---- graphs ----

  // The node to open for what is in a graph: the one with the body, or the first that calls the function; -1 for none.
  hostOf(graph) {
    if (this._owners.has(graph)) return this._owners.get(graph);
    const callers = (this._callers.get(graph) || []).filter((each) => this.nodes.graph[each] !== graph);
    return callers.length ? callers[0] : -1;
  }
  graphTitle(graph) {
    const held = this.graphs[graph];
    return held.kind === "main" ? "main graph" : this.text(held.name) || held.kind;
  }

  pairs(flat) {
    const result = [];
    for (let i = 0; i < flat.length; i += 2) result.push([this.text(flat[i]), this.text(flat[i + 1])]);
    return result;
  }
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
