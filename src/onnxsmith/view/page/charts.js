// The picture of what a weight holds.

function histogram(bins, low, high) {
  const width = 280, height = 64, most = Math.max(...bins, 1), step = width / bins.length;
  const bars = bins.map((count, k) => {
    const tall = count ? Math.max(1.5, (count / most) * (height - 4)) : 0;
    return drawn("rect", { x: k * step + 0.5, y: height - tall, width: Math.max(1, step - 1), height: tall, rx: 1 });
  });
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img", preserveAspectRatio: "none",
    "aria-label": `Histogram from ${short(low)} to ${short(high)}` });
  if (low < 0 && high > 0) {
    const x = (-low / (high - low)) * width;
    picture.append(drawn("line", { x1: x, x2: x, y1: 0, y2: height, class: "zero" }));
  }
  picture.append(...bars);
  return element("figure", { class: "chart" }, picture,
    element("figcaption", {}, element("span", { text: short(low) }), element("span", { text: short(high) })));
}

function short(number) {
  if (number === null || number === undefined) return "–";
  if (typeof number !== "number") return String(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e9) return number.toLocaleString("en");
  const size = Math.abs(number);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? number.toExponential(3) : number.toPrecision(5).replace(/\.?0+$/, "");
}

function bytes(count) {
  let size = count;
  for (const unit of ["bytes", "kB", "MB", "GB"]) {
    if (size < 1000 || unit === "GB") return unit === "bytes" ? `${count} bytes` : `${size.toFixed(1)} ${unit}`;
    size /= 1000;
  }
}
