// Puts the parts together: one pane for a model or two for what differs between two, the bar, the panel, keys and links.

const SMALL = 760; // pixels; page.css has the same number

class Viewer {
  constructor(models, both) {
    const get = (id) => document.getElementById(id);
    this.theme = new Theme();
    this.panes = models.map((model) => new Pane(model, this.theme, this));
    this.active = this.panes[this.panes.length - 1];
    get("panes").prepend(...this.panes.map((pane) => pane.holder));
    this.panels = this.panes.map((pane) => new Panel(get("panel"), pane.model, this._actions(pane)));
    this.sources = this.panes.map((pane) => new SourcePane(pane.model, (nodes, title) => this.mark(pane, nodes, title), () => this.showSource(false)));
    get("source").append(grip(get("source")), ...this.sources.map((each) => each.holder));
    this.search = new Search(get("query"), get("found"), (model, node) => this.panes.find((pane) => pane.model === model).select(node));
    this.panes.forEach((pane) => {
      const raw = pane.model.raw.overlay;
      if (raw) pane.overlay = new Overlay(raw, pane.model, this.theme, both ? null : pane.bar, () => pane.draw(), (node) => pane.select(node));
    });
    this.together = both ? new Together(this.panes, both) : null;
    this.changes = both ? new Changes(get("changes"), models[0], both, (row) => this.showChange(row), () => this.showChanges(false)) : null;
    this._heads(both);
    this._tools(get("tools"), get("zoomer"));
    this._keys();
    this._begin();
  }

  // What the parts of the page ask for: the model that the reader is at.
  get model() { return this.active.model; }
  get scene() { return this.active.scene; }
  get camera() { return this.active.camera; }
  get canvas() { return this.active.canvas; }
  get chosen() { return this.active.chosen; }
  get panel() { return this.panels[this.panes.indexOf(this.active)]; }
  get source() { return this.sources[this.panes.indexOf(this.active)]; }
  select(node) { this.active.select(node); }
  choose(place) { this.active.choose(place); }
  toggle(place) { this.active.toggle(place); }
  home(isSudden) { this.active.home(isSudden); }

  _heads(both) {
    const model = this.active.model, get = (id) => document.getElementById(id);
    get("title").textContent = both ? both.called.map((each) => model.text(each)).join(" → ") : model.raw.info.title;
    get("facts").textContent = both ? "" : model.raw.info.short;
    if (!both) return;
    document.body.classList.add("two");
    this.panes.forEach((pane, k) => pane.holder.prepend(element("div", { class: "pane-head" },
      element("strong", { text: k ? "after" : "before" }), element("span", { text: model.text(both.called[k]) }), element("small", { text: pane.model.raw.info.short }))));
  }

  _begin() {
    for (const each of this.sources) if (!each.isEmpty) each.show(0);
    const hasRoom = (width) => window.innerWidth > width;
    this.showSource(this.hasSource && hasRoom(1100) && !this.together);
    this.showPanel(hasRoom(this.together ? 1500 : SMALL));
    this.showChanges(Boolean(this.changes) && hasRoom(SMALL));
    this.onTouched(this.active);
    const sizes = new ResizeObserver(() => this._resize());
    for (const pane of this.panes) sizes.observe(pane.holder);
    this.theme.onChange(() => this._each((pane) => pane.draw()));
    this._resize();
    this._each((pane) => pane.home(true));
    if (this.together) this.together.openAlike(0);
    this.panel.showModel();
    const isLinked = this._fromLink();
    if (!isLinked && this.changes) this.changes.begin();
    else if (!isLinked && this.active.overlay) this.active.overlay.begin();
    window.addEventListener("hashchange", () => this._fromLink());
  }

  _each(work) { for (const pane of this.panes) work(pane); }
  _resize() { this._each((pane) => pane.resize()); }

  _actions(pane) {
    return {
      select: (node) => pane.select(node),
      open: () => { if (pane.chosen) pane.toggle(pane.chosen); },
      close: () => { pane.choose(null); this.showPanel(false); },
      search: (text) => { const input = document.getElementById("query"); input.value = text; input.focus(); this.search.run(); },
      showGraph: (graph) => { const nodes = pane.model.graphs[graph].nodes.filter((each) => !pane.model.folded.has(each)); if (nodes.length) pane.select(nodes[0]); },
      places: (node) => this.sources[this.panes.indexOf(pane)].places(node),
      source: (node) => { this.showSource(true); this.sources[this.panes.indexOf(pane)].follow(node); },
      note: (node) => (pane.overlay ? pane.overlay.of(node) : null),
    };
  }

