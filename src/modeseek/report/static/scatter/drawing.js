// Scatter plot: draw axes, points and bars on the canvas.

// ---------------------------------------- numbers and labels

function format(value, axis) {
  if (axis.decimals === null) {
    return String(Number(value.toPrecision(6)));
  }
  return value.toLocaleString("en", { minimumFractionDigits: axis.decimals, maximumFractionDigits: axis.decimals });
}

function ticks(low, high, most) {
  const rough = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  const marks = [], first = Math.ceil(low / step);
  for (let k = first; k * step <= high && marks.length < 50; k++) marks.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const big = Math.max(Math.abs(low), Math.abs(high));
  const text = big >= 1e7 || digits > 6
    ? (v) => String(Number(v.toPrecision(6)))
    : (v) => (Math.abs(v) < step / 1e6 ? "0" : v.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return marks.map((value) => ({ value, text: text(value) }));
}

function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(cut + "…").width > width) cut = cut.slice(0, -1);
  return cut + "…";
}

// ---------------------------------------- drawing

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  colors = Object.fromEntries(["paper", "ink", "faint", "rule", "hair", "link"].map((name) =>
    [name, style.getPropertyValue("--" + name).trim()]));
  colors.font = style.getPropertyValue("--sans").trim();
  // as in page.css: colours on a dark background are lighter
  colors.lighter = Number(style.getPropertyValue("--lighter"));
}

function draw(scale = window.devicePixelRatio || 1) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px " + colors.font;
  const bars = yAxis() ? null : histogram();
  const yRange = bars ? [0, bars.top] : [view.y0, view.y1];
  const yMarks = ticks(yRange[0], yRange[1], Math.max(2, height / 70))
    .filter((mark) => !bars || Number.isInteger(mark.value));
  const margin = 14 + Math.max(...yMarks.map((mark) => context.measureText(mark.text).width), 10);
  box = { left: margin, right: width - 14, top: 34, bottom: height - 46 };
  // data with one feature: a histogram, and a strip of points below it
  box.floor = bars ? box.bottom - 0.2 * (box.bottom - box.top) : box.bottom;
  drawFrame(context, width, yMarks, yRange);
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  if (bars) drawBars(context, bars);
  place(bars !== null);
  drawPoints(context);
  context.restore();
  if (!zoomed()) drawOutside(context);
  drawCurrent(context);
}

function drawFrame(context, width, yMarks, yRange) {
  const xMarks = ticks(view.x0, view.x1, Math.max(2, width / 85));
  context.lineWidth = 1;
  context.strokeStyle = colors.hair;
  context.fillStyle = colors.faint;
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const mark of xMarks) {
    const x = Math.round(xPixel(mark.value)) + 0.5;
    line(context, x, box.top, x, box.bottom);
    const half = context.measureText(mark.text).width / 2;
    if (x - half >= 2 && x + half <= width - 2) context.fillText(mark.text, x, box.bottom + 6);
  }
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const mark of yMarks) {
    const y = Math.round(box.floor - (mark.value - yRange[0]) / (yRange[1] - yRange[0]) * (box.floor - box.top)) + 0.5;
    line(context, box.left, y, box.right, y);
    context.fillText(mark.text, box.left - 6, y);
  }
  context.strokeStyle = colors.rule;
  line(context, box.left + 0.5, box.top, box.left + 0.5, box.bottom);
  line(context, box.left, box.floor + 0.5, box.right, box.floor + 0.5);
  context.fillStyle = colors.ink;
  context.textBaseline = "alphabetic";
  context.fillText(fitText(context, xAxis().name, box.right - box.left), box.right, box.bottom + 36);
  context.textAlign = "left";
  context.fillText(fitText(context, yAxis() ? "↑ " + yAxis().name : "↑ rows", width - 24), 10, 20);
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

const xPixel = (value) => box.left + (value - view.x0) / (view.x1 - view.x0) * (box.right - box.left);

function place(strip) {
  const xs = xAxis().values, ys = strip ? null : yAxis().values, tall = box.bottom - box.floor;
  for (let i = 0; i < n; i++) {
    px[i] = xPixel(xs[i]);
    py[i] = strip
      ? box.floor + tall * (0.15 + 0.75 * jitter[i])
      : box.bottom - (ys[i] - view.y0) / (view.y1 - view.y0) * (box.bottom - box.top);
  }
  if (zoomed()) return;
  for (const i of outside) {
    px[i] = Math.min(box.right, Math.max(box.left, px[i]));
    py[i] = Math.min(box.bottom, Math.max(box.top, py[i]));
  }
}

