// Draws the scene on a canvas. The work for a picture is bounded by the pixels of the window and not by the nodes of
// the model: what is smaller than a pixel is drawn by samples.

const TEXT_SCALE = 0.32, LABEL_SCALE = 0.6, DETAIL_SCALE = 0.16;

class Painter {
  constructor(canvas, scene, theme, state) {
    this.canvas = canvas;
    this.scene = scene;
    this.theme = theme;
    this.state = state;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const { clientWidth, clientHeight } = this.canvas;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
  }

  paint(camera) {
    const c = this.context, k = camera.scale;
    this.k = k;
    this.near = this.state.nearValues();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.theme.colour.ground;
    c.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    this._grid(camera);
    c.setTransform(this.ratio * k, 0, 0, this.ratio * k, this.ratio * camera.x, this.ratio * camera.y);
    this.view = {
      left: -camera.x / k, top: -camera.y / k,
      right: (this.canvas.clientWidth - camera.x) / k, bottom: (this.canvas.clientHeight - camera.y) / k,
    };
    this._frame(this.scene.root);
  }

  _grid(camera) {
    const step = 26 * camera.scale * (camera.scale < 0.5 ? 4 : 1);
    if (step < 12) return;
    const c = this.context, { clientWidth, clientHeight } = this.canvas;
    c.fillStyle = this.theme.colour.line;
    for (let x = camera.x % step; x < clientWidth; x += step)
      for (let y = camera.y % step; y < clientHeight; y += step) c.fillRect(x, y, 1, 1);
  }

  _frame(frame) {
    const { top, bottom } = this.view;
    const [first, end] = frame.layersBetween(top - GAP_Y, bottom + GAP_Y);
    if (first >= end) return;
    const pitch = frame.layerPitch || (frame.layerPitch = Math.max(20, frame.height / Math.max(1, frame.tops.length)));
    const step = Math.max(1, Math.ceil(1.6 / (pitch * this.k)));
    this._lines(frame, Math.max(0, first - 1), end, step);
    const open = [];
    for (let k = first; k < end; k += step) this._layer(frame, frame.box.layers[k], open);
    for (const item of open) this._openItem(frame, item);
    if (frame.box.cuts.length && this.k > DETAIL_SCALE) this._cuts(frame);
  }

  // ---- lines ----

  _lines(frame, first, end, step) {
    const c = this.context, colour = this.theme.colour;
    const width = Math.max(1.25, 0.6 / this.k);
    const straight = this.k < 0.12;
    const from = frame.segmentsFrom[first], to = frame.segmentsFrom[Math.min(end, frame.tops.length)];
    const skip = Math.max(1, Math.ceil((to - from) / step / 6000));
    const near = [];
    c.beginPath();
    for (let layer = first; layer < end; layer += step) {
      const stop = frame.segmentsFrom[Math.min(layer + 1, frame.tops.length)];
      for (let s = frame.segmentsFrom[layer]; s < stop; s += skip) {
        const segment = frame.segments[s];
        if (this.near.has(segment.value)) { near.push(segment); continue; }
        this._segment(frame, segment, straight);
      }
    }
    c.strokeStyle = colour.edge;
    c.lineWidth = width;
    c.stroke();
    if (this.k > DETAIL_SCALE) this._arrows(frame, first, end, colour.edge, null);
    if (near.length) {
      c.beginPath();
      for (const segment of near) this._segment(frame, segment, straight);
      c.strokeStyle = colour.accent;
      c.lineWidth = Math.max(2.2, 1.4 / this.k);
      c.stroke();
      if (this.k > DETAIL_SCALE) this._arrows(frame, first, end, colour.accent, near);
    }
    if (this.k > LABEL_SCALE) this._labels(frame, first, end);
  }

  _segment(frame, segment, straight) {
    const { left: L, top: T } = frame, { from, to } = segment;
    const x1 = L + segment.x1, x2 = L + segment.x2;
    const { left, right } = this.view;
    if ((x1 < left && x2 < left) || (x1 > right && x2 > right)) return;
    const c = this.context;
    const isDown = frame.layerOf[from] < frame.layerOf[to];
    const y1 = T + frame.y[from] + (isDown ? frame.heights[from] : 0);
    const y2 = T + frame.y[to] + (isDown ? 0 : frame.heights[to]);
    // A bend is as tall as its layer: the line goes straight through between its neighbours.
    if (from >= frame.count) { c.moveTo(x1, T + frame.y[from] + (isDown ? 0 : frame.heights[from])); c.lineTo(x1, y1); }
    else c.moveTo(x1, y1);
    if (straight || x1 === x2) c.lineTo(x2, y2);
    else {
      const pull = Math.max(12, Math.min(60, Math.abs(y2 - y1) * 0.55)) * (isDown ? 1 : -1);
      c.bezierCurveTo(x1, y1 + pull, x2, y2 - pull, x2, y2);
    }
  }

