// Scatter plot: lists, buttons, legend, links to rows, and the start.

// ---------------------------------------- controls

function option(select, value, text) {
  part("option", text, select).value = String(value);
}
axes.forEach((axis, j) => { option(across, j, axis.short); option(up, j, axis.short); });
option(up, HISTOGRAM, "number of rows (histogram)");
[across.value, up.value] = data.start.map(String);
for (const select of [across, up]) {
  select.addEventListener("change", () => {
    pinned = false;
    resetView();
    draw();
    drawAlternatives();
    point(-1);
  });
}
find(".closer").addEventListener("click", () => zoomMiddle(1 / 1.4));
find(".farther").addEventListener("click", () => zoomMiddle(1.4));
find(".reset").addEventListener("click", () => { resetView(); draw(); placeTip(); });

colorings.forEach(([name], k) => option(paint, k, name));
paint.addEventListener("change", () => applyColoring(Number(paint.value)));

// ---------------------------------------- outliers

find(".outside button").addEventListener("click", () => { allPoints = !allPoints; resetView(); draw(); placeTip(); });
function showOutside() {
  const line = find(".outside"), count = outside.length;
  line.hidden = !count && !allPoints;
  const rows = count.toLocaleString("en") + (count === 1 ? " row lies" : " rows lie");
  line.querySelector("span").textContent = allPoints
    ? "All points are shown. "
    : rows + " far outside: triangles at the edge of the plot point to them. ";
  line.querySelector("button").textContent = allPoints ? "Leave out outliers" : "Show all points";
}

// ---------------------------------------- links to rows elsewhere on the page

const places = rows === null ? null : new Map(Array.from(rows, (row, i) => [row, i]));
for (const link of document.querySelectorAll("a[data-row]")) {
  const row = Number(link.dataset.row), i = places === null ? row : places.get(row);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    hidden.clear();
    onlyDoubtful = false;
    makeLegend();
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
makeAlternatives();
resetView();
applyColoring(0);
hint();
size();
drawAlternatives();
new ResizeObserver(size).observe(stage.parentElement);
// the printed page is white in dark mode too
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  window.matchMedia(query).addEventListener("change", () => {
    readColors();
    tint();
    draw();
    drawAlternatives();
    if (gradient !== null) makeLegend();
  });
}
window.matchMedia("(max-width: 40rem)").addEventListener("change", () => { if (current < 0) hint(); placeTip(); });
