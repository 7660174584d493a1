// Puts the parts together: what is chosen, what a click or key does, when to draw.

class Viewer {
  constructor(model) {
    this.model = model;
    const get = (id) => document.getElementById(id);
    this.canvas = get("canvas");
    this.spoken = get("spoken");
    this.theme = new Theme();
    this.chosen = null;      // { frame, item }
    this.marked = new Set(); // nodes of a chosen source line
    this.scene = new Scene(model, new Faces(model));
    this.camera = new Camera(this.canvas, () => this.draw());
    this.painter = new Painter(this.canvas, this.scene, this.theme, this);
    this.minimap = new Minimap(get("minimap"), this.scene, this.theme, this.camera);
    this.walker = new Walker(this.scene);
    this.panel = new Panel(get("panel"), model, this._actions());
    this.source = new SourcePane(get("source"), model, (nodes, title) => this.mark(nodes, title));
    this.search = new Search(model, get("query"), get("found"), (node) => this.select(node));
    this.overlay = model.raw.overlay
      ? new Overlay(model.raw.overlay, model, this.theme, get("overlay"), () => this.draw(), (node) => this.select(node)) : null;
    get("title").textContent = model.raw.info.title;
    get("facts").textContent = model.raw.info.short;
    this._tools(get("tools"), get("zoomer"));
    this._keys();
    this._pointer();
    if (!this.source.isEmpty) {
      this.source.show(0);
      if (window.innerWidth > 1100) get("source").hidden = false;
    }
    new ResizeObserver(() => this._resize()).observe(get("canvas-holder"));
    this.theme.onChange(() => this.draw());
    this._resize();
    this.home(true);
    this.panel.showModel();
    if (window.innerWidth <= 760) get("panel").classList.add("lowered");
    if (!this._fromLink() && this.overlay) this.overlay.begin();
    window.addEventListener("hashchange", () => this._fromLink());
  }

  _actions() {
    return {
      select: (node) => this.select(node),
      open: () => { if (this.chosen) this.toggle(this.chosen); },
      close: () => { this.choose(null); document.getElementById("panel").classList.add("lowered"); this._resize(); },
      search: (text) => { const input = document.getElementById("query"); input.value = text; input.focus(); this.search.run(); },
      showGraph: (graph) => { const nodes = this.model.graphs[graph].nodes.filter((each) => !this.model.folded.has(each)); if (nodes.length) this.select(nodes[0]); },
      places: (node) => this.source.places(node),
      source: (node) => { document.getElementById("source").hidden = false; this._resize(); this.source.follow(node); },
      note: (node) => (this.overlay ? this.overlay.of(node) : null),
    };
  }

  // ---- drawing ----

  draw() {
    if (this._pending) return;
    this._pending = requestAnimationFrame(() => {
      this._pending = 0;
      this.painter.paint(this.camera);
      this.minimap.paint();
    });
  }
  _resize() {
    this.painter.resize();
    this.draw();
  }

  // The whole graph; of one that is too large for that, its beginning.
  home(isSudden) {
    const { width, height } = this.scene, { clientWidth, clientHeight } = this.canvas;
    const fitting = Math.min((clientWidth - 60) / width, (clientHeight - 60) / height);
    if (fitting > 0.42 || !isSudden) this.camera.show({ left: 0, top: 0, width, height }, 1.1, isSudden);
    else {
      const scale = Math.max(0.62, Math.min(0.95, (clientWidth - 60) / width));
      const start = this.scene.root.box.layers[0].find((each) => each < this.scene.root.count);
      const middle = width * scale < clientWidth ? width / 2 : start === undefined ? width / 2 : this.scene.root.x[start];
      this.camera.moveTo(clientWidth / 2 - middle * scale, 40, scale, true);
    }
  }

  // ---- what is chosen ----

  isChosen(frame, item) { return this.chosen !== null && this.chosen.frame === frame && this.chosen.item === item; }
  isMarked(node) { return this.marked.has(node); }
  nearValues() {
    if (this._nearFor !== this.chosen) {
      this._nearFor = this.chosen;
      this._near = new Set();
      if (this.chosen) {
        const { frame, item } = this.chosen, model = this.model, number = frame.ref(item);
        if (frame.kind(item) === NODE) for (const value of [...model.inputs(number), ...model.outputs(number), ...model.captured(number)]) this._near.add(value);
        else if (frame.kind(item) === BOX) for (const each of model.boxes[number].items) { if (kindOf(each) >= INPUT) this._near.add(numberOf(each)); }
        else this._near.add(number);
      }
    }
    return this._near || new Set();
  }

