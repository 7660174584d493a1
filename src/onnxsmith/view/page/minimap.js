// The whole scene in a corner, and the window in it.

class Minimap {
  // `state` has the notes of other tools, if there are any: those nodes stand out.
  constructor(canvas, scene, theme, camera, state) {
    Object.assign(this, { canvas, scene, theme, camera, state });
    this._picture = document.createElement("canvas");
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this._jump(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) this._jump(event); });
  }

  _jump(event) {
    const { left, top } = this.canvas.getBoundingClientRect(), view = this.camera.canvas;
    const x = (event.clientX - left - this.x) / this.k, y = (event.clientY - top - this.y) / this.k;
    this.camera.moveTo(view.clientWidth / 2 - x * this.camera.scale, view.clientHeight / 2 - y * this.camera.scale, this.camera.scale, true);
  }

  paint() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w) return;
    const scene = this.scene;
    this.k = Math.min((w - 12) / Math.max(1, scene.width), (h - 12) / Math.max(1, scene.height));
    this.x = (w - scene.width * this.k) / 2;
    this.y = (h - scene.height * this.k) / 2;
    const overlay = this.state.overlay;
    const key = `${scene.version},${w},${h},${this.theme.isDark},${overlay ? overlay.step : ""}`;
    if (key !== this._key) { this._key = key; this._repaint(w, h, ratio); }
    if (this.canvas.width !== this._picture.width) this.canvas.width = this._picture.width;
    if (this.canvas.height !== this._picture.height) this.canvas.height = this._picture.height;
    const c = this.canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this._picture, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const camera = this.camera, view = camera.canvas, s = this.k / camera.scale;
    const left = this.x - camera.x * s, top = this.y - camera.y * s;
    const width = Math.max(6, view.clientWidth * s), height = Math.max(4, view.clientHeight * s);
    c.fillStyle = this.theme.colour["accent-soft"];
    c.globalAlpha = 0.45;
    c.fillRect(left, top, width, height);
    c.globalAlpha = 1;
    c.strokeStyle = this.theme.colour.accent;
    c.lineWidth = 1.5;
    c.strokeRect(left, top, width, height);
  }

  _repaint(w, h, ratio) {
    this._picture.width = Math.round(w * ratio);
    this._picture.height = Math.round(h * ratio);
    const c = this._picture.getContext("2d");
    c.setTransform(ratio * this.k, 0, 0, ratio * this.k, ratio * this.x, ratio * this.y);
    const noted = [];
    this._frame(c, this.scene.root, noted);
    c.globalAlpha = 1;
    // On top, and never too small to see.
    const least = 2.5 / this.k;
    for (const [frame, item, colour] of noted) {
      c.fillStyle = colour;
      c.fillRect(frame.itemLeft(item), frame.itemTop(item), Math.max(frame.widths[item], least), Math.max(frame.heights[item], least));
    }
  }
  _frame(c, frame, noted) {
    const step = Math.max(1, Math.floor(frame.total / 6000)), least = 1 / this.k, overlay = this.state.overlay;
    for (let item = 0; item < frame.count; item += step) {
      const group = frame.groups.get(item);
      const kind = frame.kind(item);
      const note = overlay && kind === NODE ? overlay.of(frame.ref(item)) : null;
      if (note) { noted.push([frame, item, note.colour]); continue; }
      c.globalAlpha = overlay && kind === NODE && !group ? 0.4 : 1;
      c.fillStyle = group ? this.theme.colour.line : kind === NODE ? this.theme.family[this.scene.model.family(frame.ref(item))]
        : kind === BOX ? this.theme.colour["strong-line"] : this.theme.colour.accent;
      c.fillRect(frame.itemLeft(item), frame.itemTop(item), Math.max(frame.widths[item], least), Math.max(frame.heights[item], least));
    }
    for (const group of frame.groups.values()) for (const inner of group.frames) this._frame(c, inner, noted);
  }
}
