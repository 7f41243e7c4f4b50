// Scatter plot: small pictures of the chosen partition and its alternatives, which can be clicked.

const THUMBNAIL = { width: 168, height: 112, points: 1500 };
function makeAlternatives() {
  const pictures = find(".pictures");
  const choices = [[data.chosen, 0], ...data.partitions.map((partition, k) => [partition, k + 1])];
  find(".alternatives").hidden = choices.length < 2;
  for (const [partition, k] of choices) {
    const button = part("button", "", pictures);
    button.type = "button";
    button.dataset.coloring = String(k);
    const picture = part("canvas", "", button);
    picture.setAttribute("aria-hidden", "true");
    part("strong", (k ? "" : "chosen: ") + partition.name, button);
    part("span", partition.note, button);
    button.addEventListener("click", () => applyColoring(k));
  }
}
function markAlternative() {
  for (const button of figure.querySelectorAll(".pictures button")) {
    button.setAttribute("aria-pressed", String(button.dataset.coloring === paint.value));
  }
}
function drawAlternatives() {
  const scale = window.devicePixelRatio || 1, { width, height } = THUMBNAIL;
  for (const button of figure.querySelectorAll(".pictures button")) {
    const picture = button.querySelector("canvas"), context = picture.getContext("2d");
    [picture.width, picture.height] = [width * scale, height * scale];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const made = colorings[Number(button.dataset.coloring)][1]();
    const shades = made.groups.map((group) => shade(group.color)), xs = xAxis().values, ys = yAxis() && yAxis().values;
    for (const i of order.slice(-THUMBNAIL.points)) {
      const v = ys ? (ys[i] - home.y0) / (home.y1 - home.y0) : jitter[i], u = (xs[i] - home.x0) / (home.x1 - home.x0);
      context.fillStyle = shades[made.labels[i]];
      context.beginPath();
      context.arc(4 + u * (width - 8), height - 4 - v * (height - 8), n > 600 ? 1.3 : 2, 0, 2 * Math.PI);
      context.fill();
    }
  }
}
