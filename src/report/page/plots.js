// Histograms drawn as SVG, stacked by outcome. A bar is a button: it shows its cases.

// Half decades of 1 − PCC: below 0, 0 …, 0.684 …, 0.9 …, up to all that is nearer to 1 than 1e-8.
const PCC_DECADES = 8;
function pccBins() {
  const edges = [-Infinity];
  for (let half = 0; half <= 2 * PCC_DECADES; half += 1) edges.push(1 - 10 ** (-half / 2));
  edges.push(Infinity);
  return binsBetween(edges);
}

// 1, 2, 5, 10 … around the values that are there.
function timeBins(values) {
  let low = Infinity;
  let high = 0;
  for (const value of values) {
    if (value > 0 && value < low) low = value;
    if (value > high) high = value;
  }
  if (high === 0) return [];
  const edges = [0];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
    for (const step of [1, 2, 5]) edges.push(Number(`${step}e${decade}`));
  }
  edges.push(Infinity);
  return binsBetween(edges);
}

const MOST_LINEAR = 40; // times the lowest bar
const isDecade = (edge) => Math.abs(Math.log10(edge) - Math.round(Math.log10(edge))) < 1e-9;

const binsBetween = (edges) =>
  edges.slice(1).map((high, i) => ({ low: edges[i], high, counts: report.outcomes.map(() => 0), total: 0 }));

function countInto(bins, rows, values) {
  for (const row of rows) {
    const value = values[row];
    if (value === null || Number.isNaN(value)) continue;
    const bin = bins.find((each) => value >= each.low && value < each.high);
    if (!bin) continue;
    bin.counts[report.col.outcome[row]] += 1;
    bin.total += 1;
  }
}

// From the first to the last bin with something in it, and whatever `keep` wants to see.
function trimmed(bins, keep) {
  let first = bins.findIndex((bin) => bin.total || keep(bin));
  let last = bins.length - 1;
  while (last > first && !(bins[last].total || keep(bins[last]))) last -= 1;
  return first < 0 ? [] : bins.slice(first, last + 1);
}

function renderPlots() {
  renderScatter();
  renderPcc();
  renderTimes();
}

