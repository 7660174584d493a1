// Colours, signs and names of operator families. A family is always shown by its sign too, never by colour alone.

const FAMILY = {
  function: { sign: "λ", label: "Function call", hue: "--f-function" },
  elementwise: { sign: "+", label: "Element by element", hue: "--f-elementwise" },
  linear: { sign: "×", label: "Matrix, convolution, attention", hue: "--f-linear" },
  activation: { sign: "ƒ", label: "Activation", hue: "--f-activation" },
  normalization: { sign: "μ", label: "Normalization", hue: "--f-normalization" },
  reduction: { sign: "Σ", label: "Reduction, pooling", hue: "--f-reduction" },
  shape: { sign: "⇄", label: "Shape, indexing, type", hue: "--f-shape" },
  control: { sign: "◇", label: "Control flow", hue: "--f-control" },
  constant: { sign: "#", label: "Constant, random", hue: "--f-constant" },
  quantization: { sign: "q", label: "Quantization", hue: "--f-quantization" },
};

class Theme {
  constructor() {
    this._asked = window.matchMedia("(prefers-color-scheme: dark)");
    this._listeners = [];
    this._asked.addEventListener("change", () => { if (!document.documentElement.dataset.theme) this._changed(); });
    this._read();
  }
  get isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : this._asked.matches;
  }
  toggle() {
    document.documentElement.dataset.theme = this.isDark ? "light" : "dark";
    this._changed();
  }
  onChange(listener) { this._listeners.push(listener); }
  _changed() {
    this._read();
    for (const listener of this._listeners) listener();
  }
  _read() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    this.colour = {};
    for (const name of ["ground", "surface", "raised", "line", "strong-line", "edge", "text", "soft-text", "faint-text",
      "accent", "accent-soft", "mark", "box-a", "box-b", "added", "removed", "changed", "differs", "heat"]) {
      this.colour[name] = get(`--${name}`);
    }
    this.family = {};
    for (const [name, each] of Object.entries(FAMILY)) this.family[name] = get(each.hue);
  }
}
