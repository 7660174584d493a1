// What is on the screen: a tree of frames. A frame is a box that is open; an item of it that is open holds more frames.

const HEADER = 30, MARGIN = 16, BETWEEN = 18;
const MOST_OPENED = 4000; // nodes that "open all" shows at most
const OPENED_AT_FIRST = 80;
const DEEPEST = 40; // boxes inside boxes that are opened without being asked for

class Frame {
  constructor(scene, number, parent, host, key) {
    this.scene = scene;
    this.number = number;
    this.box = scene.model.boxes[number];
    this.parent = parent; // the frame around
    this.host = host;     // the item of it that this one stands in
    this.key = key;
    this.depth = parent ? parent.depth + 1 : 0;
    this.groups = new Map(); // item -> what it holds while it is open
    this.count = this.box.items.length;
    this._index = null;
  }

  get portStyle() {
    if (this.number === 0) return "full";
    return this.box.parent < 0 ? "name" : "dot";
  }
  kind(item) { return kindOf(this.box.items[item]); }
  ref(item) { return numberOf(this.box.items[item]); }
  indexOf(code) {
    if (!this._index) this._index = new Map(this.box.items.map((each, k) => [each, k]));
    const found = this._index.get(code);
    return found === undefined ? -1 : found;
  }
  face(item) {
    const faces = this.scene.faces, number = this.ref(item);
    switch (this.kind(item)) {
      case NODE: return faces.node(number);
      case BOX: return faces.box(number);
      default: return faces.port(number, this.kind(item), this.portStyle);
    }
  }
  // Whether it is the box of a function that calls itself, inside that box.
  get standsInItself() {
    for (let each = this.parent; each; each = each.parent) if (each.number === this.number) return true;
    return false;
  }
  opens(item) {
    return this.kind(item) === BOX || (this.kind(item) === NODE && this.scene.model.opens(this.ref(item)));
  }

  // Sizes and places of all that is in it; the frames inside must have theirs.
  compute() {
    const total = this.box.layers.reduce((sum, layer) => sum + layer.length, 0);
    const widths = new Float64Array(total).fill(BEND_WIDTH), heights = new Float64Array(total);
    for (let item = 0; item < this.count; item++) {
      const held = this.groups.get(item) || this.face(item);
      widths[item] = held.width;
      heights[item] = held.height;
    }
    Object.assign(this, placeBox(this.box, widths, heights, this.count, this.portStyle === "dot"), { widths, heights, total, layerPitch: 0 });
    this._sortSegments();
    this._joinEnds();
    this._makeRoomForLabels();
  }

  // Segments by the layer that they start in, so that drawing finds those it needs.
  _sortSegments() {
    const flat = this.box.segments, count = flat.length / 3;
    const layer = (k) => Math.min(this.layerOf[flat[3 * k + 1]], this.layerOf[flat[3 * k + 2]]);
    const order = Array.from({ length: count }, (_, k) => k).sort((a, b) => layer(a) - layer(b) || a - b);
    this.segments = order.map((k) => ({ value: flat[3 * k], from: flat[3 * k + 1], to: flat[3 * k + 2], x1: 0, x2: 0 }));
    this.segmentsFrom = new Int32Array(this.tops.length + 1);
    let at = 0;
    for (let k = 0; k <= this.tops.length; k++) {
      while (at < count && layer(order[at]) < k) at++;
      this.segmentsFrom[k] = at;
    }
  }

  // Where on the edge of an item each line begins and ends: side by side, in the order that does not cross.
  _joinEnds() {
    const starts = lists(this.count), ends = lists(this.count);
    for (const segment of this.segments) {
      segment.x1 = this.x[segment.from];
      segment.x2 = this.x[segment.to];
      if (segment.from < this.count) starts[segment.from].push(segment);
      if (segment.to < this.count) ends[segment.to].push(segment);
    }
    for (let item = 0; item < this.count; item++) {
      this._joinSide(item, starts[item], "x1", "x2", OUTPUT);
      this._joinSide(item, ends[item], "x2", "x1", INPUT);
    }
  }
  _joinSide(item, segments, mine, other, side) {
    if (!segments.length) return;
    const group = this.groups.get(item);
    const values = new Map();
    for (const segment of segments) {
      if (!values.has(segment.value)) values.set(segment.value, []);
      values.get(segment.value).push(segment);
    }
    const mean = (list) => list.reduce((sum, each) => sum + each[other], 0) / list.length;
    const ordered = [...values.entries()].sort((a, b) => mean(a[1]) - mean(b[1]));
    const step = Math.min(20, (this.widths[item] - 24) / Math.max(1, ordered.length));
    ordered.forEach(([value, list], k) => {
      const port = group ? group.portX(value, side) : null;
      const offset = port === null ? (k - (ordered.length - 1) / 2) * Math.max(step, 0) : port - this.widths[item] / 2;
      for (const segment of list) segment[mine] = this.x[item] + offset;
    });
  }