// outliers are triangles at the edge of the plot that point to where they are
function drawOutside(context) {
  const size = Math.max(5, radius() + 1);
  for (const i of outside) {
    if (!isShown(i)) continue;
    const dx = Math.sign(xAxis().values[i] - view.x1) + Math.sign(xAxis().values[i] - view.x0);
    const dy = yAxis() ? Math.sign(yAxis().values[i] - view.y1) + Math.sign(yAxis().values[i] - view.y0) : 0;
    context.save();
    context.translate(px[i], py[i]);
    context.rotate(Math.atan2(-dy, dx));
    context.beginPath();
    context.moveTo(2, 0);
    context.lineTo(-1.5 * size, size);
    context.lineTo(-1.5 * size, -size);
    context.closePath();
    context.fillStyle = tints[i];
    context.strokeStyle = colors.ink;
    context.lineWidth = 1;
    context.globalAlpha = emphasized !== null && emphasized !== labels[i] ? 0.1 : 1;
    context.fill();
    context.stroke();
    context.restore();
  }
}

// points are smaller if there are many, and grow when zoomed in
function radius() {
  const closer = Math.sqrt((home.x1 - home.x0) / (view.x1 - view.x0));
  const wide = Math.sqrt((box.right - box.left) / 900);
  return Math.min(wide * (yAxis() ? 6 : 3.5), Math.max(1.3, wide * (90 / Math.sqrt(n)) * Math.min(closer, 3)));
}

function drawPoints(context) {
  const r = radius(), inside = (i) =>
    px[i] > box.left - r && px[i] < box.right + r && py[i] > box.top - r && py[i] < box.bottom + r;
  const away = new Set(zoomed() ? [] : outside), byCluster = labels === clusterOf;
  for (const i of order) {
    if (!isShown(i) || !inside(i) || away.has(i)) continue;
    const group = groups[labels[i]], color = tints[i];
    context.globalAlpha = emphasized !== null && emphasized !== labels[i] ? 0.1 : group.noise ? 0.7 : 0.85;
    context.beginPath();
    context.arc(px[i], py[i], group.noise ? r * 0.8 : r, 0, 2 * Math.PI);
    if (byCluster && isDoubtful(i)) {
      context.strokeStyle = color;
      context.lineWidth = Math.max(1.2, r * 0.4);
      context.stroke();
    } else {
      context.fillStyle = color;
      context.fill();
      // a rim separates touching points; small points have none, because nothing but the rim would be visible
      if (r > 3) {
        context.strokeStyle = colors.paper;
        context.lineWidth = 0.6;
        context.stroke();
      }
    }
  }
  context.globalAlpha = 1;
}

function drawCurrent(context) {
  if (current < 0 || !isVisible(current)) return;
  context.strokeStyle = colors.ink;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(px[current], py[current], radius() + 4, 0, 2 * Math.PI);
  context.stroke();
}

function histogram() {
  const count = Math.min(80, Math.max(10, Math.round(2 * Math.sqrt(n)))), values = xAxis().values;
  const low = home.x0, wide = (home.x1 - home.x0) / count, kinds = groups.length;
  const heights = Array.from({ length: count }, () => new Float64Array(kinds));
  for (let i = 0; i < n; i++) {
    const bin = Math.floor((values[i] - low) / wide);
    if (isShown(i)) heights[Math.min(count - 1, Math.max(0, bin))][labels[i]] += 1;
  }
  const top = Math.max(1, ...heights.map((bin) => bin.reduce((sum, each) => sum + each, 0)));
  return { low, wide, heights, top: top * 1.05 };
}

function drawBars(context, bars) {
  const tall = (box.floor - box.top) / bars.top;
  bars.heights.forEach((bin, k) => {
    const x0 = xPixel(bars.low + k * bars.wide), x1 = xPixel(bars.low + (k + 1) * bars.wide);
    let y = box.floor;
    bin.forEach((count, label) => {
      if (!count) return;
      context.fillStyle = gradient === null ? shade(groups[label].color) : colors.faint;
      context.globalAlpha = emphasized !== null && emphasized !== label ? 0.2 : 0.9;
      context.fillRect(x0 + 0.5, y - count * tall, Math.max(1, x1 - x0 - 1), count * tall);
      y -= count * tall;
    });
  });
  context.globalAlpha = 1;
}
