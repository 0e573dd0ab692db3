// Error against size: a point a case, coloured by dtype, on a canvas, because a hundred thousand points are too many
// elements. A click opens the nearest case; the tables below hold the same cases for the keyboard.

const SCATTER_X = [
  ["elements", "Elements", (row) => report.col.elements[row] || null],
  ["terms", "Values added up (K)", (row) => report.col.terms[row]],
  ["rank", "Rank", (row) => report.col.rank[row]],
];
const SCATTER_Y = [
  ["bound", "Error, as a share of its bound", (row) => report.col.bound[row]],
  ["pcc", "1 − PCC", (row) => (Number.isFinite(report.col.pcc[row]) ? Math.max(0, 1 - report.col.pcc[row]) : null)],
  ["ulp", "ULP of 99 %", (row) => (isNearZero(report.col.ulp[row]) ? null : report.col.ulp[row])],
  ["nrmse", "NRMSE", (row) => report.col.nrmse[row]],
];
const DTYPE_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f3c", "#7b5ea7"];
const SCATTER_REACH = 14; // pixels from a point within which a click is meant for it
const scatter = { points: [], lit: -1 };

// Common dtypes first, so that their colours stay when others are filtered away.
function dtypeColours() {
  if (report.dtypeColours) return report.dtypeColours;
  const names = [...countNames("dtype")].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([name]) => name);
  report.dtypeColours = new Map(names.map((name, i) => [name, DTYPE_COLOURS[Math.min(i, DTYPE_COLOURS.length - 1)]]));
  return report.dtypeColours;
}

// What has no place on a log axis, exactly 0, stands on a line of its own below it.
function logScale(values, from, to, whole) {
  let low = Infinity, high = -Infinity, zero = false;
  for (const value of values) {
    if (value > 0) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    } else zero = true;
  }
  if (low === Infinity) low = high = 1;
  const bottom = Math.floor(Math.log10(low)), top = Math.max(bottom + 1, Math.ceil(Math.log10(high)));
  const gap = zero ? Math.sign(to - from) * 22 : 0;
  const at = (value) => (value > 0 ? from + gap + ((Math.log10(value) - bottom) / (top - bottom)) * (to - from - gap) : from);
  const step = Math.max(1, Math.ceil((top - bottom) / whole));
  const ticks = zero ? [[from, "0"]] : [];
  for (let decade = bottom; decade <= top; decade += step) ticks.push([at(10 ** decade), powerOfTen(decade)]);
  return { at, ticks };
}
function linearScale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  const at = (value) => (high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from));
  const ticks = [];
  for (let value = low; value <= high; value += 1) ticks.push([at(value), String(value)]);
  return { at, ticks };
}
const digitsUp = (number) => String(Math.abs(number)).split("").map((digit) => SUPERSCRIPTS[digit]).join("");
const powerOfTen = (power) => (power >= 0 && power <= 2 ? String(10 ** power) : `10${power < 0 ? "⁻" : ""}${digitsUp(power)}`);