  // Types stand to the right of lines: a box is wide enough for those of its last items.
  _makeRoomForLabels() {
    if (!this.parent) return;
    const { faces, model } = this.scene;
    for (const { value, from, x1 } of this.segments) {
      if (from >= this.count || this.kind(from) === INPUT || x1 + 150 < this.width) continue;
      this.width = Math.max(this.width, x1 + 4 + faces.measurer.width(model.shortType(value), ROW_FONT));
    }
  }

  // Absolute places of this frame and all inside.
  locate(left, top) {
    this.left = left;
    this.top = top;
    for (const [item, group] of this.groups) group.locate(this.itemLeft(item), this.itemTop(item));
  }
  itemLeft(item) { return this.left + this.x[item] - this.widths[item] / 2; }
  itemTop(item) { return this.top + this.y[item]; }

  layersBetween(top, bottom) {
    const tops = this.tops, tall = this.tall;
    let low = 0, high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.top + tops[middle] + tall[middle] < top) low = middle + 1; else high = middle;
    }
    let end = low;
    while (end < tops.length && this.top + tops[end] <= bottom) end++;
    return [low, end];
  }
}

// What an open item holds: the box or function, or the bodies of a node side by side.
class Group {
  constructor(frame, item) {
    this.frame = frame;
    this.item = item;
    const scene = frame.scene, number = frame.ref(item), model = scene.model;
    const key = `${frame.key}/${frame.box.items[item]}`;
    this.titles = [];
    let boxes;
    if (frame.kind(item) === BOX) boxes = [number];
    else if (model.callee(number) >= 0) boxes = [model.callee(number)];
    else {
      boxes = model.bodies(number).map(([, graph]) => graph);
      this.titles = model.bodies(number).map(([name]) => model.text(name));
    }
    this.frames = boxes.map((box) => new Frame(scene, box, frame, item, `${key}:${box}`));
    this.inner = this._innerValues();
  }

  // The values inside that stand for values outside.
  _innerValues() {
    const frame = this.frame, model = frame.scene.model, result = new Map();
    const enter = (outer, inner, side) => { if (outer >= 0 && inner !== undefined) result.set(`${outer},${side},${inner}`, inner); };
    if (frame.kind(this.item) !== NODE) return result;
    const node = frame.ref(this.item);
    for (const each of this.frames) {
      const graph = model.graphs[each.box.graph];
      const isLoop = model.callee(node) < 0 && graph.outputs.length > model.outputs(node).length && graph.inputs.length > 0;
      model.inputs(node).forEach((value, k) => {
        if (model.callee(node) >= 0 || (graph.inputs.length && !(isLoop && k === 0))) enter(value, graph.inputs[k], INPUT);
      });
      model.outputs(node).forEach((value, k) => enter(value, graph.outputs[k + (isLoop ? 1 : 0)], OUTPUT));
    }
    return result;
  }

  // Its size around its frames, which must have theirs.
  size() {
    let width = 0, height = 0;
    const label = this.titles.length ? 18 : 0;
    for (const frame of this.frames) {
      width += frame.width + 2 * MARGIN;
      height = Math.max(height, frame.height);
    }
    const face = this.frame.face(this.item);
    const headWidth = this.frame.scene.faces.measurer.width(face.title, TITLE_FONT)
      + this.frame.scene.faces.measurer.width(face.detail, SMALL_FONT) + 70;
    const inside = width + BETWEEN * (this.frames.length - 1);
    this.width = Math.max(inside, headWidth);
    this.shift = (this.width - inside) / 2;
    this.height = HEADER + label + height + MARGIN + 6;
    let left = this.shift;
    for (const frame of this.frames) {
      frame.offsetX = left + MARGIN;
      frame.offsetY = HEADER + label + 4;
      left += frame.width + 2 * MARGIN + BETWEEN;
    }
  }

  // Where a line from outside meets this: at the port for its value, if there is one.
  portX(value, side) {
    for (const frame of this.frames) {
      let found = frame.indexOf(4 * value + side);
      if (found < 0) {
        const graph = this.frame.scene.model.graphs[frame.box.graph];
        const inner = (side === INPUT ? graph.inputs : graph.outputs).find((each) => this.inner.has(`${value},${side},${each}`));
        if (inner !== undefined) found = frame.indexOf(4 * inner + side);
      }
      if (found >= 0) return frame.offsetX + frame.x[found];
    }
    return null;
  }

  locate(left, top) {
    for (const frame of this.frames) frame.locate(left + frame.offsetX, top + frame.offsetY);
  }
}

class Scene {
  constructor(model, faces) {
    this.model = model;
    this.faces = faces;
    this.version = 0;
    this.root = new Frame(this, 0, null, -1, "0");
    this._openFirst();
  }

  setRoot(box) {
    this.root = new Frame(this, box, null, -1, String(box));
    this.root.compute();
    this._settle();
  }
  _settle() {
    this.root.locate(0, 0);
    this.width = this.root.width;
    this.height = this.root.height;
    this.version++;
  }

  isOpen(frame, item) { return frame.groups.has(item); }