  choose(place, { bring = false } = {}) {
    this.chosen = place;
    if (!place) {
      this.marked.clear();
      this.panel.showModel();
      this._link("");
    } else {
      const { frame, item } = place, number = frame.ref(item);
      document.getElementById("panel").classList.remove("lowered");
      if (frame.kind(item) === NODE) {
        this.panel.showNode(number);
        if (!document.getElementById("source").hidden) this.source.follow(number);
        this._link(this.model.address(number));
      } else if (frame.kind(item) === BOX) this.panel.showBox(number, frame.groups.has(item));
      else this.panel.showPort(number, frame.kind(item) === INPUT);
      this._say(place);
      if (bring) this._bring(place);
    }
    this._trail();
    this.draw();
  }

  // Chooses a node wherever it is, opening what is around it.
  select(node) {
    const place = this.scene.reveal(node);
    if (!place) return;
    this.chosen = null;
    this.choose(place);
    this._bring(place, true);
    if (this.model.folded.has(node)) this.panel.showNode(node);
  }
  mark(nodes, title) {
    this.marked = new Set(nodes.map((each) => this.model.drawn(each)));
    if (!nodes.length) return;
    if (nodes.length === 1) { this.select(nodes[0]); this.marked = new Set(); return; }
    this.select(nodes[0]);
    this.panel.showNodes(title, nodes);
    this.draw();
  }

  _bring({ frame, item }, isCentred = false) {
    const { clientWidth: w, clientHeight: h } = this.canvas, camera = this.camera;
    const width = frame.widths[item], height = frame.groups.has(item) ? 60 : frame.heights[item];
    const left = frame.itemLeft(item), top = frame.itemTop(item);
    const scale = camera.scale < 0.5 || camera.scale > 1.6 ? 0.9 : camera.scale;
    const x = left * camera.scale + camera.x, y = top * camera.scale + camera.y;
    const isSeen = x > 30 && y > 30 && x + width * camera.scale < w - 30 && y + height * camera.scale < h - 30;
    if (isSeen && scale === camera.scale && !isCentred) return;
    camera.moveTo(w / 2 - (left + width / 2) * scale, h / 2 - (top + height / 2) * scale, scale);
  }

  toggle(place) {
    const { frame, item } = place;
    if (!frame.opens(item)) return;
    // What was clicked stays where it is on the screen.
    const before = [frame.itemLeft(item) + frame.widths[item] / 2, frame.itemTop(item)];
    if (frame.groups.has(item)) this.scene.close(frame, item); else this.scene.open(frame, item);
    const after = [frame.itemLeft(item) + frame.widths[item] / 2, frame.itemTop(item)];
    this.camera.stop();
    this.camera.pan((before[0] - after[0]) * this.camera.scale, (before[1] - after[1]) * this.camera.scale);
    this.choose(place);
  }

  _say({ frame, item }) {
    const model = this.model, number = frame.ref(item), kind = frame.kind(item);
    let text;
    if (kind === NODE) {
      const outputs = model.outputs(number).map((value) => model.valueType(value)).join(", ");
      const note = this.overlay ? this.overlay.of(number) : null;
      text = `${model.operatorName(number)}, ${model.title(number)}, gives ${outputs || "nothing"}`
        + (frame.opens(item) ? (frame.groups.has(item) ? ", open" : ", closed") : "") + (note ? `, ${note.text || note.label}` : "");
    } else if (kind === BOX) {
      const box = model.boxes[number];
      text = `Box ${model.text(box.label)}, ${plural(box.count, "node")}, ${frame.groups.has(item) ? "open" : "closed"}`;
    } else text = `${kind === INPUT ? "Input" : "Output"} ${model.valueName(number)}, ${model.valueType(number)}`;
    this.spoken.textContent = text;
  }

  _trail() {
    const parts = [];
    if (this.chosen) {
      for (let frame = this.chosen.frame; frame.parent; frame = frame.parent) {
        const place = { frame: frame.parent, item: frame.host };
        parts.unshift(element("button", { type: "button", text: frame.parent.face(frame.host).title, onclick: () => this.choose(place, { bring: true }) }));
      }
    }
    if (this.scene.root.number !== 0 || parts.length) {
      parts.unshift(element("button", { type: "button", text: this.scene.root.number === 0 ? "model" : `${this.model.graphTitle(this.scene.root.number)} (back to the model)`,
        onclick: () => { if (this.scene.root.number !== 0) this.scene.setRoot(0); this.choose(null); this.home(false); } }));
    }
    document.getElementById("trail").replaceChildren(...parts);
  }

  // ---- links ----

  _link(address) {
    // A page inside a notebook has no address of its own to change.
    try { history.replaceState(null, "", address ? `#node=${encodeURIComponent(address)}` : location.pathname + location.search); } catch { /* no links here */ }
  }
  _fromLink() {
    let hash = "";
    try { hash = decodeURIComponent(location.hash); } catch { return false; }
    const node = hash.startsWith("#node=") ? this.model.byAddress(hash.slice(6)) : -1;
    if (node >= 0) this.select(node);
    return node >= 0;
  }

  // ---- pointer and keys ----

