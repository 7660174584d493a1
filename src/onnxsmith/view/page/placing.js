// Coordinates inside one box: Python has said which layer each item stands in and in which order; here it gets a place.
// view/placing.py does the same for pictures.

const GAP_X = 22, BEND_WIDTH = 10, GAP_Y = 44, PORT_GAP = 20, SWEEPS = 10;

// Places items of the given widths and heights. `box` has layers and segments (value, upper, lower, …).
// With port gaps, the first and last layer are dots on the edge of a box, and stand near the others.
// Gives x (centres), y (tops), layer tops and heights, and the size of it all.
function placeBox(box, widths, heights, itemCount, hasPortGaps) {
  const layers = box.layers, segments = box.segments, total = widths.length;
  const layerOf = new Int32Array(total);
  layers.forEach((layer, k) => { for (const item of layer) layerOf[item] = k; });
  const up = lists(total), down = lists(total);
  for (let i = 0; i < segments.length; i += 3) {
    const a = segments[i + 1], b = segments[i + 2];
    if (layerOf[a] === layerOf[b]) continue;
    const [upper, lower] = layerOf[a] < layerOf[b] ? [a, b] : [b, a];
    down[upper].push(lower);
    up[lower].push(upper);
  }
  const x = spread(layers, widths, up, down, itemCount);
  let left = Infinity, right = -Infinity;
  for (let item = 0; item < total; item++) {
    left = Math.min(left, x[item] - widths[item] / 2);
    right = Math.max(right, x[item] + widths[item] / 2);
  }
  if (!total) left = right = 0;
  for (let item = 0; item < total; item++) x[item] -= left;
  const y = new Float64Array(total), tops = new Float64Array(layers.length), tall = new Float64Array(layers.length);
  let top = 0, gap = GAP_Y;
  layers.forEach((layer, k) => {
    let height = 0;
    for (const item of layer) height = Math.max(height, heights[item]);
    tops[k] = top;
    tall[k] = height;
    for (const item of layer) {
      if (item < itemCount) y[item] = top + (height - heights[item]) / 2;
      else { y[item] = top; heights[item] = height; }
    }
    gap = hasPortGaps && (k === 0 || k === layers.length - 2) ? PORT_GAP : GAP_Y;
    top += height + gap;
  });
  return { x, y, tops, tall, layerOf, width: right - left, height: Math.max(0, top - gap) };
}

function lists(count) {
  const result = new Array(count);
  for (let i = 0; i < count; i++) result[i] = [];
  return result;
}

// Horizontal places: every item moves towards the middle of its neighbours, layer by layer, as far as order and gaps
// allow. Bends move least willingly, so that long lines stay straight.
function spread(layers, widths, up, down, itemCount) {
  const x = new Float64Array(widths.length);
  for (const layer of layers) {
    let at = 0;
    for (const item of layer) { x[item] = at + widths[item] / 2; at += widths[item] + GAP_X; }
    for (const item of layer) x[item] -= at / 2;
  }
  const sweeps = widths.length > 30000 ? 6 : SWEEPS;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const downward = sweep % 2 === 0, last = sweep >= sweeps - 2;
    for (let step = 0; step < layers.length; step++) {
      const layer = layers[downward ? step : layers.length - 1 - step];
      settle(layer, x, widths, (item) => wished(item, x, up, down, downward, last, itemCount));
    }
  }
  for (const layer of layers) for (let k = 0; k < layer.length; k++) straighten(layer, k, x, widths, up, down);
  for (let step = layers.length - 1; step >= 0; step--) {
    const layer = layers[step];
    for (let k = 0; k < layer.length; k++) straighten(layer, k, x, widths, down, up);
  }
  return x;
}

// Puts an item under its only neighbour before it, if it is that one's only neighbour too, as far as there is room.
function straighten(layer, k, x, widths, before, after) {
  const item = layer[k];
  if (before[item].length !== 1) return;
  const neighbour = before[item][0];
  if (after[neighbour].length !== 1) return;
  const left = k ? x[layer[k - 1]] + (widths[layer[k - 1]] + widths[item]) / 2 + GAP_X : -Infinity;
  const right = k + 1 < layer.length ? x[layer[k + 1]] - (widths[layer[k + 1]] + widths[item]) / 2 - GAP_X : Infinity;
  x[item] = Math.max(left, Math.min(right, x[neighbour]));
}

function wished(item, x, up, down, downward, both, itemCount) {
  let near = downward ? up[item] : down[item];
  if (both && near.length && item < itemCount) near = [...up[item], ...down[item]];
  if (!near.length) near = both || item >= itemCount ? (downward ? down[item] : up[item]) : near;
  if (!near.length) return [x[item], 0.1];
  let weight = near.length;
  if (item >= itemCount) weight = near.some((each) => each >= itemCount) ? 8 : 3;
  return [median(near, x), weight];
}

function median(items, x) {
  if (items.length === 1) return x[items[0]];
  if (items.length === 2) return (x[items[0]] + x[items[1]]) / 2;
  const all = items.map((item) => x[item]).sort((a, b) => a - b);
  return (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
}

// Least squares with least distances: neighbours that want to pass each other become one block (pool adjacent violators).
function settle(layer, x, widths, wish) {
  if (layer.length === 1) { x[layer[0]] = wish(layer[0])[0]; return; }
  const offsets = new Float64Array(layer.length);
  for (let k = 1; k < layer.length; k++)
    offsets[k] = offsets[k - 1] + (widths[layer[k - 1]] + widths[layer[k]]) / 2 + GAP_X;
  const places = [], weights = [], counts = [];
  for (let k = 0; k < layer.length; k++) {
    const [target, weight] = wish(layer[k]);
    places.push(target - offsets[k]); weights.push(weight); counts.push(1);
    while (places.length > 1 && places[places.length - 2] > places[places.length - 1]) {
      const p = places.pop(), w = weights.pop(), c = counts.pop(), last = places.length - 1;
      places[last] = (places[last] * weights[last] + p * w) / (weights[last] + w);
      weights[last] += w;
      counts[last] += c;
    }
  }
  let k = 0;
  for (let block = 0; block < places.length; block++)
    for (let n = 0; n < counts[block]; n++, k++) x[layer[k]] = places[block] + offsets[k];
}
