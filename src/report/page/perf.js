// The page of a profiler report: draws what the element #perf holds. Every text enters as text (dom.js).
const perf = JSON.parse(byId("perf").textContent);
const PAGE = 200; // positions at a time
const view = { from: 0, to: 0, sort: "n", down: false, pages: 1 };

const time = (ns) => (ns === null || ns === undefined ? "–" : `${(ns / 1000).toLocaleString("en-US", { maximumFractionDigits: ns < 1e5 ? 2 : 1 })} µs`);
const change = (ns) => (ns === null ? "–" : `${ns > 0 ? "+" : ns < 0 ? "−" : "±"}${time(Math.abs(ns))}`);
const shortOp = (name) => name.replace(/(Device)?Operation$/, "") || name;
const workClass = (work) => `w-${work.replace(/[^a-z_]/g, "")}`;
const meanOf = (figure) => (figure && figure.mean !== null ? figure.mean : 0);

function themeButton() {
  const button = byId("theme");
  const dark = () => document.documentElement.dataset.theme === "dark";
  const label = () => (button.textContent = dark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("opwright-theme", document.documentElement.dataset.theme);
    } catch {
      // Files may keep nothing: it lasts as long as the page.
    }
    label();
  });
  label();
}

function head() {
  fill("title", perf.window ? ["Window ", el("span", null, perf.window)] : "Whole file");
  const facts = [["File", perf.file], ["Board", perf.board || "not known"], ["Iterations", grouped(perf.iterations)], ["Positions", grouped(perf.total_positions)], ["Devices", grouped(perf.devices)]];
  fill("facts", facts.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));
  const cover = perf.coverage;
  const gaps = [
    [cover.rows_without_time, "rows without a time"],
    [cover.missing_device_rows, "rows of devices missing"],
    [cover.left_out_operations, "operations outside whole iterations"],
    [cover.signature_differs, "operations whose devices ran different things"],
  ].filter(([count]) => count > 0);
  const troubles = Object.entries(cover.troubles).map(([name, t]) => `${grouped(t.count)} ${name.replaceAll("_", " ")} (first in row ${t.row})`);
  const words = [...gaps.map(([count, what]) => `${grouped(count)} ${what}`), ...troubles];
  if (words.length) fill("notices", el("p", { class: "notice" }, `Of ${grouped(cover.device_rows)} device rows: ${words.join("; ")}.`));
  const tile = (label, value, note) => el("div", { class: "tile card" }, el("span", { class: "label" }, label), el("strong", null, value), el("span", { class: "note" }, note));
  fill("figures",
    tile("Kernel", time(perf.kernel_ns), "an iteration"),
    tile("Op to op", time(perf.op_to_op_ns), "between operations"),
    tile("Before the first", time(perf.first_op_gap_ns), "waits for the host"),
    tile("Host", time(perf.host_ns), "calls, an iteration"));
}

// --------------------------------------------------------------------------------------------------------- time line

const spans = []; // {p, begin, end, gap}
function layOut() {
  let at = 0;
  perf.positions.forEach((p, i) => {
    const gap = i === 0 ? 0 : Math.max(0, meanOf(p.gap));
    const begin = at + gap;
    at = begin + meanOf(p.kernel);
    spans.push({ p, begin, end: at, gap });
  });
  view.to = at;
}

