// The picture of a clustering: lists, buttons, legend, links, and the beginning.

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