function renderPcc() {
  const rows = selectRows(["pcc"]);
  const bins = pccBins();
  countInto(bins, rows, report.col.pcc);
  const counted = bins.reduce((sum, bin) => sum + bin.total, 0);
  const none = rows.filter((row) => report.col.pcc[row] === null).length;
  const nan = rows.length - counted - none;
  const missing = [none && `${plural(none, "case")} without`, nan && `${grouped(nan)} not a number`].filter(Boolean);
  drawPlot("plot-pcc", {
    title: "PCC",
    note: counted ? [plural(counted, "case"), missing.length ? `; ${missing.join(", ")}` : ""] : "",
    empty: rows.length ? "No case has a PCC." : "Nothing to show.",
    bins: counted ? trimmed(bins, (bin) => bin.low >= 0.9 && bin.high < 0.99999) : [],
    axis: "1 − PCC, log scale: better to the right",
    tick: (edge) => pccTick(edge),
    words: (bin) => pccWords(bin),
    filter: "pcc",
  });
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
function pccTick(edge) {
  if (edge === -Infinity) return "";
  if (edge === Infinity) return "0";
  const decade = -Math.log10(1 - edge);
  if (Math.abs(decade - Math.round(decade)) > 0.01) return "";
  return Math.round(decade) === 0 ? "1" : `10⁻${SUPERSCRIPTS[Math.round(decade)]}`;
}
function pccWords(bin) {
  if (bin.low === -Infinity) return "PCC below 0";
  if (bin.high === Infinity) return "PCC 1, or nearer to it than 1e-8";
  return `PCC ${pccText(bin.low)} to ${pccText(bin.high)}`;
}

function renderTimes() {
  const names = ["wall", "device", "kernel", "reference"];
  const metric = names.includes(view.time) ? view.time : "wall";
  const values = report.col[metric];
  const rows = selectRows([metric]).filter(ranAtAll);
  const bins = timeBins(rows.map((row) => values[row]));
  countInto(bins, rows, values);
  const counted = bins.reduce((sum, bin) => sum + bin.total, 0);
  const measured = rows.map((row) => values[row]).filter((value) => value !== null).sort((a, b) => a - b);
  const choice = el("select", { "aria-label": "Which time", onchange: (event) => setView({ time: event.target.value }) },
    names.map((name) => el("option", { value: name, selected: name === metric }, RANGES[name])));
  drawPlot("plot-time", {
    title: "Time",
    control: choice,
    note: counted ? `median ${seconds(percentile(measured, 50))}, 99 % within ${seconds(percentile(measured, 99))}` : "",
    empty: rows.length ? "No case has this time." : "Nothing to show.",
    bins: counted ? trimmed(bins, () => false) : [],
    axis: `${RANGES[metric]}, log scale`,
    tick: (edge) => (isDecade(edge) ? seconds(edge).replace(/\.0+ /, " ") : ""),
    words: (bin) => `${seconds(bin.low)} to ${Number.isFinite(bin.high) ? seconds(bin.high) : "any"}`,
    filter: metric,
  });
}

function drawPlot(id, plot) {
  const box = byId(id);
  const head = el("div", { class: "plot-head" }, el("h3", null, plot.title), plot.control, el("span", { class: "note" }, plot.note));
  if (!plot.bins.length) {
    box.replaceChildren(head, el("p", { class: "empty" }, plot.empty));
    return;
  }
  const size = { width: Math.max(260, box.clientWidth - 32), height: 220, left: 6, right: 6, top: 22, bottom: 40 };
  const step = (size.width - size.left - size.right) / plot.bins.length;
  const room = size.height - size.top - size.bottom;
  const counts = plot.bins.map((bin) => bin.total).filter(Boolean);
  const most = Math.max(...counts);
  // Where the largest bar would hide the tail, heights are logarithms: 1 and 10 cases are as far apart as 10 and 100.
  const isLog = most > MOST_LINEAR * Math.min(...counts);
  const heightOf = isLog ? (count) => (Math.log10(1 + count) * room) / Math.log10(1 + most) : (count) => (count * room) / most;
  const ground = size.height - size.bottom;
  const drawing = svg("svg", { class: "plot", width: size.width, height: size.height, role: "group", "aria-label": `${plot.title}: ${plot.axis}` });
  plot.bins.forEach((bin, i) => {
    const x = size.left + i * step;
    drawing.append(bar(bin, x, step, heightOf, ground, plot));
    const label = plot.tick(bin.low);
    if (label) drawing.append(svg("line", { class: "tick", x1: x, x2: x, y1: ground, y2: ground + 4 }),
      svg("text", { class: "axis", x, y: ground + 16, "text-anchor": i === 0 ? "start" : "middle" }, label));
  });
  drawing.append(svg("line", { class: "ground", x1: size.left, x2: size.width - size.right, y1: ground, y2: ground }),
    svg("text", { class: "axis", x: size.width / 2, y: size.height - 6, "text-anchor": "middle" }, isLog && size.width > 420 ? `${plot.axis}; heights on a log scale too` : plot.axis));
  box.replaceChildren(head, drawing);
}

function bar(bin, x, step, heightOf, ground, plot) {
  const range = rangeText(bin.low, bin.high);
  const words = `${plot.words(bin)}: ${plural(bin.total, "case")}`;
  const choose = () => toggleFilters({ [plot.filter]: range });
  const chosen = filters[plot.filter] === range;
  const group = svg("g", !bin.total ? {} : {
    class: `column${plot.filter in filters && !chosen ? " faded" : ""}`, role: "button", tabindex: "0", "aria-label": words,
    "aria-pressed": String(chosen), "data-range": range, onclick: choose,
    onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose()),
  }, svg("title", null, words));
  if (!bin.total) return group;
  // The parts share the height of the whole. One failure among thousands must be seen: none is lower than 3 pixels.
  const whole = Math.max(3, heightOf(bin.total));
  let y = ground;
  group.append(svg("rect", { class: "hit", x, y: 0, width: step, height: ground }));
  for (const i of outcomeOrder()) {
    if (!bin.counts[i]) continue;
    const height = Math.max(2, (whole * bin.counts[i]) / bin.total);
    y -= height;
    group.append(svg("rect", { class: `o-${report.outcomes[i].name}`, x: x + 1, y, width: Math.max(1, step - 2), height }));
  }
  if (step > 9 + 6.5 * grouped(bin.total).length) {
    group.append(svg("text", { class: "count", x: x + step / 2, y: y - 4, "text-anchor": "middle" }, grouped(bin.total)));
  }
  return group;
}