  _arrows(frame, first, end, colour, only) {
    const c = this.context;
    const all = only || frame.segments.slice(frame.segmentsFrom[first], frame.segmentsFrom[Math.min(end, frame.tops.length)]);
    if (all.length > 1500) return;
    c.fillStyle = colour;
    c.beginPath();
    for (const segment of all) {
      if (segment.to >= frame.count || (!only && this.near.has(segment.value))) continue;
      const isDown = frame.layerOf[segment.from] < frame.layerOf[segment.to];
      const x = frame.left + segment.x2;
      const y = frame.top + frame.y[segment.to] + (isDown ? 0 : frame.heights[segment.to]);
      const d = isDown ? 1 : -1, size = frame.kind(segment.to) >= INPUT && frame.portStyle === "dot" ? 0 : 5;
      if (!size) continue;
      c.moveTo(x, y); c.lineTo(x - 4, y - d * size * 1.4); c.lineTo(x + 4, y - d * size * 1.4); c.closePath();
    }
    c.fill();
  }

  // Element type and shape, once for each value, where it leaves what makes it.
  _labels(frame, first, end) {
    const c = this.context, colour = this.theme.colour, seen = new Set(), { left, right } = this.view;
    c.font = ROW_FONT;
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.lineWidth = 3.5;
    c.strokeStyle = frame.depth % 2 ? colour["box-a"] : frame.depth ? colour["box-b"] : colour.ground;
    const to = frame.segmentsFrom[Math.min(end, frame.tops.length)];
    for (let s = frame.segmentsFrom[first]; s < to; s++) {
      const { value, from, x1 } = frame.segments[s];
      if (from >= frame.count || frame.kind(from) === INPUT || seen.has(value)) continue;
      const x = frame.left + x1;
      if (x < left - 200 || x > right) continue;
      seen.add(value);
      const text = this.scene.model.shortType(value);
      if (!text) continue;
      const y = frame.top + frame.y[from] + frame.heights[from] + 11;
      c.strokeText(text, x + 7, y);
      c.fillStyle = this.near.has(value) ? colour.accent : colour["faint-text"];
      c.fillText(text, x + 7, y);
    }
  }

  // Lines that are too long to draw: a stub at either end.
  _cuts(frame) {
    const c = this.context, cuts = frame.box.cuts;
    c.fillStyle = this.theme.colour.edge;
    let drawn = 0;
    for (let i = 0; i < cuts.length && drawn < 800; i += 3) {
      for (const [item, isTop] of [[cuts[i + 1], false], [cuts[i + 2], true]]) {
        const y = frame.itemTop(item) + (isTop ? -9 : frame.heights[item] + 9);
        if (y < this.view.top || y > this.view.bottom) continue;
        const x = frame.itemLeft(item) + 14;
        for (let dot = 0; dot < 3; dot++) c.fillRect(x - 1, y + (isTop ? -1 : 1) * dot * 4 - 1, 2, 2);
        drawn++;
      }
    }
  }

  // ---- items ----

