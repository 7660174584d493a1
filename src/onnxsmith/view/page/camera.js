// Which part of the scene is seen, and how large: drags, wheels, pinches, and movements that take a moment.

const SMALLEST_SCALE = 0.0004, LARGEST_SCALE = 3;

class Camera {
  constructor(canvas, onMove) {
    this.canvas = canvas;
    this.onMove = onMove;
    this.x = 0; this.y = 0; this.scale = 1;
    this._pointers = new Map();
    this._animation = 0;
    canvas.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this._down(event));
    canvas.addEventListener("pointermove", (event) => this._drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this._up(event));
  }

  toScene(clientX, clientY) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [(clientX - left - this.x) / this.scale, (clientY - top - this.y) / this.scale];
  }

  _wheel(event) {
    event.preventDefault();
    this.stop();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey || (!event.shiftKey && Math.abs(event.deltaY) >= 50 && !event.deltaX)) {
      const strength = event.ctrlKey ? 0.01 : 0.0016;
      const { left, top } = this.canvas.getBoundingClientRect();
      this.zoomAt(event.clientX - left, event.clientY - top, Math.exp(-event.deltaY * unit * strength));
    } else {
      this.pan(-(event.shiftKey ? event.deltaY : event.deltaX) * unit, -(event.shiftKey ? 0 : event.deltaY) * unit);
    }
  }

  _down(event) {
    if (event.button !== 0 && event.button !== 1) return;
    this.stop();
    this._pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved = false;
    this._travel = 0;
    try { this.canvas.setPointerCapture(event.pointerId); } catch { /* it has left already */ }
  }
  _drag(event) {
    const last = this._pointers.get(event.pointerId);
    if (!last) return;
    const now = { x: event.clientX, y: event.clientY };
    if (this._pointers.size === 1) {
      this._travel += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
      if (this._travel > 4) { this.moved = true; this.pan(now.x - last.x, now.y - last.y); }
    } else {
      const [id] = [...this._pointers.keys()].filter((each) => each !== event.pointerId);
      const other = this._pointers.get(id);
      const before = Math.hypot(last.x - other.x, last.y - other.y), after = Math.hypot(now.x - other.x, now.y - other.y);
      const { left, top } = this.canvas.getBoundingClientRect();
      this.moved = true;
      this.pan((now.x - last.x) / 2, (now.y - last.y) / 2);
      if (before > 0) this.zoomAt((now.x + other.x) / 2 - left, (now.y + other.y) / 2 - top, after / before);
    }
    this._pointers.set(event.pointerId, now);
  }
  _up(event) { this._pointers.delete(event.pointerId); }

  pan(dx, dy) { this.x += dx; this.y += dy; this.onMove(); }
  zoomAt(x, y, factor) {
    const scale = Math.min(LARGEST_SCALE, Math.max(SMALLEST_SCALE, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.onMove();
  }
  zoom(factor) {
    this._go((t) => Math.pow(factor, t), () => {
      const { clientWidth, clientHeight } = this.canvas;
      const start = this.scale;
      return (t) => this.zoomAt(clientWidth / 2, clientHeight / 2, (start * Math.pow(factor, t)) / this.scale);
    });
  }
  _go(_, begin) {
    const step = begin();
    this._animate(step, 160);
  }

  // Shows a rectangle of the scene; `most` bounds how large it gets.
  show(rectangle, most = 1.15, isSudden = false) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const pad = Math.min(60, w * 0.08);
    const fitting = Math.min((w - 2 * pad) / Math.max(1, rectangle.width), (h - 2 * pad) / Math.max(1, rectangle.height));
    const scale = Math.max(SMALLEST_SCALE, Math.min(most, fitting));
    this.moveTo(
      w / 2 - (rectangle.left + rectangle.width / 2) * scale,
      h / 2 - (rectangle.top + rectangle.height / 2) * scale,
      scale, isSudden,
    );
  }
  moveTo(x, y, scale, isSudden = false) {
    const from = { x: this.x, y: this.y, scale: this.scale };
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (isSudden || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.stop();
      Object.assign(this, { x, y, scale });
      this.onMove();
      return;
    }
    // The middle of the window moves in a line, the scale by factors.
    const middle = { x: (w / 2 - from.x) / from.scale, y: (h / 2 - from.y) / from.scale };
    const goal = { x: (w / 2 - x) / scale, y: (h / 2 - y) / scale };
    this._animate((t) => {
      this.scale = from.scale * Math.pow(scale / from.scale, t);
      this.x = w / 2 - (middle.x + (goal.x - middle.x) * t) * this.scale;
      this.y = h / 2 - (middle.y + (goal.y - middle.y) * t) * this.scale;
      this.onMove();
    }, 260);
  }
  _animate(step, duration) {
    this.stop();
    const begun = performance.now();
    const tick = (now) => {
      const t = Math.min(1, Math.max(0, (now - begun) / duration));
      step(1 - Math.pow(1 - t, 3));
      this._animation = t < 1 ? requestAnimationFrame(tick) : 0;
    };
    this._animation = requestAnimationFrame(tick);
  }
  stop() {
    if (this._animation) cancelAnimationFrame(this._animation);
    this._animation = 0;
  }
}