  // ---- what panes tell ----

  onTouched(pane) {
    this.active = pane;
    this.panes.forEach((each, k) => {
      each.holder.classList.toggle("is-active", this.panes.length > 1 && each === pane);
      this.sources[k].holder.hidden = each !== pane;
    });
    const searched = [pane, ...this.panes.filter((each) => each !== pane)];
    this.search.use(searched.map((each) => each.model), searched.map((each) => (this.together ? ["before", "after"][this.panes.indexOf(each)] : "")));
  }
  onMoved(pane) { if (this.together) this.together.follow(pane); }
  onToggled(pane, place) { if (this.together) this.together.toggle(pane, place); }
  onChosen(pane, node) {
    const place = pane.chosen;
    if (pane !== this.active) this.onTouched(pane);
    if (this.together) this.together.choose(pane);
    if (!place) {
      this.panel.showModel();
      this._link("");
      return;
    }
    const { frame, item } = place, number = frame.ref(item);
    if (!this.together) this.showPanel(true);
    if (frame.kind(item) === NODE) {
      this.panel.showNode(pane.model.folded.has(node) ? node : number);
      if (this.changes) this.changes.light(this.panes.indexOf(pane), number);
      if (!document.getElementById("source").hidden) this.source.follow(number);
      this._link(this.model.address(number));
    } else if (frame.kind(item) === BOX) this.panel.showBox(number, frame.groups.has(item));
    else this.panel.showPort(number, frame.kind(item) === INPUT);
  }

  // The nodes of a source line.
  mark(pane, nodes, title) {
    pane.mark(nodes);
    if (nodes.length > 1) this.panel.showNodes(title, nodes);
  }

  // One of the things that differ: its nodes in both panes, as far as there are any.
  showChange({ before, after, title, kind, text, details }) {
    const [one, other] = this.panes;
    if (after.length || before.length) {
      const [pane, nodes] = after.length ? [other, after] : [one, before];
      pane.mark(nodes);
      const drawn = new Set(before.map((each) => one.model.drawn(each)));
      one.marked = after.length && before.length > 1 ? drawn : one.marked;
      // A node that is there on one side alone has no counterpart that the other side could choose.
      const rest = pane === other ? [one, before] : [other, after];
      if (!rest[0].chosen && rest[1].length) rest[0].pick(rest[0].scene.reveal(rest[1][0]));
      this.together.follow(pane);
    } else this._each((pane) => pane.pick(null));
    if (!after.length && !before.length) this.panel.showChange(title, kind, text, details);
  }

  // ---- links ----

  _link(address) {
    // A page inside a notebook has no address of its own to change.
    const side = this.panes.length > 1 && this.active === this.panes[0] ? "before" : "node";
    try { history.replaceState(null, "", address ? `#${side}=${encodeURIComponent(address)}` : location.pathname + location.search); } catch { /* no links here */ }
  }
  _fromLink() {
    let hash = "";
    try { hash = decodeURIComponent(location.hash); } catch { return false; }
    const [, side, address] = /^#(node|before)=(.*)$/s.exec(hash) || [];
    if (!side) return false;
    const pane = side === "before" ? this.panes[0] : this.panes[this.panes.length - 1];
    const node = pane.model.byAddress(address);
    if (node >= 0) pane.select(node);
    return node >= 0;
  }

  // ---- tools and keys ----

  showPanel(isShown) { this._showSheet("panel", isShown); }
  showSource(isShown) { this._showSheet("source", isShown); }
  showChanges(isShown) { this._showSheet("changes", isShown); }
  // In a small window sheets come one at a time.
  _showSheet(id, isShown) {
    for (const each of ["panel", "source", "changes"]) {
      const sheet = document.getElementById(each);
      if (each === id) sheet.hidden = !isShown;
      else if (isShown && window.innerWidth <= SMALL) sheet.hidden = true;
    }
    this._resize();
  }
  _flipPanel() { this.showPanel(document.getElementById("panel").hidden); }
  _flipSource() { if (this.hasSource) this.showSource(document.getElementById("source").hidden); }
  _flipChanges() { if (this.changes) this.showChanges(document.getElementById("changes").hidden); }
  get hasSource() { return this.sources.some((each) => !each.isEmpty); }