  open(frame, item) {
    if (frame.groups.has(item) || !frame.opens(item)) return false;
    const group = new Group(frame, item);
    frame.groups.set(item, group);
    if (!this._batch) {
      for (const inner of group.frames) inner.compute();
      group.size();
    }
    this._after(frame);
    return true;
  }
  close(frame, item) {
    if (!frame.groups.delete(item)) return false;
    this._after(frame);
    return true;
  }
  _after(frame) {
    if (this._batch) { this._batch.add(frame); return; }
    for (let each = frame; each; each = each.parent) {
      each.compute();
      if (each.parent) this._recomputeGroup(each);
    }
    this._settle();
  }
  _recomputeGroup(frame) {
    const group = frame.parent.groups.get(frame.host);
    if (group) group.size();
  }

  // Opens many at once and places everything at the end.
  batch(work) {
    this._batch = new Set();
    work();
    this._batch = null;
    this._computeAll(this.root);
    this._settle();
  }
  _computeAll(frame) {
    for (const group of frame.groups.values()) {
      for (const inner of group.frames) this._computeAll(inner);
      group.size();
    }
    frame.compute();
  }

  // Opens the boxes of a frame, all or none, as long as the picture stays small enough to take in. A function that
  // calls itself stands in itself without end: of that, nothing more is opened.
  _openFirst() {
    let shown = this.root.count;
    this.batch(() => {
      const waiting = [this.root];
      while (waiting.length) {
        const frame = waiting.shift(), boxes = [];
        if (frame.standsInItself || frame.depth >= DEEPEST) continue;
        for (let item = 0; item < frame.count; item++) if (frame.opens(item)) boxes.push(item);
        const more = boxes.reduce((sum, item) => sum + this._sizeInside(frame, item), 0);
        const isOnly = boxes.length === 1 && frame.count < 8 && shown + more < 400;
        if (shown + more > OPENED_AT_FIRST && !isOnly) continue;
        shown += more;
        for (const item of boxes) {
          this.open(frame, item);
          waiting.push(...frame.groups.get(item).frames);
        }
      }
    });
  }
  _sizeInside(frame, item) {
    const number = frame.ref(item), model = this.model;
    if (frame.kind(item) === BOX) return model.boxes[number].items.length;
    const graphs = model.callee(number) >= 0 ? [model.callee(number)] : model.bodies(number).map(([, graph]) => graph);
    return graphs.reduce((sum, graph) => sum + model.boxes[graph].items.length, 0);
  }

  openAll() {
    let shown = 0;
    this.batch(() => {
      const waiting = [this.root];
      while (waiting.length && shown < MOST_OPENED) {
        const frame = waiting.shift();
        if (frame.depth > DEEPEST) continue;
        for (let item = 0; item < frame.count && shown < MOST_OPENED; item++) {
          if (!frame.opens(item)) { shown++; continue; }
          this.open(frame, item);
          waiting.push(...frame.groups.get(item).frames);
        }
      }
    });
    return shown < MOST_OPENED;
  }
  closeAll() {
    this.root.groups.clear();
    this._after(this.root);
  }

  // Opens what stands around a node; gives the frame and the item, or null where no node leads to it.
  reveal(node) {
    node = this.model.drawn(node);
    let place = null;
    this.batch(() => { place = this._open(node, 0); });
    return place;
  }
  _open(node, depth) {
    const model = this.model, graph = model.nodes.graph[node];
    let frame;
    if (graph === this.root.box.graph && this.root.box.parent < 0) frame = this.root;
    else {
      const host = graph === 0 || depth > 60 ? -1 : model.hostOf(graph);
      if (host < 0) { this.setRoot(graph); frame = this.root; }
      else {
        const around = this._open(host, depth + 1);
        if (!around) return null;
        this.open(around.frame, around.item);
        frame = around.frame.groups.get(around.item).frames.find((each) => each.number === graph);
      }
    }
    const path = [];
    for (let box = model.nodes.box[node]; box !== graph && box >= 0; box = model.boxes[box].parent) path.unshift(box);
    for (const box of path) {
      const item = frame.indexOf(4 * box + BOX);
      this.open(frame, item);
      frame = frame.groups.get(item).frames[0];
    }
    const item = frame.indexOf(4 * node + NODE);
    return item < 0 ? null : { frame, item };
  }

  // The innermost item at a point.
  pick(x, y) {
    let frame = this.root, found = null;
    while (frame) {
      const [first, end] = frame.layersBetween(y, y);
      let inner = null;
      for (let k = first; k < end && !inner; k++) {
        for (const item of frame.box.layers[k]) {
          if (item >= frame.count) continue;
          const left = frame.itemLeft(item), top = frame.itemTop(item);
          if (x < left || x > left + frame.widths[item] || y < top || y > top + frame.heights[item]) continue;
          found = { frame, item, onHeader: y < top + HEADER };
          const group = frame.groups.get(item);
          inner = group ? group.frames.find((each) =>
            x >= each.left - MARGIN && x <= each.left + each.width + MARGIN && y >= each.top - 4) || null : null;
          break;
        }
      }
      frame = inner;
    }
    return found;
  }
}
