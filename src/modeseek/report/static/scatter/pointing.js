// Scatter plot: the selected row, zooming and panning.

// ---------------------------------------- the selected row

const isVisible = (i) => isShown(i) && px[i] >= box.left - 1 && px[i] <= box.right + 1
  && py[i] >= box.top - 1 && py[i] <= box.bottom + 1;

function nearest(x, y, within) {
  let best = -1, least = within * within;
  for (let i = 0; i < n; i++) {
    if (!isVisible(i)) continue;
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

function swatch(color, parent, kind) {
  const dot = part("span", "", parent, "swatch" + (kind ? " " + kind : ""));
  if (color) dot.style.setProperty("--color", color);
}

function rowName(i) {
  if (data.names !== null) return data.names[i];
  return "row " + ((rows === null ? i : rows[i]) + data.first).toLocaleString("en");
}

function describe(i) {
  tip.replaceChildren();
  const cluster = data.clusters[clusterOf[i]], head = part("p", "", tip);
  part("strong", rowName(i), head);
  const which = part("p", "", tip);
  if (labels === clusterOf && gradient === null) swatch(cluster.color, which);
  which.append(cluster.name);
  if (confidence !== null && !cluster.noise) {
    which.append(", confidence " + confidence[i].toFixed(2) + (isDoubtful(i) ? ", doubtful" : ""));
  }
  const list = part("dl", "", tip);
  const partition = data.partitions[chosenPartition];
  if (partition) pair(list, "with " + partition.name, partition.clusters[labels[i]].name);
  for (const column of extra) pair(list, column.name, column.values[column.codes[i]]);
  // first the features on the axes, then the distinguishing features of the cluster
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
  tip.classList.toggle("pinned", pinned && i >= 0);
  placeTip();
  redraw();
}

function hint() {
  tip.replaceChildren();
  if (narrow()) part("p", "Tap a point to read its row.", tip, "more");
}

function placeTip() {
  if (narrow()) return void (tip.style.visibility = "");
  if (current < 0 || !isVisible(current)) return void (tip.style.visibility = "hidden");
  const x = px[current], y = py[current], gap = 16, wide = tip.offsetWidth, tall = tip.offsetHeight;
  const right = stage.clientWidth - wide, bottom = stage.clientHeight - tall;
  const level = Math.max(0, Math.min(y - 24, bottom));
  const places = [[x + gap, level], [x - gap - wide, level], [right, 0], [right, bottom], [0, 0], [0, bottom]]
    .filter(([left]) => left >= 0 && left <= right);
  // the box goes where it covers the fewest points of the group; of equally good places, the first is used
  let best = places[0], least = Infinity;
  for (const place of places) {
    const count = covered(place[0], place[1], wide, tall);
    if (count < least) [best, least] = [place, count];
  }
  tip.style.left = best[0] + "px";
  tip.style.top = Math.max(0, best[1]) + "px";
  tip.dataset.point = [Math.round(x), Math.round(y)].join(" ");
  tip.style.visibility = "visible";
}

function covered(left, top, wide, tall) {
  let count = 0;
  for (let i = 0; i < n; i++) {
    if (labels[i] !== labels[current] || !isVisible(i)) continue;
    if (px[i] >= left && px[i] <= left + wide && py[i] >= top && py[i] <= top + tall) count += i === current ? n : 1;
  }
  return count;
}

// ---------------------------------------- zooming and panning

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
  updateTouchAction();
  draw();
  placeTip();
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
  } else if (!pinned && event.pointerType !== "touch") {
    point(nearest(x, y, NEAR));
  }
});
canvas.addEventListener("pointerup", (event) => {
  const tapped = drag && !drag.moved, [x, y] = at(event);
  drag = null;
  if (!tapped) return;
  const i = nearest(x, y, touched ? 1.6 * NEAR : NEAR);
  pinned = i >= 0;
  point(i);
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => { if (!pinned && !drag) point(-1); });
canvas.addEventListener("wheel", (event) => {
  // the wheel scrolls the page unless the plot has the focus
  if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(Math.exp(Math.sign(event.deltaY) * 0.18), ...at(event));
}, { passive: false });

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
canvas.addEventListener("keydown", (event) => {
  if (event.key in ARROWS) step(...ARROWS[event.key]);
  else if (event.key === "+" || event.key === "=") zoomMiddle(1 / 1.4);
  else if (event.key === "-") zoomMiddle(1.4);
  else if (event.key === "0") resetView();
  else if (event.key === "Escape") {
    pinned = false;
    point(-1);
  } else return;
  event.preventDefault();
});

function step(dx, dy) {
  pinned = true;
  if (current < 0 || !isVisible(current)) {
    return point(nearest((box.left + box.right) / 2, (box.top + box.bottom) / 2, Infinity));
  }
  let best = -1, least = Infinity;
  for (let i = 0; i < n; i++) {
    if (i === current || !isVisible(i)) continue;
    const along = (px[i] - px[current]) * dx + (py[i] - py[current]) * dy;
    const aside = Math.abs((px[i] - px[current]) * dy) + Math.abs((py[i] - py[current]) * dx);
    if (along > 0.01 && along + 2 * aside < least) [best, least] = [i, along + 2 * aside];
  }
  if (best >= 0) point(best);
}