  _tools(tools, zoomer) {
    tools.append(
      this.changes ? iconButton("list", "Changes (L)", () => this._flipChanges()) : "",
      this.hasSource ? iconButton("code", "Source (S)", () => this._flipSource()) : "",
      iconButton("unfold", "Open everything (E)", () => this.openAll()),
      iconButton("open", "Close everything (C)", () => this.closeAll()),
      iconButton("panel", "Details (I)", () => this._flipPanel()),
      iconButton("theme", "Light or dark (D)", () => this.theme.toggle()),
      iconButton("help", "Keys (?)", () => this.help()));
    zoomer.append(
      iconButton("plus", "Larger (+)", () => this.camera.zoom(1.5)),
      iconButton("minus", "Smaller (−)", () => this.camera.zoom(1 / 1.5)),
      iconButton("fit", "The whole graph (F)", () => this.home(false)));
  }
  openAll() {
    let isAll = true;
    this._each((pane) => { pane.chosen = null; isAll = pane.scene.openAll() && isAll; });
    this.choose(null);
    this.home(false);
    this.active.spoken.textContent = isAll ? "Everything is open" : "Opened as much as can be shown at once";
  }
  closeAll() {
    this._each((pane) => { pane.chosen = null; pane.scene.closeAll(); });
    this.choose(null);
    this.home(false);
  }
  help() {
    const dialog = document.getElementById("keys");
    const keys = this.changes ? [...CHANGE_KEYS, ...KEYS] : KEYS;
    const rows = keys.map(([key, text]) => [element("dt", {}, element("kbd", { text: key })), element("dd", { text })]);
    const families = Object.entries(FAMILY).map(([name, each]) => element("li", {}, element("span", { class: `chip chip-${name}`, text: each.sign }), each.label));
    dialog.replaceChildren(element("h2", { text: "Keys" }), element("dl", {}, ...rows), element("h2", { text: "Colours and signs" }), element("ul", { class: "families" }, ...families),
      element("button", { type: "button", class: "wide", text: "Close", onclick: () => dialog.close() }));
    dialog.showModal();
  }

  _keys() {
    document.addEventListener("keydown", (event) => {
      const target = event.target, isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
      if (this._key(event, target)) event.preventDefault();
    });
  }
  _key(event, target) {
    const key = event.key, isOnGraph = target === this.canvas || target === document.body;
    if (event.shiftKey && key.startsWith("Arrow")) {
      const step = 90, dx = key === "ArrowLeft" ? step : key === "ArrowRight" ? -step : 0, dy = key === "ArrowUp" ? step : key === "ArrowDown" ? -step : 0;
      this.camera.stop();
      this.camera.pan(dx, dy);
      return true;
    }
    if (key.startsWith("Arrow")) {
      if (!isOnGraph) return false;
      this.active.walk(key);
      return true;
    }
    switch (key) {
      case "/": document.getElementById("query").focus(); document.getElementById("query").select(); return true;
      case "Enter": case " ": if (!isOnGraph || !this.chosen) return false; this.toggle(this.chosen); this.active.say(); return true;
      case "Escape": this.active.leave(); return true;
      case "n": case "N": this.active.step(1); return true;
      case "p": case "P": this.active.step(-1); return true;
      case "j": case "J": if (this.changes) this.changes.step(1); return true;
      case "k": case "K": if (this.changes) this.changes.step(-1); return true;
      case "b": case "B": this._other(); return true;
      case "l": case "L": this._flipChanges(); return true;
      case "f": case "F": this.home(false); return true;
      case "+": case "=": this.camera.zoom(1.4); return true;
      case "-": case "−": this.camera.zoom(1 / 1.4); return true;
      case "e": case "E": this.openAll(); return true;
      case "c": case "C": this.closeAll(); return true;
      case "d": case "D": this.theme.toggle(); return true;
      case "s": case "S": this._flipSource(); return true;
      case "i": case "I": this._flipPanel(); return true;
      case "?": this.help(); return true;
      default: return false;
    }
  }
  // To the pane beside.
  _other() {
    const pane = this.panes[(this.panes.indexOf(this.active) + 1) % this.panes.length];
    this.onTouched(pane);
    pane.canvas.focus();
    pane.choose(pane.chosen);
  }
}

performance.mark("begun");
readModels(document.getElementById("model").textContent).then(({ models, both }) => {
  performance.mark("read");
  window.viewer = new Viewer(models, both);
  performance.mark("placed");
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("drawn");
    document.documentElement.dataset.ready = "true";
  }));
}).catch((error) => {
  document.getElementById("panel").append(element("p", { class: "failed", text: `The model of this page cannot be drawn: ${error.message}` }));
  throw error;
});
