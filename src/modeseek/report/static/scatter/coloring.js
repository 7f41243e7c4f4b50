// Scatter plot: the colours of the points, by cluster, by an alternative partition, or by a column.

// ---------------------------------------- colours

const channels = (color) => [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16));
const mixed = (a, b, share) => "rgb(" + a.map((each, k) => Math.round(each + share * (b[k] - each))).join(" ") + ")";
const shade = (color) => mixed(channels(color), [255, 255, 255], colors.lighter);

// from low to high values; the lower end stays visible on white, the upper end on black
const RAMP = ["#e0a526", "#57b07c", "#1e7fa8", "#3d2f86"].map(channels);
const DARK_RAMP = ["#5f6fe0", "#2fa7b8", "#86d38c", "#fbe98a"].map(channels);
function ramp(share) {
  const stops = colors.lighter ? DARK_RAMP : RAMP, place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(place));
  return mixed(stops[k], stops[k + 1], place - k);
}
const NO_VALUE = "#9aa1a9";
let tints = [];
function tint() {
  const shades = groups.map((group) => shade(group.color));
  const valueColor = (value) => (Number.isNaN(value) ? NO_VALUE : ramp((value - gradient.low) / (gradient.high - gradient.low || 1)));
  tints = Array.from(labels, (label, i) => (gradient === null ? shades[label] : valueColor(gradient.values[i])));
}

// ---------------------------------------- what the colours show

const MOST_CATEGORIES = 12;
let chosenPartition = -1;
const partitionLabels = data.partitions.map((partition) => new Uint32Array(bytes(partition.labels)));

function byClusters() {
  return { groups: data.clusters, labels: clusterOf, gradient: null, partition: -1 };
}
function byPartition(k) {
  return { groups: data.partitions[k].clusters, labels: partitionLabels[k], gradient: null, partition: k };
}
function byValues(name, values, decimals) {
  const [low, high] = robustExtent(values.filter((value) => !Number.isNaN(value)));
  return { ...byClusters(), gradient: { name, values, low, high, decimals } };
}
// a column with many different numbers is a gradient; in other columns, the most frequent values have a colour each
function byColumn(column) {
  const counts = new Float64Array(column.values.length);
  for (const code of column.codes) counts[code] += 1;
  const numbers = column.values.map((text) => (text.trim() === "" ? NaN : Number(text)));
  const numeric = column.values.every((text, code) => text.trim() === "" || Number.isFinite(numbers[code]));
  if (numeric && column.values.length > MOST_CATEGORIES) {
    return byValues(column.name, Float64Array.from(column.codes, (code) => numbers[code]), null);
  }
  const ranked = column.values.map((_, code) => code).sort((a, b) => counts[b] - counts[a]);
  const kept = ranked.slice(0, ranked.length > MOST_CATEGORIES ? MOST_CATEGORIES - 1 : MOST_CATEGORIES);
  const place = new Uint32Array(ranked.length).fill(kept.length);
  kept.forEach((code, k) => { place[code] = k; });
  const made = kept.map((code, k) => (
    { name: column.values[code] || "(empty)", size: counts[code], color: data.palette[k] }));
  const rest = ranked.slice(MOST_CATEGORIES - 1);
  if (kept.length < ranked.length) {
    const size = rest.reduce((sum, code) => sum + counts[code], 0);
    made.push({ name: rest.length.toLocaleString("en") + " other values", size, color: NO_VALUE });
  }
  return { groups: made, labels: Uint32Array.from(column.codes, (code) => place[code]), gradient: null, partition: -1 };
}

// the choices of the list "colour", each with a function that makes the colouring
const colorings = [
  ["cluster", byClusters],
  ...data.partitions.map((partition, k) => ["alternative: " + partition.name, () => byPartition(k)]),
  ...axes.filter((axis) => axis.feature).map((axis) => [axis.name, () => byValues(axis.name, axis.values, axis.decimals)]),
  ...extra.map((column) => [column.name, () => byColumn(column)]),
];
if (confidence !== null) {
  colorings.push(["confidence", () => byValues("confidence", Float64Array.from(confidence), 2)]);
}

function applyColoring(k) {
  const made = colorings[k][1]();
  [groups, labels, gradient, chosenPartition] = [made.groups, made.labels, made.gradient, made.partition];
  hidden.clear();
  onlyDoubtful = false;
  emphasized = null;
  paint.value = String(k);
  pinned = false;
  tint();
  makeLegend();
  markAlternative();
  draw();
  point(-1);
}
