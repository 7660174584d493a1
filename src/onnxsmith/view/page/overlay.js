// Notes that another tool made of nodes (times, differences), and the steps of a timeline.

const CLASS_SIGNS = { added: "+", removed: "−", changed: "~", differs: "!", heat: "" };

// Without a holder there is no bar: what there is to step through is said elsewhere.
class Overlay {
  constructor(raw, model, theme, holder, onChange, onNode) {
    Object.assign(this, { raw, model, theme, holder, onChange, onNode });
    this.step = raw.steps.length ? 0 : -1;
    this._counts = new Map();
    this._hottest = new Map();
    this._place = 0;
    this._enter();
    if (holder) this._bar();
  }
  get notes() { return this.step >= 0 && this.raw.steps[this.step].notes ? this.raw.steps[this.step].notes : this.raw.notes; }

  _enter() {
    this._counts.clear();
    this._hottest.clear();
    for (const [node, [kind, share]] of Object.entries(this.notes)) {
      for (let box = this.model.nodes.box[this.model.drawn(Number(node))]; box >= 0; box = this.model.boxes[box].parent) {
        this._counts.set(box, (this._counts.get(box) || 0) + 1);
        if (kind === "heat") this._hottest.set(box, Math.max(this._hottest.get(box) || 0, share || 0));
      }
    }
    // Times from the longest, all else in the order of the model.
    const strength = (node) => (this.notes[node][0] === "heat" ? this.notes[node][1] || 0 : 0);
    this.order = Object.keys(this.notes).map(Number).sort((a, b) => strength(b) - strength(a) || a - b);
    this._place = 0;
  }
  inBox(box) { return this._counts.get(box) || 0; }
  // A closed box has the colour of the hottest node inside.
  colourOfBox(box) { return this._hottest.has(box) ? heatColour(this._hottest.get(box), this.theme.isDark) : this.theme.colour.accent; }
  // Where a reader begins: at the first note.
  begin() { if (this.order.length) this.onNode(this.order[0]); }

  of(node) {
    const found = this.notes[node];
    if (!found) return null;
    const [kind, share, label, text] = found;
    const strength = share === null ? 1 : share;
    const colour = kind === "heat" ? heatColour(strength, this.theme.isDark) : this.theme.colour[kind];
    const sign = CLASS_SIGNS[kind] || "";
    return { kind, colour, label: [sign, this.model.text(label)].filter(Boolean).join(" "), text: this.model.text(text) };
  }

  _bar() {
    const raw = this.raw, model = this.model;
    const title = element("strong", { text: model.text(raw.title) });
    const legend = raw.legend.map(([kind, text]) => element("span", { class: `legend legend-${kind}` },
      element("i", { "aria-hidden": "true", text: CLASS_SIGNS[kind] }), model.text(text)));
    const parts = [title, ...legend];
    if (raw.steps.length) {
      const say = element("span", { class: "step-text" });
      const slider = element("input", { type: "range", min: 0, max: raw.steps.length - 1, value: this.step, "aria-label": "Step",
        oninput: () => this._go(Number(slider.value), slider, say) });
      const by = (amount) => this._go(Math.max(0, Math.min(raw.steps.length - 1, this.step + amount)), slider, say);
      parts.push(element("span", { class: "steps" },
        element("button", { type: "button", text: "‹", "aria-label": "Step before", onclick: () => by(-1) }), slider,
        element("button", { type: "button", text: "›", "aria-label": "Next step", onclick: () => by(1) }), say));
      this._say(say);
    } else if (this.order.length > 1) {
      const say = element("span", { class: "step-text", role: "status" });
      const by = (amount) => {
        this._place = (this._place + amount + this.order.length) % this.order.length;
        say.textContent = `${this._place + 1} of ${this.order.length}`;
        this.onNode(this.order[this._place]);
      };
      say.textContent = `1 of ${this.order.length}`;
      parts.push(element("span", { class: "steps" },
        element("button", { type: "button", text: "‹", "aria-label": "Note before", onclick: () => by(-1) }), say,
        element("button", { type: "button", text: "›", "aria-label": "Next note", onclick: () => by(1) })));
    }
    this.holder.replaceChildren(...parts);
    this.holder.hidden = false;
  }
  _go(step, slider, say) {
    this.step = step;
    slider.value = String(step);
    this._say(say);
    this._enter();
    this.onChange();
    this.begin();
  }
  _say(say) {
    const step = this.raw.steps[this.step];
    say.textContent = `step ${this.step + 1} of ${this.raw.steps.length}: ${this.model.text(step.title)}`;
  }
}

// From pale to strong, readable on both grounds.
function heatColour(share, isDark) {
  const t = Math.sqrt(Math.max(0, Math.min(1, share)));
  return isDark ? `hsl(${44 - 34 * t} ${45 + 45 * t}% ${34 + 20 * t}%)` : `hsl(${44 - 36 * t} ${60 + 25 * t}% ${66 - 22 * t}%)`;
}
