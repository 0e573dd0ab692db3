// Failures that share a cause, and the worst of the cases.

const MOST_CLUSTERS = 50;

const CAUSES = [["failed", "Failed"], ["others", "Not decided, not run"]];

function renderFailures() {
  const chosen = view.causes === "others" ? "others" : "failed";
  const all = selectRows(["cluster"]).filter((row) => outcomeOf(row).standing !== "passed");
  const rows = all.filter((row) => isFailure(outcomeOf(row)) === (chosen === "failed"));
  const clusters = clustersOf(rows);
  const tabs = CAUSES.map(([name, label]) => [name, `${label} (${grouped(name === chosen ? rows.length : all.length - rows.length)})`]);
  renderTabs("cause-tabs", "failures", tabs, chosen, (name) => setView({ causes: name }));
  fill("failures-hint", clusters.length
    ? `${plural(rows.length, "case")}, ${plural(clusters.length, "cause")}: the same outcome and the same message, numbers aside.`
    : "");
  if (!clusters.length) {
    fill("failures", el("p", { class: "card empty" }, report.rows ? "None." : "Nothing to show."));
    return;
  }
  fill("failures", el("ol", { class: "clusters" }, clusters.slice(0, MOST_CLUSTERS).map(clusterItem)),
    clusters.length > MOST_CLUSTERS && el("p", { class: "hint" },
      `${plural(clusters.length - MOST_CLUSTERS, "smaller cause")} more; the filters narrow the list.`));
}

// The largest first; the one with the lower place in the plan of two equals.
function clustersOf(rows) {
  const clusters = new Map();
  for (const row of rows) {
    const key = report.col.cluster[row];
    if (!clusters.has(key)) clusters.set(key, []);
    clusters.get(key).push(row);
  }
  return [...clusters.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
}

// Folded, but for those that the reader opened: drawing anew must not close them.
const openClusters = new Set();

function clusterItem(rows) {
  const first = rows[0];
  const cluster = text("cluster", first);
  const ops = [...groupRows(rows, "op")].sort((a, b) => b[1].length - a[1].length);
  const blames = [...groupRows(rows, "blame")].filter(([name]) => name).map(([name, some]) => `${name} ${grouped(some.length)}`);
  const shown = filters.cluster === cluster;
  return el("li", null, el("details", { class: `card cluster${shown ? " chosen" : ""}`, open: shown || openClusters.has(cluster),
    ontoggle: (event) => (event.target.open ? openClusters.add(cluster) : openClusters.delete(cluster)) },
    el("summary", null, el("strong", { class: "times" }, grouped(rows.length), el("span", { class: "offscreen" }, " cases")),
      badge(outcomeOf(first).name), el("span", { class: "why" }, cut(text("reason", first).split("\n")[0] || "(no reason was given)", MOST_LINE)),
      el("span", { class: "note" }, ops.slice(0, 3).map(([name, some]) => `${shownName(name)} ${grouped(some.length)}`).join(", "),
        ops.length > 3 && `, ${plural(ops.length - 3, "operation")} more`)),
    el("p", { class: "reason" }, text("reason", first) || "(no reason was given)"),
    blames.length > 0 && el("p", { class: "note" }, `Who is to blame: ${blames.join(", ")}`),
    commandBox(repeatOf(first)),
    el("div", { class: "actions" },
      el("button", { type: "button", "aria-pressed": String(shown), onclick: () => toggleFilters({ cluster }) },
        shown ? "Show all again" : `Show ${rows.length === 1 ? "it" : "these"} in the results`),
      el("button", { type: "button", onclick: () => openCase(first) }, "Open this case"))));
}

// ---------------------------------------------------------------------------------------------------------------- worst

const WORST = 10;
const WORST_BY = [
  ["pcc", "Lowest PCC", (row) => report.col.pcc[row], 1],
  ["bound", "Nearest to its bound", (row) => report.col.bound[row], -1],
  ["ulp", "Most ULP", (row) => (isNearZero(report.col.ulp[row]) ? null : report.col.ulp[row]), -1],
  ["wall", "Slowest", (row) => report.col.wall[row], -1],
];

function renderWorst(rows) {
  const [name, , value, way] = WORST_BY.find(([each]) => each === view.worst) || WORST_BY[0];
  renderTabs("worst-tabs", "worst", WORST_BY, name, (next) => setView({ worst: next }));
  const measured = rows.filter((row) => Number.isFinite(value(row)) && (name !== "wall" || ranAtAll(row)));
  const worst = measured.sort((a, b) => way * (value(a) - value(b)) || a - b).slice(0, WORST);
  if (!worst.length) {
    fill("worst", el("p", { class: "empty" }, "No case has this figure."));
    return;
  }
  fill("worst", el("table", null, headRow(RESULT_COLUMNS, "", null), el("tbody", null, worst.map(resultRow))));
}