function timeLine() {
  const whole = spans.length ? spans[spans.length - 1].end : 0;
  if (!whole) return fill("line", el("p", { class: "empty" }, "No operation has a time."));
  const width = Math.max(280, byId("line").clientWidth);
  const scale = width / (view.to - view.from);
  const x = (ns) => (ns - view.from) * scale;
  const picture = svg("svg", { class: "timeline", viewBox: `0 0 ${width} 92`, role: "img", "aria-label": "Time line of an iteration" });
  for (const s of spans) {
    if (s.end < view.from || s.begin > view.to) continue;
    picture.append(svg("rect", { class: `op ${workClass(s.p.work)}`, x: x(s.begin), y: 8, width: Math.max(0.6, (s.end - s.begin) * scale - 0.4), height: 52, "data-n": s.p.n },
      svg("title", null, `${s.p.n} ${s.p.op}: ${time(s.p.kernel.mean)}, gap before ${time(s.p.gap.mean)}`)));
  }
  picture.append(svg("line", { class: "ground", x1: 0, x2: width, y1: 66, y2: 66 }));
  const ticks = width > 700 ? 8 : 3;
  for (let i = 0; i <= ticks; i += 1) {
    const at = view.from + ((view.to - view.from) * i) / ticks;
    picture.append(svg("text", { x: (width * i) / ticks, y: 82, "text-anchor": i === 0 ? "start" : i === ticks ? "end" : "middle" }, time(at)));
  }
  const choice = svg("rect", { class: "choice", y: 4, height: 60, width: 0 });
  picture.append(choice);
  let start = null;
  const place = (event) => ((event.clientX - picture.getBoundingClientRect().left) / picture.getBoundingClientRect().width) * width;
  picture.addEventListener("pointerdown", (event) => {
    start = place(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const now = place(event);
    choice.setAttribute("x", Math.min(start, now));
    choice.setAttribute("width", Math.abs(now - start));
  });
  picture.addEventListener("pointerup", (event) => {
    const now = place(event);
    const [low, high] = [Math.min(start, now), Math.max(start, now)];
    start = null;
    if (high - low < 4) return choice.setAttribute("width", 0);
    [view.from, view.to] = [view.from + low / scale, view.from + high / scale];
    timeLine();
  });
  const all = view.from > 0 || view.to < whole ? el("button", { type: "button", id: "whole", onclick: () => {
    [view.from, view.to] = [0, whole];
    timeLine();
  } }, "Whole iteration") : null;
  fill("line", picture, all);
}

function legend() {
  const sums = new Map();
  for (const g of perf.by_op) sums.set(g.work, (sums.get(g.work) || 0) + (g.kernel || 0));
  const all = [...sums].sort((a, b) => b[1] - a[1]);
  fill("legend", all.map(([work, ns]) => el("li", null, el("span", { class: `swatch ${workClass(work)}`, "aria-hidden": "true" }), `${work.replaceAll("_", " ")} ${percent(ns, perf.kernel_ns)}`)));
}

// ----------------------------------------------------------------------------------------------------------- treemap

// Squarified (Bruls, Huizing, van Wijk): rows whose cells are as square as they get.
function squares(items, x, y, w, h) {
  const out = [];
  let rest = items;
  while (rest.length && w > 0.5 && h > 0.5) {
    const side = Math.min(w, h);
    const area = (w * h) / rest.reduce((sum, one) => sum + one.kernel, 0);
    const worst = (row) => {
      const sum = row.reduce((s, one) => s + one.kernel, 0) * area;
      return Math.max(...row.map((one) => Math.max((side * side * one.kernel * area) / (sum * sum), (sum * sum) / (side * side * one.kernel * area))));
    };
    let count = 1;
    while (count < rest.length && worst(rest.slice(0, count + 1)) <= worst(rest.slice(0, count))) count += 1;
    const row = rest.slice(0, count);
    const depth = (row.reduce((s, one) => s + one.kernel, 0) * area) / side;
    let at = 0;
    for (const one of row) {
      const length = (one.kernel * area) / depth;
      out.push(w >= h ? { one, x, y: y + at, w: depth, h: length } : { one, x: x + at, y, w: length, h: depth });
      at += length;
    }
    if (w >= h) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
    rest = rest.slice(count);
  }
  return out;
}

function treemap() {
  const items = perf.by_op.filter((g) => g.kernel > 0);
  if (!items.length) return fill("tree", el("p", { class: "empty" }, "No operation has a time."));
  const width = Math.max(260, byId("tree").clientWidth - 34);
  const height = width > 700 ? 300 : 360;
  const picture = svg("svg", { class: "treemap", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Kernel time by operator" });
  for (const c of squares(items, 0, 0, width, height)) {
    const label = shortOp(c.one.op);
    const share = percent(c.one.kernel, perf.kernel_ns);
    const fits = Math.floor((c.w - 14) / 7);
    const group = svg("g", { class: workClass(c.one.work) },
      svg("rect", { x: c.x, y: c.y, width: c.w, height: c.h, rx: 4 }, svg("title", null, `${c.one.op}: ${time(c.one.kernel)}, ${share}, ${plural(c.one.positions, "position")}`)));
    if (fits > 3 && c.h > 20) group.append(svg("text", { x: c.x + 8, y: c.y + 18 }, label.length > fits ? `${label.slice(0, fits - 1)}…` : label));
    if (fits > 6 && c.h > 38) group.append(svg("text", { x: c.x + 8, y: c.y + 34 }, `${share}`));
    picture.append(group);
  }
  fill("tree", picture);
}

// --------------------------------------------------------------------------------------------------------- positions

function spark(values) {
  const there = values.filter((v) => v !== null);
  if (there.length < 2) return el("span", { class: "note" }, there.length ? "one" : "–");
  const low = Math.min(...there);
  const high = Math.max(...there);
  const points = values.map((v, i) => (v === null ? null : `${(2 + (86 * i) / (values.length - 1)).toFixed(1)},${(high === low ? 10 : 17 - (14 * (v - low)) / (high - low)).toFixed(1)}`)).filter(Boolean);
  return svg("svg", { class: "spark", viewBox: "0 0 90 20", role: "img", "aria-label": `${values.length} iterations, ${time(low)} to ${time(high)}` },
    svg("polyline", { points: points.join(" ") }), svg("title", null, `${time(low)} to ${time(high)}`));
}

const COLUMNS = [
  ["n", "#", (p) => p.n, true], ["op", "Operation", (p) => p.op, false],
  ["kernel", "Kernel", (p) => meanOf(p.kernel), true], ["share", "%", (p) => meanOf(p.kernel), true],
  ["sd", "sd", (p) => p.kernel.sd || 0, true], [null, "Iterations"], ["gap", "Gap before", (p) => meanOf(p.gap), true],
  ["cores", "Cores", (p) => p.cores || 0, true], ["bound", "Bound by", (p) => p.bound, false], [null, "Inputs"], [null, "Advice"],
];

function positions() {
  const column = COLUMNS.find(([name]) => name === view.sort);
  const order = [...perf.positions].sort((a, b) => {
    const [x, y] = [column[2](a), column[2](b)];
    return (x < y ? -1 : x > y ? 1 : a.n - b.n) * (view.down ? -1 : 1);
  });
  const shown = order.slice(0, view.pages * PAGE);
  const missing = perf.total_positions - perf.positions.length;
  fill("positions-hint", `${plural(perf.total_positions, "position")} an iteration${missing ? `; this page has the ${grouped(perf.positions.length)} longest, 'opwright perf --all' has the rest` : ""}. Means over ${plural(perf.iterations, "iteration")}.`);
  // Of one iteration nothing varies: the columns that would say how much are left out.
  const varies = perf.iterations > 1;
  const header = COLUMNS.filter(([name, title]) => varies || (name !== "sd" && title !== "Iterations")).map(([name, title, , number]) => el("th", { class: number ? "number" : null, scope: "col", "aria-sort": name && name === view.sort ? (view.down ? "descending" : "ascending") : null },
    name ? el("button", { type: "button", class: "sort", "data-sort": name, onclick: () => {
      view.down = view.sort === name ? !view.down : name !== "n" && name !== "op" && name !== "bound";
      view.sort = name;
      positions();
    } }, title) : title));
  const rows = shown.map((p) => el("tr", null,
    el("td", { class: "number" }, String(p.n)),
    el("td", { class: "op-name" }, el("span", { class: `swatch ${workClass(p.work)}`, "aria-hidden": "true" }), shortOp(p.op)),
    el("td", { class: "number" }, time(p.kernel.mean)),
    el("td", { class: "number" }, p.kernel.mean === null ? "–" : percent(p.kernel.mean, perf.kernel_ns)),
    varies ? [el("td", { class: "number" }, time(p.kernel.sd)), el("td", null, spark(p.values))] : null,
    el("td", { class: "number" }, time(p.gap.mean)),
    el("td", { class: "number" }, p.cores === null ? "–" : String(p.cores)),
    el("td", { class: "op-name" }, p.bound.replaceAll("_", " ")),
    el("td", { class: "fields" }, p.inputs.map((text) => el("div", null, text))),
    el("td", { class: "fields" }, p.advice)));
  fill("positions", el("table", null, el("thead", null, el("tr", null, header)), el("tbody", null, rows)));
  fill("pager", shown.length < order.length ? el("button", { type: "button", onclick: () => {
    view.pages += 1;
    positions();
  } }, `Show ${grouped(Math.min(PAGE, order.length - shown.length))} more of ${grouped(order.length)}`) : null);
}

// -------------------------------------------------------------------------------------------------------------- diff

const VERDICTS = { cannot_tell: "cannot tell", no_figure: "", same: "same", slower: "slower", faster: "faster" };
const verdict = (d) => el("span", { class: d.verdict === "slower" || d.verdict === "faster" ? d.verdict : "note" }, VERDICTS[d.verdict]);
const interval = (d) => (d.low === null ? "" : `${change(d.low)} to ${change(d.high)}`);

function diff() {
  const d = perf.diff;
  if (!d) return;
  byId("diff-section").hidden = false;
  fill("diff-hint", `Since ${d.a.file}${d.a.window === "*" ? "" : `, window ${d.a.window}`}: ${grouped(d.alignment.same)} the same, ${grouped(d.alignment.changed)} with another configuration, ${grouped(d.alignment.added)} new, ${grouped(d.alignment.removed)} gone.`);
  const line = (name, one) => el("tr", null, el("th", { scope: "row" }, name), el("td", { class: "number" }, time(one.a)), el("td", { class: "number" }, time(one.b)), el("td", { class: "number" }, change(one.difference)), el("td", { class: "number" }, interval(one)), el("td", null, verdict(one)));
  const titles = (names) => el("thead", null, el("tr", null, names.map(([name, number]) => el("th", { scope: "col", class: number ? "number" : null }, name))));
  fill("diff-totals", el("table", null, titles([["An iteration"], ["Before", 1], ["Now", 1], ["Change", 1], ["95 % interval", 1], [""]]), el("tbody", null, line("Kernel", d.total.kernel_ns), line("Op to op", d.total.op_to_op_ns), line("Before the first", d.total.first_op_gap_ns))));
  fill("diff-noise", d.noise.why_unsure ? `Cannot tell: ${d.noise.why_unsure}.` : "Intervals know how much the iterations of these two runs vary, not how much two runs do.");
  const news = d.positions.filter((p) => p.change !== "same" || ["slower", "faster"].includes(p.kernel_ns.verdict) || ["slower", "faster"].includes(p.op_to_op_ns.verdict));
  if (!news.length) return fill("diff", el("p", { class: "empty" }, "Every operation has the same configuration, and no time differs provably."));
  fill("diff", el("table", null, titles([["Change"], ["Before", 1], ["Now", 1], ["Operation"], ["Kernel before", 1], ["Kernel now", 1], ["Change", 1], [""], ["Fields"]]),
    el("tbody", null, news.slice(0, 1000).map((p) => el("tr", null, el("td", null, p.change), el("td", { class: "number" }, p.a === null ? "" : String(p.a)), el("td", { class: "number" }, p.b === null ? "" : String(p.b)),
      el("td", { class: "op-name" }, shortOp(p.op)), el("td", { class: "number" }, time(p.kernel_ns.a)), el("td", { class: "number" }, time(p.kernel_ns.b)), el("td", { class: "number" }, change(p.kernel_ns.difference)), el("td", null, verdict(p.kernel_ns)),
      el("td", { class: "fields" }, p.fields.map((f) => el("div", null, `${f.field}: ${f.a || "nothing"} → ${f.b || "nothing"}`))))))),
    news.length > 1000 ? el("p", { class: "note" }, `… and ${grouped(news.length - 1000)} more: 'opwright perf diff --all'`) : null);
}

themeButton();
head();
layOut();
legend();
timeLine();
treemap();
diff();
positions();
addEventListener("resize", () => {
  timeLine();
  treemap();
});
byId("main").setAttribute("aria-busy", "false");
