// The list of what differs between two models, to read and to step through. Each entry has a sign besides its colour.

const SHOWN_CHANGES = 300;

class Changes {
  constructor(holder, model, both, onRow, onClose) {
    Object.assign(this, { holder, onRow, onClose });
    const text = (number) => model.text(number);
    this.rows = both.rows.map(([kind, group, words, details, before, after]) =>
      ({ kind, title: text(group), text: text(words), details: details.map(text), before, after }));
    this.summary = text(both.title);
    this.at = -1;
    this._limit = SHOWN_CHANGES;
    this._ofNode = [new Map(), new Map()]; // side -> node -> row
    this.rows.forEach((row, k) => [row.before, row.after].forEach((nodes, side) => {
      for (const node of nodes) if (!this._ofNode[side].has(node)) this._ofNode[side].set(node, k);
    }));
    this._show();
  }

  _show() {
    const parts = [grip(this.holder), element("div", { class: "changes-head" }, element("strong", { text: plural(this.rows.length, "change") }),
      this._where = element("span", { class: "step-text", role: "status" }),
      element("button", { type: "button", text: "‹", "aria-label": "Change before (K)", title: "Change before (K)", onclick: () => this.step(-1) }),
      element("button", { type: "button", text: "›", "aria-label": "Next change (J)", title: "Next change (J)", onclick: () => this.step(1) }),
      closeButton("Close the list (L)", this.onClose))];
    if (!this.rows.length) parts.push(element("p", { class: "note", text: "The two models do not differ." }));
    const list = element("div", { class: "changes-list" });
    let group = null;
    this._buttons = this.rows.slice(0, this._limit).map((row, k) => {
      if (row.title !== group) { group = row.title; list.append(element("h3", { text: group })); }
      const button = element("button", { type: "button", class: `change change-${row.kind}`, onclick: () => this.go(k) },
        element("i", { text: CLASS_SIGNS[row.kind], title: row.kind, "aria-label": row.kind, role: "img" }),
        element("span", {}, element("code", { text: row.text }), ...row.details.slice(0, 4).map((each) => element("small", { text: each }))));
      list.append(button);
      return button;
    });
    if (this.rows.length > this._limit)
      list.append(element("button", { type: "button", class: "found-more", text: `${plural(this.rows.length - this._limit, "change")} more`, onclick: () => { this._limit += 1000; this._show(); } }));
    list.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      this.step(event.key === "ArrowDown" ? 1 : -1);
      this._buttons[this.at].focus();
    });
    this.holder.replaceChildren(...parts, list);
    this._light();
  }

  begin() { if (this.rows.length) this.go(Math.max(0, this.rows.findIndex((row) => row.before.length || row.after.length))); }
  step(by) { if (this.rows.length) this.go(this.at < 0 ? 0 : (this.at + by + this.rows.length) % this.rows.length); }
  go(k) {
    if (k >= this._limit) { this._limit = k + SHOWN_CHANGES; this._show(); }
    this.onRow(this.rows[k]);
    this.at = k;
    this._light();
  }
  // The entry of a node that was chosen elsewhere.
  light(side, node) {
    const found = this._ofNode[side].get(node);
    this.at = found === undefined ? this.at : found;
    this._light(found !== undefined);
  }
  _light(isAt = this.at >= 0) {
    this._buttons.forEach((button, k) => {
      if (isAt && k === this.at) { button.setAttribute("aria-current", "true"); button.scrollIntoView({ block: "nearest" }); }
      else button.removeAttribute("aria-current");
    });
    this._where.textContent = this.at >= 0 ? `${this.at + 1} of ${this.rows.length}` : "";
  }
}