  _pointer() {
    const at = (event) => this.scene.pick(...this.camera.toScene(event.clientX, event.clientY));
    this.canvas.addEventListener("click", (event) => {
      if (this.camera.moved) return;
      const place = at(event);
      this.marked.clear();
      if (!place) { this.choose(null); return; }
      const isSign = place.frame.opens(place.item) && this._isOnSign(place, event);
      if (isSign) this.toggle(place); else this.choose(place);
    });
    this.canvas.addEventListener("dblclick", (event) => {
      const place = at(event);
      if (place && place.frame.opens(place.item) && !this._isOnSign(place, event)) this.toggle(place);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons || event.pointerType === "touch") return;
      const place = at(event);
      this.canvas.style.cursor = place ? "pointer" : "";
    });
  }
  _isOnSign({ frame, item }, event) {
    const [x, y] = this.camera.toScene(event.clientX, event.clientY);
    const left = frame.itemLeft(item), top = frame.itemTop(item);
    if (frame.groups.has(item)) return x < left + 32 && y < top + HEADER;
    return x > left + frame.widths[item] - 32 && y < top + frame.face(item).headHeight;
  }

  _tools(tools, zoomer) {
    const panel = document.getElementById("panel"), source = document.getElementById("source");
    const flip = (what) => { what(); this._resize(); };
    tools.append(
      this.source.isEmpty ? "" : iconButton("code", "Source (S)", () => flip(() => { source.hidden = !source.hidden; })),
      iconButton("unfold", "Open everything (E)", () => this.openAll()),
      iconButton("open", "Close everything (C)", () => this.closeAll()),
      iconButton("panel", "Details (I)", () => flip(() => panel.classList.toggle("lowered"))),
      iconButton("theme", "Light or dark (D)", () => this.theme.toggle()),
      iconButton("help", "Keys (?)", () => this.help()));
    zoomer.append(
      iconButton("plus", "Larger (+)", () => this.camera.zoom(1.5)),
      iconButton("minus", "Smaller (−)", () => this.camera.zoom(1 / 1.5)),
      iconButton("fit", "The whole graph (F)", () => this.home(false)));
  }
  openAll() {
    this.chosen = null;
    const isAll = this.scene.openAll();
    this.choose(null);
    this.home(false);
    this.spoken.textContent = isAll ? "Everything is open" : "Opened as much as can be shown at once";
  }
  closeAll() {
    this.scene.closeAll();
    this.choose(null);
    this.home(false);
  }
  help() {
    const dialog = document.getElementById("keys");
    const rows = KEYS.map(([key, text]) => [element("dt", {}, element("kbd", { text: key })), element("dd", { text })]);
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
      const place = this.walker.go(this.chosen, key);
      if (place) this.choose(place, { bring: true });
      return true;
    }
    switch (key) {
      case "/": document.getElementById("query").focus(); document.getElementById("query").select(); return true;
      case "Enter": case " ": if (!isOnGraph || !this.chosen) return false; this.toggle(this.chosen); this._say(this.chosen); return true;
      case "Escape": this._escape(); return true;
      case "n": case "N": this._step(1); return true;
      case "p": case "P": this._step(-1); return true;
      case "f": case "F": this.home(false); return true;
      case "+": case "=": this.camera.zoom(1.4); return true;
      case "-": case "−": this.camera.zoom(1 / 1.4); return true;
      case "e": case "E": this.openAll(); return true;
      case "c": case "C": this.closeAll(); return true;
      case "d": case "D": this.theme.toggle(); return true;
      case "s": case "S": if (!this.source.isEmpty) { const source = document.getElementById("source"); source.hidden = !source.hidden; this._resize(); } return true;
      case "i": case "I": document.getElementById("panel").classList.toggle("lowered"); this._resize(); return true;
      case "?": this.help(); return true;
      default: return false;
    }
  }
  _escape() {
    if (!this.chosen) return;
    const { frame } = this.chosen;
    if (frame.parent) this.choose({ frame: frame.parent, item: frame.host }, { bring: true });
    else this.choose(null);
  }
  _step(by) {
    let node = this.chosen && this.chosen.frame.kind(this.chosen.item) === NODE ? this.chosen.frame.ref(this.chosen.item) + by : by > 0 ? 0 : this.model.count - 1;
    while (node >= 0 && node < this.model.count && this.model.folded.has(node)) node += by;
    if (node >= 0 && node < this.model.count) this.select(node);
  }
}

performance.mark("begun");
readModel(document.getElementById("model").textContent).then((model) => {
  performance.mark("read");
  window.viewer = new Viewer(model);
  performance.mark("placed");
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("drawn");
    document.documentElement.dataset.ready = "true";
  }));
}).catch((error) => {
  document.getElementById("panel").append(element("p", { class: "failed", text: `The model of this page cannot be drawn: ${error.message}` }));
  throw error;
});
