"use strict";
(function () {
  const figure = document.getElementById("scatter");
  const data = JSON.parse(document.getElementById("scatter-data").textContent);
  const find = (name) => figure.querySelector(name);
  const canvas = find("canvas"), tip = find(".tip"), legend = find(".legend"), stage = find(".stage");
  const across = find(".across"), up = find(".up");
  const HISTOGRAM = -1, NEAR = 18, MOST_LISTED = 10, MOST_IN_LEGEND = 40;

  // ---------------------------------------- the data

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }
  const labels = new Uint32Array(bytes(data.labels)), n = labels.length;
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
  const isNoise = (i) => data.clusters[labels[i]].noise === true;
  const isDoubtful = (i) => confidence !== null && !isNoise(i) && confidence[i] < data.doubtful;

  // always the same numbers, so that a picture repeats
  function generator(seed) {
    let state = seed;
    return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  }
  // a mixed order, so that no cluster lies on top of the others; noise below all
  const order = Array.from({ length: n }, (_, i) => i);
  const chance = generator(1);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(chance() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  order.sort((a, b) => isNoise(b) - isNoise(a));
  const jitter = new Float32Array(n), shake = generator(2);
  for (let i = 0; i < n; i++) jitter[i] = shake();

  // ---------------------------------------- what is shown

  const hidden = new Set();
  let onlyDoubtful = false, emphasised = null, current = -1, kept = false, touched = false;
  let view = null, home = null, box = null, colours = null, waiting = false;
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
    const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
    return [low - room, high + room];
  }

  function goHome() {
    const [x0, x1] = extent(xAxis().values), [y0, y1] = yAxis() ? extent(yAxis().values) : [0, 1];
    home = { x0, x1, y0, y1 };
    view = { ...home };
    touchable();
    redraw();
  }

  // a finger scrolls the page until there is something to move
  function touchable() {
    canvas.style.touchAction = zoomed() ? "none" : "pan-y";
  }
  const zoomed = () => view.x1 - view.x0 < 0.999 * (home.x1 - home.x0);

  // ---------------------------------------- numbers in words

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

  function fitted(context, text, width) {
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

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colours = Object.fromEntries(["paper", "ink", "faint", "rule", "hair", "link"].map((name) =>
      [name, style.getPropertyValue("--" + name).trim()]));
    colours.font = style.getPropertyValue("--sans").trim();
  }

  function draw() {
    const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    if (!width) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px " + colours.font;
    const bars = yAxis() ? null : histogram();
    const yRange = bars ? [0, bars.top] : [view.y0, view.y1];
    const yMarks = ticks(yRange[0], yRange[1], Math.max(2, height / 70))
      .filter((mark) => !bars || Number.isInteger(mark.value));
    const margin = 14 + Math.max(...yMarks.map((mark) => context.measureText(mark.text).width), 10);
    box = { left: margin, right: width - 14, top: 34, bottom: height - 46 };
    // below a histogram there is a strip of points
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
    drawCurrent(context);
  }

  function drawFrame(context, width, yMarks, yRange) {
    const xMarks = ticks(view.x0, view.x1, Math.max(2, width / 85));
    context.lineWidth = 1;
    context.strokeStyle = colours.hair;
    context.fillStyle = colours.faint;
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
    context.strokeStyle = colours.rule;
    line(context, box.left + 0.5, box.top, box.left + 0.5, box.bottom);
    line(context, box.left, box.floor + 0.5, box.right, box.floor + 0.5);
    context.fillStyle = colours.ink;
    context.textBaseline = "alphabetic";
    context.fillText(fitted(context, xAxis().name, box.right - box.left), box.right, box.bottom + 36);
    context.textAlign = "left";
    context.fillText(fitted(context, yAxis() ? "↑ " + yAxis().name : "↑ rows", width - 24), 10, 20);
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
  }

  // points are smaller where there are many, and grow as one comes closer
  function radius() {
    const closer = Math.sqrt((home.x1 - home.x0) / (view.x1 - view.x0));
    const wide = Math.sqrt((box.right - box.left) / 900);
    return Math.min(wide * (yAxis() ? 6 : 3.5), Math.max(1.3, wide * (90 / Math.sqrt(n)) * Math.min(closer, 3)));
  }

  function drawPoints(context) {
    const r = radius(), inside = (i) =>
      px[i] > box.left - r && px[i] < box.right + r && py[i] > box.top - r && py[i] < box.bottom + r;
    for (const i of order) {
      if (!isShown(i) || !inside(i)) continue;
      const cluster = data.clusters[labels[i]];
      context.globalAlpha = emphasised !== null && emphasised !== labels[i] ? 0.1 : cluster.noise ? 0.7 : 0.85;
      context.beginPath();
      context.arc(px[i], py[i], cluster.noise ? r * 0.8 : r, 0, 2 * Math.PI);
      if (isDoubtful(i)) {
        context.strokeStyle = cluster.colour;
        context.lineWidth = Math.max(1.2, r * 0.4);
        context.stroke();
      } else {
        context.fillStyle = cluster.colour;
        context.fill();
        // a rim tells touching points apart; on small ones there would be nothing but rim
        if (r > 3) {
          context.strokeStyle = colours.paper;
          context.lineWidth = 0.6;
          context.stroke();
        }
      }
    }
    context.globalAlpha = 1;
  }

  function drawCurrent(context) {
    if (current < 0 || !onStage(current)) return;
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(px[current], py[current], radius() + 4, 0, 2 * Math.PI);
    context.stroke();
  }

  function histogram() {
    const count = Math.min(80, Math.max(10, Math.round(2 * Math.sqrt(n)))), values = xAxis().values;
    const low = home.x0, wide = (home.x1 - home.x0) / count, kinds = data.clusters.length;
    const heights = Array.from({ length: count }, () => new Float64Array(kinds));
    for (let i = 0; i < n; i++) {
      if (isShown(i)) heights[Math.min(count - 1, Math.floor((values[i] - low) / wide))][labels[i]] += 1;
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
        context.fillStyle = data.clusters[label].colour;
        context.globalAlpha = emphasised !== null && emphasised !== label ? 0.2 : 0.9;
        context.fillRect(x0 + 0.5, y - count * tall, Math.max(1, x1 - x0 - 1), count * tall);
        y -= count * tall;
      });
    });
    context.globalAlpha = 1;
  }

  // ---------------------------------------- the row that is pointed at

  const onStage = (i) => isShown(i) && px[i] >= box.left - 1 && px[i] <= box.right + 1
    && py[i] >= box.top - 1 && py[i] <= box.bottom + 1;

  function nearest(x, y, within) {
    let best = -1, least = within * within;
    for (let i = 0; i < n; i++) {
      if (!onStage(i)) continue;
      const distance = (px[i] - x) ** 2 + (py[i] - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  function part(name, text, parent, kind) {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    parent.append(made);
    return made;
  }

  function swatch(colour, parent, kind) {
    const dot = part("span", "", parent, "swatch" + (kind ? " " + kind : ""));
    if (colour) dot.style.background = colour;
  }

  function rowName(i) {
    if (data.names !== null) return data.names[i];
    return "row " + ((rows === null ? i : rows[i]) + data.first).toLocaleString("en");
  }

  function describe(i) {
    tip.replaceChildren();
    const cluster = data.clusters[labels[i]], head = part("p", "", tip);
    part("strong", rowName(i), head);
    const which = part("p", "", tip);
    swatch(cluster.colour, which);
    which.append(cluster.name);
    if (confidence !== null && !cluster.noise) {
      which.append(", confidence " + confidence[i].toFixed(2) + (isDoubtful(i) ? ", doubtful" : ""));
    }
    const list = part("dl", "", tip);
    for (const column of extra) pair(list, column.name, column.values[column.codes[i]]);
    // those on the axes first, as they are what one looks at; then those that set the cluster apart
    const first = [xAxis(), yAxis(), ...(cluster.traits || []).map((j) => axes[j])];
    const named = axes.filter((axis) => axis.feature), few = named.length <= MOST_LISTED;
    const listed = few ? named : [...new Set([...first.filter((axis) => axis && axis.feature), ...named])];
    for (const axis of listed.slice(0, MOST_LISTED)) pair(list, axis.name, format(axis.values[i], axis));
    const rest = data.n_features - Math.min(MOST_LISTED, listed.length);
    if (rest > 0) part("p", "and " + rest.toLocaleString("en") + (rest === 1 ? " more feature" : " more features"), tip, "more");
  }

  function pair(list, name, value) {
    part("dt", name, list);
    part("dd", value, list);
  }

  function point(i) {
    if (i !== current) {
      current = i;
      if (i >= 0) describe(i);
      else hint();
    }
    tip.classList.toggle("kept", kept && i >= 0);
    putTip();
    redraw();
  }

  function hint() {
    tip.replaceChildren();
    if (narrow()) part("p", "Tap a point to read its row.", tip, "more");
  }

  function putTip() {
    if (narrow()) return void (tip.style.visibility = "");
    if (current < 0 || !onStage(current)) return void (tip.style.visibility = "hidden");
    const x = px[current], y = py[current], gap = 16;
    const left = x + gap + tip.offsetWidth <= stage.clientWidth ? x + gap : x - gap - tip.offsetWidth;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.max(0, Math.min(y - 24, stage.clientHeight - tip.offsetHeight)) + "px";
    tip.style.visibility = "visible";
  }

  // ---------------------------------------- moving about

  function zoom(factor, x, y) {
    const u = (x - box.left) / (box.right - box.left), v = (box.bottom - y) / (box.bottom - box.top);
    const cx = view.x0 + u * (view.x1 - view.x0), cy = view.y0 + v * (view.y1 - view.y0);
    const wide = (view.x1 - view.x0) * factor, tall = (view.y1 - view.y0) * factor;
    if (wide < 1e-6 * (home.x1 - home.x0)) return;
    if (wide >= home.x1 - home.x0) view = { ...home };
    else {
      view.x0 = cx - u * wide;
      view.x1 = view.x0 + wide;
      if (yAxis()) {
        view.y0 = cy - v * tall;
        view.y1 = view.y0 + tall;
      }
    }
    changed();
  }

  function move(dx, dy) {
    const x = dx / (box.right - box.left) * (view.x1 - view.x0), y = dy / (box.bottom - box.top) * (view.y1 - view.y0);
    view.x0 -= x;
    view.x1 -= x;
    if (yAxis()) {
      view.y0 += y;
      view.y1 += y;
    }
    changed();
  }

  function changed() {
    touchable();
    draw();
    putTip();
  }

  const zoomMiddle = (factor) => zoom(factor, (box.left + box.right) / 2, (box.top + box.bottom) / 2);

  let drag = null;
  const at = (event) => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    const [x, y] = at(event);
    drag = { x, y, moved: false };
    if (!touched || zoomed()) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) {
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      if (touched && !zoomed()) return;
      drag.moved = true;
      move(x - drag.x, y - drag.y);
      [drag.x, drag.y] = [x, y];
    } else if (!kept && event.pointerType !== "touch") {
      point(nearest(x, y, NEAR));
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const tapped = drag && !drag.moved, [x, y] = at(event);
    drag = null;
    if (!tapped) return;
    const i = nearest(x, y, touched ? 1.6 * NEAR : NEAR);
    kept = i >= 0;
    point(i);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!kept && !drag) point(-1); });
  canvas.addEventListener("wheel", (event) => {
    // the page scrolls past, unless one is at work here
    if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(Math.sign(event.deltaY) * 0.18), ...at(event));
  }, { passive: false });

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.key in ARROWS) step(...ARROWS[event.key]);
    else if (event.key === "+" || event.key === "=") zoomMiddle(1 / 1.4);
    else if (event.key === "-") zoomMiddle(1.4);
    else if (event.key === "0") goHome();
    else if (event.key === "Escape") {
      kept = false;
      point(-1);
    } else return;
    event.preventDefault();
  });

  function step(dx, dy) {
    kept = true;
    if (current < 0 || !onStage(current)) {
      return point(nearest((box.left + box.right) / 2, (box.top + box.bottom) / 2, Infinity));
    }
    let best = -1, least = Infinity;
    for (let i = 0; i < n; i++) {
      if (i === current || !onStage(i)) continue;
      const along = (px[i] - px[current]) * dx + (py[i] - py[current]) * dy;
      const aside = Math.abs((px[i] - px[current]) * dy) + Math.abs((py[i] - py[current]) * dx);
      if (along > 0.01 && along + 2 * aside < least) [best, least] = [i, along + 2 * aside];
    }
    if (best >= 0) point(best);
  }

  // ---------------------------------------- controls

  function option(select, value, text) {
    part("option", text, select).value = String(value);
  }
  axes.forEach((axis, j) => { option(across, j, axis.short); option(up, j, axis.short); });
  option(up, HISTOGRAM, "how many rows (histogram)");
  [across.value, up.value] = data.start.map(String);
  for (const select of [across, up]) {
    select.addEventListener("change", () => { kept = false; goHome(); draw(); point(-1); });
  }
  find(".closer").addEventListener("click", () => zoomMiddle(1 / 1.4));
  find(".farther").addEventListener("click", () => zoomMiddle(1.4));
  find(".reset").addEventListener("click", () => { goHome(); draw(); putTip(); });

  function toggle(text, colour, kind, press) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(kind !== "only"));
    if (kind) button.classList.add(kind);
    swatch(colour, button, kind === "only" ? "ring" : "");
    button.append(text);
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      press(pressed);
      draw();
      if (current >= 0 && !onStage(current)) { kept = false; point(-1); }
    });
    legend.append(button);
    return button;
  }
  function show(shown, names) {
    for (const label of names) {
      if (shown) hidden.delete(label);
      else hidden.add(label);
    }
  }
  if (data.n_doubtful) {
    const text = "doubtful only · " + data.n_doubtful.toLocaleString("en");
    toggle(text, "", "only", (pressed) => { onlyDoubtful = pressed; });
  }
  const toggles = [], everyone = data.clusters.map((_, label) => label);
  if (everyone.length > 2) {
    for (const [text, shown] of [["all", true], ["none", false]]) {
      const button = part("button", text, legend);
      button.type = "button";
      button.addEventListener("click", () => {
        for (const each of toggles) each.setAttribute("aria-pressed", String(shown));
        show(shown, everyone);
        draw();
        if (current >= 0 && !onStage(current)) { kept = false; point(-1); }
      });
    }
  }
  // many small clusters share a button; noise, the last, keeps its own
  const large = everyone.filter((label) => label < MOST_IN_LEGEND || data.clusters[label].noise);
  const small = everyone.slice(MOST_IN_LEGEND).filter((label) => !data.clusters[label].noise);
  for (const label of large) {
    const cluster = data.clusters[label], text = cluster.name + " · " + cluster.size.toLocaleString("en");
    const button = toggle(text, cluster.colour, "", (pressed) => show(pressed, [label]));
    const emphasise = (which) => () => { emphasised = which; redraw(); };
    for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, emphasise(label));
    for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, emphasise(null));
    toggles.push(button);
  }
  if (small.length) {
    const text = "other clusters · " + small.length.toLocaleString("en");
    toggles.push(toggle(text, "", "", (pressed) => show(pressed, small)));
  }

  // ---------------------------------------- rows that are named elsewhere on the page

  const places = rows === null ? null : new Map(Array.from(rows, (row, i) => [row, i]));
  for (const link of document.querySelectorAll("a[data-row]")) {
    const row = Number(link.dataset.row), i = places === null ? row : places.get(row);
    if (i === undefined) {
      // not among those that are drawn
      link.replaceWith(link.textContent);
      continue;
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      hidden.clear();
      onlyDoubtful = false;
      for (const button of legend.querySelectorAll("[aria-pressed]")) {
        button.setAttribute("aria-pressed", String(!button.classList.contains("only")));
      }
      kept = true;
      goHome();
      draw();
      point(i);
      stage.scrollIntoView({ block: "center" });
      canvas.focus({ preventScroll: true });
    });
  }

  // ---------------------------------------- begin

  find(".live").hidden = false;
  find(".still").hidden = true;
  function size() {
    canvas.style.height = Math.round(Math.min(580, Math.max(320, canvas.clientWidth * 0.62))) + "px";
    draw();
    putTip();
  }
  readColours();
  goHome();
  hint();
  size();
  new ResizeObserver(size).observe(stage.parentElement);
  // paper is white, whatever the screen is
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    window.matchMedia(query).addEventListener("change", () => { readColours(); draw(); });
  }
  window.matchMedia("(max-width: 40rem)").addEventListener("change", () => { if (current < 0) hint(); putTip(); });
})();