function renderScatter() {
  const [xName, xLabel, x] = SCATTER_X.find(([name]) => name === view.x) || SCATTER_X[0];
  const [yName, yLabel, y] = SCATTER_Y.find(([name]) => name === view.y) || SCATTER_Y[0];
  const box = byId("scatter");
  const rows = selectRows();
  const found = rows.filter((row) => x(row) !== null && Number.isFinite(y(row)) && y(row) !== null);
  const choose = (label, of, chosen, name) => el("label", { class: "pick" }, el("span", null, label),
    el("select", { "aria-label": label, onchange: (event) => setView({ [name]: event.target.value }) },
      of.map(([each, words]) => el("option", { value: each, selected: each === chosen }, words))));
  const head = el("div", { class: "plot-head" }, choose("Error", SCATTER_Y, yName, "y"), choose("against", SCATTER_X, xName, "x"),
    el("span", { class: "note" }, found.length ? `${plural(found.length, "case")}${found.length < rows.length ? `; ${grouped(rows.length - found.length)} without these figures` : ""}` : ""));
  scatter.points = [];
  if (!found.length) {
    box.replaceChildren(head, el("p", { class: "empty" }, rows.length ? "No case has both figures." : "Nothing to show."));
    return;
  }
  const width = Math.max(260, box.clientWidth - 34), height = 320, dense = width < 500;
  const area = { left: 46, right: width - 12, top: 12, bottom: height - 40 };
  const xs = found.map(x), ys = found.map(y);
  const across = xName === "rank" ? linearScale([...new Set(xs)], area.left + 14, area.right - 14) : logScale(xs, area.left + 8, area.right - 8, dense ? 5 : 9);
  const up = logScale(ys, area.bottom - 8, area.top + 6, 7);
  const colours = dtypeColours();
  // Points of one place lie beside each other: a rank has thousands of cases, and all would be one dot.
  const spread = xName === "rank" ? Math.min(26, (area.right - area.left) / (2 * across.ticks.length + 2)) : 0;
  found.forEach((row, i) => {
    const shift = spread * Math.sin(12.9898 * (row + 1)); // the same at each drawing
    scatter.points.push({ row, x: across.at(xs[i]) + shift, y: up.at(ys[i]), colour: colours.get(text("dtype", row)) });
  });
  const canvas = el("canvas", { class: "points", role: "img", "aria-label": `${yLabel} against ${xLabel}: ${plural(found.length, "case")}. The tables below hold the same cases.` });
  const tip = el("p", { class: "tip note" }, "A point is a case: click it to open it.");
  canvas.addEventListener("click", (event) => {
    const point = nearestPoint(event);
    if (point) openCase(point.row);
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = nearestPoint(event);
    canvas.classList.toggle("on-point", Boolean(point));
    tip.replaceChildren(point ? `${shownName(text("op", point.row))}, ${shownName(text("dtype", point.row))}: ${xLabel} ${grouped(x(point.row))}, ${yLabel} ${figure(y(point.row), 3)}; ${shownOutcome(outcomeOf(point.row).name)}`
      : "A point is a case: click it to open it.");
  });
  const shownDtypes = [...colours].filter(([name]) => found.some((row) => text("dtype", row) === name));
  const legend = el("div", { class: "dtypes" }, shownDtypes.map(([name, colour]) => el("button", {
    type: "button", "aria-pressed": String(filters.dtype === name), onclick: () => toggleFilters({ dtype: name }),
  }, el("span", { class: "dot", style: { background: colour } }), shownName(name))));
  box.replaceChildren(head, canvas, tip, legend);
  drawPoints(canvas, { width, height, area, across, up, xLabel, yName, dense });
}

function drawPoints(canvas, plot) {
  const { width, height, area } = plot;
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  pen.scale(ratio, ratio);
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  pen.fillStyle = colour("--muted");
  pen.strokeStyle = colour("--line");
  pen.beginPath();
  for (const [y, label] of plot.up.ticks) {
    pen.moveTo(area.left, y);
    pen.lineTo(area.right, y);
    pen.textAlign = "right";
    pen.fillText(label, area.left - 6, y + 4);
  }
  for (const [x, label] of plot.across.ticks) {
    pen.moveTo(x, area.bottom);
    pen.lineTo(x, area.bottom + 4);
    pen.textAlign = "center";
    pen.fillText(label, x, area.bottom + 17);
  }
  pen.stroke();
  pen.fillText(plot.xLabel, (area.left + area.right) / 2, height - 5);
  if (plot.yName === "bound") {
    pen.strokeStyle = "#d55e00";
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.moveTo(area.left, plot.up.at(1));
    pen.lineTo(area.right, plot.up.at(1));
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.globalAlpha = scatter.points.length > 5000 ? 0.45 : 0.8;
  const size = scatter.points.length > 20000 ? 1.5 : scatter.points.length > 2000 ? 2.5 : 4;
  for (const point of scatter.points) { // failures last, with a ring: one among thousands must be seen
    if (isFailure(outcomeOf(point.row))) continue;
    pen.fillStyle = point.colour;
    pen.fillRect(point.x - size / 2, point.y - size / 2, size, size);
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = colour("--ink");
  for (const point of scatter.points) {
    if (!isFailure(outcomeOf(point.row))) continue;
    pen.fillStyle = point.colour;
    pen.beginPath();
    pen.arc(point.x, point.y, Math.max(2.5, size * 0.8), 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }
}

function nearestPoint(event) {
  let best = null, least = SCATTER_REACH ** 2;
  for (const point of scatter.points) {
    const distance = (point.x - event.offsetX) ** 2 + (point.y - event.offsetY) ** 2;
    if (distance < least) [best, least] = [point, distance];
  }
  return best;
}
