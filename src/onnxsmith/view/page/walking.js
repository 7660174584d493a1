// Moving from node to node by keys, along lines and through boxes.

class Walker {
  constructor(scene) { this.scene = scene; }

  // The items that a line joins with this one, nearest first; bends are passed through.
  _neighbours(frame, item, isDown) {
    const result = [], seen = new Set(), waiting = [item];
    if (!frame._walk || frame._walkVersion !== this.scene.version) this._index(frame);
    while (waiting.length) {
      for (const next of frame._walk[isDown ? 1 : 0][waiting.pop()] || []) {
        if (seen.has(next)) continue;
        seen.add(next);
        if (next < frame.count) result.push(next); else waiting.push(next);
      }
    }
    return result.sort((a, b) => Math.abs(frame.x[a] - frame.x[item]) - Math.abs(frame.x[b] - frame.x[item]));
  }
  _index(frame) {
    const up = lists(frame.total), down = lists(frame.total);
    for (const { from, to } of frame.segments) { down[from].push(to); up[to].push(from); }
    frame._walk = [up, down];
    frame._walkVersion = this.scene.version;
  }

  go(place, key) {
    if (!place) return this._enter(this.scene.root, true);
    const { frame, item } = place;
    if (key === "ArrowLeft" || key === "ArrowRight") return this._aside(frame, item, key === "ArrowRight" ? 1 : -1);
    const isDown = key === "ArrowDown";
    const group = frame.groups.get(item);
    if (group && isDown) return this._enter(group.frames[0], true);
    return this._along(frame, item, isDown);
  }
  _along(frame, item, isDown) {
    const next = this._neighbours(frame, item, isDown)[0];
    if (next !== undefined) return this._arrive(frame, next, isDown);
    const layer = frame.layerOf[item] + (isDown ? 1 : -1);
    const row = (frame.box.layers[layer] || []).filter((each) => each < frame.count);
    if (row.length) return this._arrive(frame, row[0], isDown);
    if (!frame.parent) return { frame, item };
    // Out of the box: to the box itself going up, and past it going down.
    return isDown ? this._along(frame.parent, frame.host, true) : { frame: frame.parent, item: frame.host };
  }
  _arrive(frame, item, isDown) {
    const group = frame.groups.get(item);
    return group && !isDown ? this._enter(group.frames[group.frames.length - 1], false) : { frame, item };
  }
  _enter(frame, isFirst) {
    const layers = isFirst ? frame.box.layers : [...frame.box.layers].reverse();
    for (const layer of layers) for (const item of layer) if (item < frame.count) return this._arrive(frame, item, isFirst);
    return frame.parent ? { frame: frame.parent, item: frame.host } : null;
  }
  _aside(frame, item, step) {
    const row = frame.box.layers[frame.layerOf[item]].filter((each) => each < frame.count);
    const at = row.indexOf(item) + step;
    if (at >= 0 && at < row.length) return { frame, item: row[at] };
    // The bodies of a node stand beside each other.
    if (!frame.parent) return { frame, item };
    const group = frame.parent.groups.get(frame.host);
    const beside = group.frames[group.frames.indexOf(frame) + step];
    return beside ? this._enter(beside, true) : { frame, item };
  }
}

const CHANGE_KEYS = [
  ["J, K", "next and previous change"],
  ["B", "to the model beside"],
  ["L", "list of changes"],
];
const KEYS = [
  ["/", "search"],
  ["↑ ↓", "walk along the lines, in and out of boxes"],
  ["← →", "walk within a layer"],
  ["N, P", "next and previous node of the file"],
  ["Enter", "open or close a box, function or body"],
  ["Esc", "let go; then close what is around"],
  ["F", "the whole graph"],
  ["+ −", "larger, smaller"],
  ["Shift + arrows", "move the picture"],
  ["E, C", "open everything, close everything"],
  ["S", "source"],
  ["I", "details"],
  ["D", "light or dark"],
  ["?", "this list"],
];
