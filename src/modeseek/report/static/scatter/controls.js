// Scatter plot: lists, buttons, legend, links to rows, and the start.

// ---------------------------------------- controls

function option(select, value, text) {
  part("option", text, select).value = String(value);
}
axes.forEach((axis, j) => { option(across, j, axis.short); option(up, j, axis.short); });
option(up, HISTOGRAM, "number of rows (histogram)");
[across.value, up.value] = data.start.map(String);
for (const select of [across, up]) {
  select.addEventListener("change", () => { pinned = false; resetView(); draw(); point(-1); });
}
find(".closer").addEventListener("click", () => zoomMiddle(1 / 1.4));
find(".farther").addEventListener("click", () => zoomMiddle(1.4));
find(".reset").addEventListener("click", () => { resetView(); draw(); placeTip(); });

function toggle(text, color, kind, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-pressed", String(kind !== "only"));
  if (kind) button.classList.add(kind);
  swatch(color, button, kind === "only" ? "ring" : "");
  button.append(text);
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(pressed));
    press(pressed);
    draw();
    if (current >= 0 && !isVisible(current)) { pinned = false; point(-1); }
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
const toggles = [], allLabels = data.clusters.map((_, label) => label);
if (allLabels.length > 2) {
  for (const [text, shown] of [["all", true], ["none", false]]) {
    const button = part("button", text, legend);
    button.type = "button";
    button.addEventListener("click", () => {
      for (const each of toggles) each.setAttribute("aria-pressed", String(shown));
      show(shown, allLabels);
      draw();
      if (current >= 0 && !isVisible(current)) { pinned = false; point(-1); }
    });
  }
}
// clusters beyond MOST_IN_LEGEND share a button; noise has its own
const large = allLabels.filter((label) => label < MOST_IN_LEGEND || data.clusters[label].noise);
const small = allLabels.slice(MOST_IN_LEGEND).filter((label) => !data.clusters[label].noise);
for (const label of large) {
  const cluster = data.clusters[label], text = cluster.name + " · " + cluster.size.toLocaleString("en");
  const button = toggle(text, cluster.color, "", (pressed) => show(pressed, [label]));
  const emphasize = (which) => () => { emphasized = which; redraw(); };
  for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, emphasize(label));
  for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, emphasize(null));
  toggles.push(button);
}
if (small.length) {
  const text = "other clusters · " + small.length.toLocaleString("en");
  toggles.push(toggle(text, "", "", (pressed) => show(pressed, small)));
}

// ---------------------------------------- links to rows elsewhere on the page

const places = rows === null ? null : new Map(Array.from(rows, (row, i) => [row, i]));
for (const link of document.querySelectorAll("a[data-row]")) {
  const row = Number(link.dataset.row), i = places === null ? row : places.get(row);
  if (i === undefined) {
    // the row is not in the sample
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
    pinned = true;
    resetView();
    draw();
    point(i);
    stage.scrollIntoView({ block: "center" });
    canvas.focus({ preventScroll: true });
  });
}

// ---------------------------------------- start

find(".live").hidden = false;
find(".still").hidden = true;
function size() {
  canvas.style.height = Math.round(Math.min(580, Math.max(320, canvas.clientWidth * 0.62))) + "px";
  draw();
  placeTip();
}
readColors();
resetView();
hint();
size();
new ResizeObserver(size).observe(stage.parentElement);
// the printed page is white in dark mode too
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  window.matchMedia(query).addEventListener("change", () => { readColors(); draw(); });
}
window.matchMedia("(max-width: 40rem)").addEventListener("change", () => { if (current < 0) hint(); placeTip(); });