  _layer(frame, layer, open) {
    const { left, right } = this.view;
    let low = 0;
    if (layer.length > 64) {
      let high = layer.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (frame.left + frame.x[layer[middle]] + frame.widths[layer[middle]] < left) low = middle + 1; else high = middle;
      }
    }
    const step = layer.length > 500 ? Math.max(1, Math.ceil((layer.length * 1.2) / (frame.width * this.k + 1))) : 1;
    for (let k = low; k < layer.length; k += step) {
      const item = layer[k];
      if (item >= frame.count) continue;
      const x = frame.itemLeft(item);
      if (x > right) break;
      if (x + frame.widths[item] < left) continue;
      if (frame.groups.has(item)) open.push(item);
      else this._item(frame, item, x, frame.itemTop(item));
    }
  }

  _item(frame, item, x, y) {
    const kind = frame.kind(item), w = frame.widths[item], h = frame.heights[item];
    if (kind === NODE) this._node(frame.ref(item), x, y, w, h, this.state.isChosen(frame, item));
    else if (kind === BOX) this._box(frame.ref(item), frame.depth, x, y, w, h, this.state.isChosen(frame, item));
    else this._port(frame, item, x, y, w, h);
  }

  _node(node, x, y, w, h, isChosen) {
    const c = this.context, colour = this.theme.colour, family = this.scene.model.family(node);
    const note = this.state.overlay ? this.state.overlay.of(node) : null;
    if (this.k < DETAIL_SCALE) {
      c.fillStyle = note ? note.colour : isChosen ? colour.accent : this.theme.family[family];
      c.globalAlpha = this.state.overlay && !note ? 0.25 : 1;
      // Never less than a pixel, or a large graph that is seen whole is not seen at all.
      c.fillRect(x, y, Math.max(w, 1.6 / this.k), Math.max(h, 1.2 / this.k));
      c.globalAlpha = 1;
      if (isChosen || this.state.isMarked(node)) this._ring(x, y, w, h, isChosen);
      return;
    }
    this._card(x, y, w, h, 8, colour.surface, colour["strong-line"], this.k > 0.5);
    c.globalAlpha = this.state.overlay && !note ? 0.55 : 1;
    const face = this.scene.faces.node(node);
    const chip = face.headHeight - 12;
    c.fillStyle = this.theme.family[family];
    round(c, x + 6, y + 6, CHIP, chip, 5);
    c.fill();
    if (this.k > TEXT_SCALE) {
      c.fillStyle = "#fff";
      c.font = `600 13px ${FONT}`;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillText(FAMILY[family].sign, x + 6 + CHIP / 2, y + 6 + chip / 2 + 0.5);
      this._face(face, x + CHIP + 14, y, x, w);
    }
    c.globalAlpha = 1;
    if (isChosen || this.state.isMarked(node)) this._ring(x, y, w, h, isChosen);
    if (note) this._note(note, x, y, w, h);
  }

  _face(face, textX, y, x, w) {
    const c = this.context, colour = this.theme.colour;
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    c.fillStyle = colour.text;
    c.font = TITLE_FONT;
    c.fillText(face.title, textX, y + (face.detail ? 17 : 20.5));
    if (face.detail) {
      c.fillStyle = colour["soft-text"];
      c.font = SMALL_FONT;
      c.fillText(face.detail, textX, y + (face.headHeight > 40 ? 34 : 31));
    }
    if (face.opens) this._sign(x + w - 16, y + (face.detail ? 15 : face.headHeight / 2), false);
    if (!face.rows.length || this.k < 0.45) return;
    c.fillStyle = colour.line;
    c.fillRect(x + 1, y + face.headHeight, w - 2, 1);
    c.font = ROW_FONT;
    face.rows.forEach(([name, text], k) => {
      const at = y + face.headHeight + 15 + k * ROW;
      c.fillStyle = colour["faint-text"];
      c.fillText(name, x + PADDING, at);
      c.fillStyle = colour["soft-text"];
      c.fillText(text, x + 2 * PADDING + face.key, at);
    });
  }

  _box(number, depth, x, y, w, h, isChosen) {
    const c = this.context, colour = this.theme.colour;
    const fill = depth % 2 ? colour["box-b"] : colour["box-a"];
    if (this.k < DETAIL_SCALE) {
      c.fillStyle = colour["strong-line"];
      c.fillRect(x, y, w, h);
    } else {
      // Sheets behind it: a closed box holds more.
      this._card(x + 4, y + 4, w, h, 9, fill, colour["strong-line"], false);
      this._card(x, y, w, h, 9, fill, colour["strong-line"], this.k > 0.5);
      if (this.k > TEXT_SCALE) this._face(this.scene.faces.box(number), x + 12, y, x, w);
      const count = this.state.overlay ? this.state.overlay.inBox(number) : 0;
      if (count) this._badge(String(count), x + w - 6, y, this.state.overlay.colourOfBox(number));
    }
    if (isChosen) this._ring(x, y, w, h, true);
  }

  _openItem(frame, item) {
    const c = this.context, colour = this.theme.colour, group = frame.groups.get(item);
    const x = frame.itemLeft(item), y = frame.itemTop(item), w = frame.widths[item], h = frame.heights[item];
    this._card(x, y, w, h, 11, frame.depth % 2 ? colour["box-b"] : colour["box-a"], colour["strong-line"], false);
    if (this.k > 0.22) {
      const face = frame.face(item);
      c.textAlign = "left";
      c.textBaseline = "middle";
      this._sign(x + 16, y + HEADER / 2 + 1, true);
      c.font = TITLE_FONT;
      c.fillStyle = colour.text;
      const isNode = frame.kind(item) === NODE;
      const title = isNode ? `${FAMILY[this.scene.model.family(frame.ref(item))].sign} ${face.title}` : face.title;
      c.fillText(title, x + 30, y + HEADER / 2 + 1);
      const shift = this.scene.faces.measurer.width(title, TITLE_FONT);
      c.font = SMALL_FONT;
      c.fillStyle = colour["soft-text"];
      c.fillText(face.detail, x + 38 + shift, y + HEADER / 2 + 1);
      group.titles.forEach((text, k) => {
        const inner = group.frames[k];
        c.fillText(text, inner.left - MARGIN + 8, y + HEADER + 8);
        if (k) { c.fillStyle = colour.line; c.fillRect(inner.left - MARGIN - BETWEEN / 2, y + HEADER, 1, h - HEADER - 8); c.fillStyle = colour["soft-text"]; }
      });
    }
    if (this.state.isChosen(frame, item)) this._ring(x, y, w, h, true, 11);
    for (const inner of group.frames) this._frame(inner);
  }

  _port(frame, item, x, y, w, h) {
    const c = this.context, colour = this.theme.colour, isInput = frame.kind(item) === INPUT;
    const isChosen = this.state.isChosen(frame, item);
    const style = frame.portStyle, face = frame.face(item);
    if (style === "dot") {
      c.fillStyle = isChosen ? colour.accent : colour.edge;
      c.beginPath();
      c.arc(x + w / 2, y + h / 2, isChosen ? 5 : 3, 0, 7);
      c.fill();
      return;
    }
    this._card(x, y, w, h, h / 2, colour["accent-soft"], colour.accent, false);
    if (this.k > TEXT_SCALE) {
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillStyle = colour.text;
      c.font = style === "full" ? TITLE_FONT : SMALL_FONT;
      const sign = style === "full" ? (isInput ? "▸ " : "◂ ") : "";
      c.fillText(sign + face.title, x + w / 2, y + (face.detail ? 14 : h / 2 + 0.5));
      if (face.detail) {
        c.font = SMALL_FONT;
        c.fillStyle = colour["soft-text"];
        c.fillText(face.detail, x + w / 2, y + 28);
      }
    }
    if (isChosen) this._ring(x, y, w, h, true, h / 2);
  }

  // ---- small parts ----

  _card(x, y, w, h, radius, fill, line, hasShadow) {
    const c = this.context;
    if (hasShadow) {
      c.fillStyle = "rgba(10, 16, 30, 0.07)";
      round(c, x, y + 1.6, w, h, radius);
      c.fill();
    }
    round(c, x, y, w, h, radius);
    c.fillStyle = fill;
    c.fill();
    c.strokeStyle = line;
    c.lineWidth = Math.max(1, 0.7 / this.k);
    c.stroke();
  }
  _ring(x, y, w, h, isChosen, radius = 9) {
    const c = this.context, d = 2 + 1 / this.k;
    round(c, x - d, y - d, w + 2 * d, h + 2 * d, radius + d);
    c.strokeStyle = isChosen ? this.theme.colour.accent : this.theme.colour.mark;
    c.lineWidth = Math.max(2.4, 2 / this.k);
    if (!isChosen) c.setLineDash([6, 3]);
    c.stroke();
    c.setLineDash([]);
  }
  _sign(x, y, isOpen) {
    const c = this.context;
    c.strokeStyle = this.theme.colour["soft-text"];
    c.lineWidth = 1.5;
    round(c, x - 6, y - 6, 12, 12, 3);
    c.moveTo(x - 3, y); c.lineTo(x + 3, y);
    if (!isOpen) { c.moveTo(x, y - 3); c.lineTo(x, y + 3); }
    c.stroke();
  }
  _note(note, x, y, w, h) {
    const c = this.context;
    c.fillStyle = note.colour;
    round(c, x - 1, y - 1, 5, h + 2, 3);
    c.fill();
    c.strokeStyle = note.colour;
    c.lineWidth = 1.6;
    round(c, x, y, w, h, 8);
    c.stroke();
    if (note.label) this._badge(note.label, x + w - 4, y - 5, note.colour);
  }
  _badge(text, right, y, colour) {
    if (this.k < TEXT_SCALE) return;
    const c = this.context;
    c.font = `600 10px ${FONT}`;
    const width = this.scene.faces.measurer.width(text, c.font) + 10;
    c.fillStyle = colour;
    round(c, right - width, y - 8, width, 15, 7.5);
    c.fill();
    c.fillStyle = "#fff";
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(text, right - width / 2, y);
  }
}

function round(c, x, y, w, h, radius) {
  c.beginPath();
  c.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2));
}
