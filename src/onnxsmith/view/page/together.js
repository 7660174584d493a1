// Two models side by side: which item of one is which of the other, and what one pane does when the other is used.

class Together {
  constructor(panes, both) {
    this.panes = panes;
    // By side: the number of a node, box or value in one model -> in the other.
    this.nodes = [new Map(), new Map()];
    for (let i = 0; i < both.pairs.length; i += 2) this._pair(this.nodes, both.pairs[i], both.pairs[i + 1]);
    this.boxes = this._pairedBoxes();
    this.values = this._pairedPorts();
    this._key = "";
    this._anchors = [];
  }
  _pair(maps, one, other) {
    maps[0].set(one, other);
    maps[1].set(other, one);
  }

  // The boxes from that of the graph inwards.
  _path(model, node) {
    const path = [];
    for (let box = model.nodes.box[node]; box >= 0; box = model.boxes[box].parent) path.unshift(box);
    return path;
  }
  // Boxes are pairs where most of the nodes in them are.
  _pairedBoxes() {
    const [one, other] = this.panes.map((pane) => pane.model), votes = new Map();
    for (const [a, b] of this.nodes[0]) {
      const paths = [this._path(one, a), this._path(other, b)];
      for (let k = 0; k < Math.min(paths[0].length, paths[1].length); k++) {
        const key = `${paths[0][k]},${paths[1][k]}`;
        votes.set(key, (votes.get(key) || 0) + 1);
      }
    }
    const result = [new Map([[0, 0]]), new Map([[0, 0]])];
    for (const [key] of [...votes].sort((a, b) => b[1] - a[1])) {
      const [a, b] = key.split(",").map(Number);
      if (!result[0].has(a) && !result[1].has(b)) this._pair(result, a, b);
    }
    return result;
  }
  // Inputs and outputs of the models, by name.
  _pairedPorts() {
    const [one, other] = this.panes.map((pane) => pane.model), result = [new Map(), new Map()];
    for (const side of ["inputs", "outputs"]) {
      const named = new Map(other.graphs[0][side].map((value) => [other.valueName(value), value]));
      for (const value of one.graphs[0][side]) {
        const there = named.get(one.valueName(value));
        if (there !== undefined) this._pair(result, value, there);
      }
    }
    return result;
  }

  _side(pane) { return this.panes.indexOf(pane); }
  _beside(pane) { return this.panes[1 - this._side(pane)]; }

  // The item of a frame there that is the counterpart of an item here; -1 where there is none.
  _item(side, frame, item, there) {
    const code = frame.box.items[item], kind = kindOf(code);
    const found = (kind === NODE ? this.nodes : kind === BOX ? this.boxes : this.values)[side].get(numberOf(code));
    return found === undefined ? -1 : there.indexOf(4 * found + kind);
  }
  // The frame there that is the counterpart of a frame here, where it is open; else null.
  _frame(side, frame) {
    if (!frame.parent) {
      const root = this.panes[1 - side].scene.root;
      return this.boxes[side].get(frame.number) === root.number ? root : null;
    }
    const place = this._counterpart(side, { frame: frame.parent, item: frame.host });
    const group = place && place.frame.groups.get(place.item);
    return (group && group.frames[frame.parent.groups.get(frame.host).frames.indexOf(frame)]) || null;
  }
  _counterpart(side, { frame, item }) {
    const there = this._frame(side, frame);
    if (!there) return null;
    const found = this._item(side, frame, item, there);
    return found < 0 ? null : { frame: there, item: found };
  }

  // ---- what is open, and what is chosen ----

  toggle(pane, place) {
    const side = this._side(pane), beside = this._beside(pane), there = this._counterpart(side, place);
    if (!there) return;
    const isOpen = place.frame.groups.has(place.item);
    if (isOpen) beside.scene.open(there.frame, there.item); else beside.scene.close(there.frame, there.item);
    this.follow(pane);
  }
  // Opens in the other pane what stands around a frame of this one, as far as it has counterparts.
  _openAround(side, frame) {
    if (!frame.parent) return;
    this._openAround(side, frame.parent);
    const there = this._counterpart(side, { frame: frame.parent, item: frame.host });
    if (there) this.panes[1 - side].scene.open(there.frame, there.item);
  }
  // Opens and closes in the other pane what is open and closed in this one.
  openAlike(side) {
    const scene = this.panes[1 - side].scene;
    const visit = (frame) => {
      const there = this._frame(side, frame);
      if (!there) return;
      for (let item = 0; item < frame.count; item++) {
        const found = this._item(side, frame, item, there), group = frame.groups.get(item);
        if (found < 0) continue;
        if (group) { scene.open(there, found); group.frames.forEach(visit); } else scene.close(there, found);
      }
    };
    visit(this.panes[side].scene.root);
    this.follow(this.panes[side]);
  }

  choose(pane) {
    const side = this._side(pane), beside = this._beside(pane), place = pane.chosen;
    beside.marked.clear();
    if (!place) { beside.pick(null); return; }
    const { frame, item } = place;
    this._openAround(side, frame);
    if (frame.kind(item) === NODE) {
      const there = this.nodes[side].get(frame.ref(item));
      beside.pick(there === undefined ? null : this._counterpart(side, place) || beside.scene.reveal(there));
    } else beside.pick(this._counterpart(side, place));
    this.follow(pane);
  }

  // ---- where the reader looks ----

  // Places of counterparts that are on the screen, [x, y] here and there, for as long as nothing is opened or closed.
  _places(side) {
    const key = `${side},${this.panes[0].scene.version},${this.panes[1].scene.version}`;
    if (key !== this._key) {
      this._key = key;
      this._anchors = [];
      const visit = (frame, there) => {
        for (let item = 0; item < frame.count; item++) {
          const found = this._item(side, frame, item, there);
          if (found < 0) continue;
          this._anchors.push([frame.left + frame.x[item], frame.itemTop(item), there.left + there.x[found], there.itemTop(found)]);
          const [group, other] = [frame.groups.get(item), there.groups.get(found)];
          if (group && other) group.frames.forEach((inner, k) => { if (other.frames[k]) visit(inner, other.frames[k]); });
        }
      };
      const root = this.panes[side].scene.root, there = this._frame(side, root);
      if (there) visit(root, there);
    }
    return this._anchors;
  }

  // Shows in the other pane what this one shows: as large, and what stands in the middle here in the middle there. How
  // far the two are apart is taken from counterparts, the nearest counting most, so that it changes without jumps.
  follow(pane) {
    const side = this._side(pane), { camera, canvas } = pane, other = this._beside(pane);
    const x = (canvas.clientWidth / 2 - camera.x) / camera.scale, y = (canvas.clientHeight / 2 - camera.y) / camera.scale;
    let weights = 0, dx = 0, dy = 0;
    for (const [x1, y1, x2, y2] of this._places(side)) {
      const square = (x1 - x) * (x1 - x) + (y1 - y) * (y1 - y) + 100, weight = 1 / (square * square);
      weights += weight;
      dx += weight * (x2 - x1);
      dy += weight * (y2 - y1);
    }
    if (weights) { dx /= weights; dy /= weights; }
    other.camera.stop();
    other.camera.scale = camera.scale;
    other.camera.x = other.canvas.clientWidth / 2 - (x + dx) * camera.scale;
    other.camera.y = other.canvas.clientHeight / 2 - (y + dy) * camera.scale;
    other.draw();
  }
}
