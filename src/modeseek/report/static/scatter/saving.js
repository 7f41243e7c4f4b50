// Scatter plot: save the picture with its legend as a PNG file.

find(".save").addEventListener("click", () => {
  const scale = 2, kept = current;
  current = -1;
  draw(scale);
  const picture = document.createElement("canvas"), context = picture.getContext("2d");
  context.font = "12px " + colors.font;
  const lines = legendLines(context, canvas.clientWidth - 24);
  [picture.width, picture.height] = [canvas.width, canvas.height + scale * (20 * lines.length + 12)];
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  context.setTransform(scale, 0, 0, scale, 12, canvas.height);
  drawLegend(context, lines);
  current = kept;
  draw();
  picture.toBlob((blob) => {
    const link = document.createElement("a");
    link.download = "clusters.png";
    link.href = URL.createObjectURL(blob);
    link.click();
    URL.revokeObjectURL(link.href);
  });
});

function legendLines(context, width) {
  const entries = gradient === null
    ? groups.map((group, label) => ({ text: group.name + " · " + group.size.toLocaleString("en"), color: shade(group.color), label }))
      .filter((entry) => !hidden.has(entry.label))
    : [0, 0.25, 0.5, 0.75, 1].map((share) => {
      const value = format(gradient.low + share * (gradient.high - gradient.low), { decimals: gradient.decimals });
      return { text: (share ? "" : gradient.name + ": ") + value, color: ramp(share) };
    });
  const listed = entries.slice(0, MOST_IN_LEGEND);
  if (entries.length > listed.length) listed.push({ text: (entries.length - listed.length) + " others, not listed" });
  const lines = [[]];
  let x = 0;
  for (const entry of listed) {
    entry.width = context.measureText(entry.text).width + 34;
    if (x + entry.width > width && x > 0) {
      lines.push([]);
      x = 0;
    }
    lines[lines.length - 1].push({ ...entry, x });
    x += entry.width;
  }
  return lines;
}
function drawLegend(context, lines) {
  context.font = "12px " + colors.font;
  context.textBaseline = "middle";
  lines.forEach((line, row) => {
    for (const entry of line) {
      if (entry.color) {
        context.fillStyle = entry.color;
        context.beginPath();
        context.arc(entry.x + 5, 20 * row + 10, 5, 0, 2 * Math.PI);
        context.fill();
      }
      context.fillStyle = colors.ink;
      context.fillText(entry.text, entry.x + 15, 20 * row + 10);
    }
  });
}
