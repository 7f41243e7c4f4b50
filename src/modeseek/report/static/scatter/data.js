// Scatter plot: decode the data, and hold the state of the view. The files of this folder share one function scope.

const figure = document.getElementById("scatter");
const data = JSON.parse(document.getElementById("scatter-data").textContent);
const find = (name) => figure.querySelector(name);
const canvas = find("canvas"), tip = find(".tip"), legend = find(".legend"), stage = find(".stage");
const across = find(".across"), up = find(".up"), paint = find(".paint");
const HISTOGRAM = -1, NEAR = 18, MOST_LISTED = 10, MOST_IN_LEGEND = 20, MOST_BUTTONS = 200;

// ---------------------------------------- the data

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}
const clusterOf = new Uint32Array(bytes(data.labels)), n = clusterOf.length;
const rows = data.rows === null ? null : new Uint32Array(bytes(data.rows));
const confidence = data.confidence === null ? null : new Float32Array(bytes(data.confidence));
const axes = data.axes.map((axis) => {
  const packed = new Float32Array(bytes(axis.data)), values = new Float64Array(n);
  for (let i = 0; i < n; i++) values[i] = axis.middle + axis.half * packed[i];
  return { name: axis.name, short: axis.short || axis.name, feature: axis.feature, decimals: axis.decimals, values };
});
const extra = data.extra.map((column) => ({
  name: column.name, values: column.values, codes: new Uint32Array(bytes(column.codes)),
}));
const isNoise = (i) => data.clusters[clusterOf[i]].noise === true;
const isDoubtful = (i) => confidence !== null && !isNoise(i) && confidence[i] < data.doubtful;

// a fixed seed, so that the plot is reproducible
function generator(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
}
// random drawing order, so that no cluster covers the others; noise is drawn first
const order = Array.from({ length: n }, (_, i) => i);
const chance = generator(1);
for (let i = n - 1; i > 0; i--) {
  const j = Math.floor(chance() * (i + 1));
  [order[i], order[j]] = [order[j], order[i]];
}
order.sort((a, b) => isNoise(b) - isNoise(a));
const jitter = new Float32Array(n), shake = generator(2);
for (let i = 0; i < n; i++) jitter[i] = shake();

// ---------------------------------------- state of the view

// the points are coloured by group (clusters by default) or by a numeric column
let groups = data.clusters, labels = clusterOf, gradient = null;
const hidden = new Set();
let allPoints = false, outside = [];
let onlyDoubtful = false, emphasized = null, current = -1, pinned = false, touched = false;
let view = null, home = null, box = null, colors = null, waiting = false;
const px = new Float32Array(n), py = new Float32Array(n);

const xAxis = () => axes[Number(across.value)];
const yAxis = () => (Number(up.value) === HISTOGRAM ? null : axes[Number(up.value)]);
const isShown = (i) => !hidden.has(labels[i]) && (!onlyDoubtful || isDoubtful(i));
const narrow = () => window.matchMedia("(max-width: 40rem)").matches;

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// the range without outliers, which are few values that would leave less than half of the axis to all other values
function robustExtent(values) {
  const sorted = Float64Array.from(values).sort(), count = sorted.length, cut = Math.ceil(0.005 * count);
  if (count < 20) return extent(values);
  const low = sorted[cut], high = sorted[count - 1 - cut], span = high - low;
  if (!(span > 0)) return extent(values);
  const inside = sorted.filter((value) => value >= low - span && value <= high + span);
  return [inside[0], inside[inside.length - 1]];
}

function limits(values) {
  const [low, high] = allPoints ? extent(values) : robustExtent(values);
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return [low - margin, high + margin];
}

function resetView() {
  const [x0, x1] = limits(xAxis().values), [y0, y1] = yAxis() ? limits(yAxis().values) : [0, 1];
  home = { x0, x1, y0, y1 };
  view = { ...home };
  outside = order.filter((i) => isOutside(xAxis().values[i], x0, x1) || (yAxis() && isOutside(yAxis().values[i], y0, y1)));
  showOutside();
  updateTouchAction();
  redraw();
}
const isOutside = (value, low, high) => value < low || value > high;

// a finger scrolls the page unless the plot is zoomed in
function updateTouchAction() {
  canvas.style.touchAction = zoomed() ? "none" : "pan-y";
}
const zoomed = () => view.x1 - view.x0 < 0.999 * (home.x1 - home.x0);
