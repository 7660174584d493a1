// One model on the screen: its canvas, what is open in it, where the reader looks, and what is chosen.
// What follows from a choice elsewhere on the page is the viewer's; `tell` says it to it.

class Pane {
  // tell: { onChosen(pane, node), onMoved(pane), onToggled(pane, place), onTouched(pane) }
  constructor(model, theme, tell) {
    Object.assign(this, { model, theme, tell });
    this.chosen = null;      // { frame, item }
    this.marked = new Set(); // nodes of a chosen source line
    this.overlay = null;
    this._build();
    this.scene = new Scene(model, new Faces(model));
    this.camera = new Camera(this.canvas, () => { this.draw(); this.tell.onMoved(this); });
    this.painter = new Painter(this.canvas, this.scene, theme, this);
    this.minimap = new Minimap(this.map, this.scene, theme, this.camera, this);
    this.walker = new Walker(this.scene);
    this._pointer();
  }

  _build() {
    this.canvas = element("canvas", { class: "graph", tabindex: 0, role: "application",
      "aria-label": "Graph. Arrow keys walk along its lines, Enter opens and closes boxes, question mark lists all keys." });
    this.spoken = element("div", { class: "spoken visually-hidden", role: "status", "aria-live": "polite" });
    this.trail = element("div", { class: "trail", "aria-label": "Where it is" });
    this.map = element("canvas", { class: "minimap", "aria-hidden": "true" });
    this.bar = element("div", { class: "overlay", hidden: true });
    this.holder = element("div", { class: "pane" }, this.canvas, this.spoken, this.trail, this.map, this.bar);
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
  resize() {
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

  // Chooses without telling anybody.
  pick(place) {
    this.chosen = place;
    if (!place) this.marked.clear();
    this._fillTrail();
    this.draw();
  }
  // `node` is the constant that was asked for, where the place is that of the node that it stands in.
  choose(place, { bring = false, node = -1 } = {}) {
    this.pick(place);
    this.tell.onChosen(this, node);
    if (!place) return;
    this.say();
    if (bring) this.bring(place);
  }

  // Chooses a node wherever it is, opening what is around it.
  select(node) {
    const place = this.scene.reveal(node);
    if (!place) return;
    this.choose(place, { node });
    this.bring(place, true);
  }
  // The same for several, of which the first is chosen.
  mark(nodes) {
    if (!nodes.length) return;
    this.select(nodes[0]);
    this.marked = new Set(nodes.length > 1 ? nodes.map((each) => this.model.drawn(each)) : []);
    this.draw();
  }

  bring({ frame, item }, isCentred = false) {
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
    this.tell.onToggled(this, place);
    this.camera.stop();
    this.camera.pan((before[0] - after[0]) * this.camera.scale, (before[1] - after[1]) * this.camera.scale);
    this.choose(place);
  }

  say() {
    const { frame, item } = this.chosen, model = this.model, number = frame.ref(item), kind = frame.kind(item);
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

  _fillTrail() {
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
    this.trail.replaceChildren(...parts);
  }

  // ---- pointer and keys ----

  _pointer() {
    const at = (event) => this.scene.pick(...this.camera.toScene(event.clientX, event.clientY));
    for (const name of ["pointerdown", "wheel", "focus"]) this.canvas.addEventListener(name, () => this.tell.onTouched(this), { passive: true });
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

  walk(key) {
    const place = this.walker.go(this.chosen, key);
    if (place) this.choose(place, { bring: true });
  }
  leave() {
    if (!this.chosen) return;
    const { frame } = this.chosen;
    if (frame.parent) this.choose({ frame: frame.parent, item: frame.host }, { bring: true });
    else this.choose(null);
  }
  step(by) {
    let node = this.chosen && this.chosen.frame.kind(this.chosen.item) === NODE ? this.chosen.frame.ref(this.chosen.item) + by : by > 0 ? 0 : this.model.count - 1;
    while (node >= 0 && node < this.model.count && this.model.folded.has(node)) node += by;
    if (node >= 0 && node < this.model.count) this.select(node);
  }
}
