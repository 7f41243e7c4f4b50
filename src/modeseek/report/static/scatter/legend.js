// Scatter plot: the legend, whose buttons hide and show groups.

let toggles = [], wholeLegend = false;

function toggle(text, color, kind, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-pressed", String(kind !== "only"));
  if (kind) button.classList.add(kind);
  if (color || kind === "only") swatch(color, button, kind === "only" ? "ring" : "");
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
function plainButton(text, press) {
  const button = part("button", text, legend);
  button.type = "button";
  button.addEventListener("click", press);
  return button;
}

function makeLegend() {
  legend.replaceChildren();
  toggles = [];
  if (gradient !== null) makeScale();
  if (data.n_doubtful && labels === clusterOf) {
    const text = "doubtful only · " + data.n_doubtful.toLocaleString("en");
    toggle(text, "", "only", (pressed) => { onlyDoubtful = pressed; }).setAttribute("aria-pressed", String(onlyDoubtful));
  }
  const all = groups.map((_, label) => label);
  if (all.length > 2) {
    for (const [text, shown] of [["all", true], ["none", false]]) {
      plainButton(text, () => {
        for (const each of toggles) each.setAttribute("aria-pressed", String(shown));
        show(shown, all);
        draw();
        if (current >= 0 && !isVisible(current)) { pinned = false; point(-1); }
      });
    }
  }
  // groups beyond the limit share one button; noise has its own button
  const most = wholeLegend ? MOST_BUTTONS : MOST_IN_LEGEND;
  const listed = all.filter((label) => label < most || groups[label].noise);
  const rest = all.slice(most).filter((label) => !groups[label].noise);
  for (const label of listed) addToggle(label);
  if (rest.length) {
    const text = rest.length.toLocaleString("en") + " others, not listed";
    const button = toggle(text, "", "", (pressed) => show(pressed, rest));
    button.setAttribute("aria-pressed", String(!rest.every((label) => hidden.has(label))));
    toggles.push(button);
  }
  if (all.length > MOST_IN_LEGEND + 1) {
    const text = wholeLegend ? "Shorten the legend" : "List " + (rest.length > MOST_BUTTONS ? "more" : "all " + all.length);
    plainButton(text, () => { wholeLegend = !wholeLegend; makeLegend(); }).classList.add("unfold");
  }
}

function addToggle(label) {
  const group = groups[label], text = group.name + " · " + group.size.toLocaleString("en");
  const button = toggle(text, gradient === null ? group.color : "", "", (pressed) => show(pressed, [label]));
  button.setAttribute("aria-pressed", String(!hidden.has(label)));
  const emphasize = (which) => () => { emphasized = which; redraw(); };
  for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, emphasize(label));
  for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, emphasize(null));
  toggles.push(button);
}

function makeScale() {
  const scale = part("span", "", legend, "scale");
  const text = (value) => format(value, { decimals: gradient.decimals });
  part("span", gradient.name + ": " + text(gradient.low), scale);
  const bar = part("i", "", scale);
  bar.style.background = "linear-gradient(to right, " + [0, 1, 2, 3].map((k) => ramp(k / 3)).join(", ") + ")";
  part("span", text(gradient.high), scale);
}
