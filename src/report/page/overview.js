// The head of the page (what was run, where, with what) and the totals.

const when = (utc) => utc.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

function ranFor(run) {
  if (!run.ended) return "";
  const span = (Date.parse(run.ended) - Date.parse(run.started)) / 1000;
  return Number.isFinite(span) ? seconds(span) : "";
}

function renderHead() {
  const run = report.run;
  fill("title", cut(run.suite || "Run", MOST_NAME), el("span", { class: "on" }, " on "), cut(run.device || "an unnamed device", MOST_NAME),
    run.against && [el("span", { class: "on" }, " against "), cut(run.against, MOST_NAME)]);
  const facts = [
    ["Run", run.uid], ["Started", when(run.started)], ["Duration", ranFor(run)], ["Status", run.status],
    ["Host", run.host], ["Numerics", run.numerics], ["Seed", run.seed], ["Version", run.version],
    ["Commit", run.git_commit.slice(0, 12)],
  ];
  fill("facts", facts.filter(([, value]) => value).map(([name, value]) =>
    el("div", null, el("dt", null, name), el("dd", null, value))));
  fill("facts-more", run.command && commandBox(run.command), factsTable(run.facts));
  byId("more").hidden = !run.command && !run.facts;
  fill("notices", noticesOf(run).map(([kind, ...words]) => el("p", { class: `notice ${kind}` }, words)));
  fill("foot", `Opwright ${run.version} · run ${run.uid} · everything on this page is in this one file.`);
}

// The run's facts are JSON of any shape: shown as names and values.
function factsTable(json) {
  if (!json) return null;
  let facts;
  try {
    facts = JSON.parse(json);
  } catch {
    return el("pre", null, json);
  }
  if (facts === null || typeof facts !== "object") return el("pre", null, json);
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return el("dl", { class: "pairs" }, Object.entries(facts).map(([name, value]) => [el("dt", null, name), el("dd", null, shown(value))]));
}

// What a reader must know before any figure.
function noticesOf(run) {
  const notices = [];
  if (!isJudged()) {
    notices.push(["warn", el("strong", null, "Nothing was judged. "),
      `${run.device} has no numerics: accepted means that it would run the call. No result was computed or compared, so nothing here is a PASS.`]);
  }
  if (report.rows === 0) notices.push(["warn", "This run has no results."]);
  const missing = run.planned - report.rows;
  if (missing > 0) {
    notices.push(["warn", el("strong", null, `${plural(missing, "planned case")} without a result. `),
      `${grouped(report.rows)} of ${grouped(run.planned)} are here; the run is ${run.status || "not complete"}. `,
      "opwright run --resume goes on with it."]);
  }
  return notices;
}

function renderTotals(rows) {
  const sum = figuresOf(rows);
  const good = goodName();
  const tile = (id, label, value, note, kind) =>
    el("div", { class: `tile ${kind || ""}`, id: `figure-${id}` }, el("span", { class: "label" }, label),
      el("strong", null, value), el("span", { class: "note" }, note));
  fill("figures",
    tile("total", "Cases", grouped(sum.total), sum.total === report.rows ? "all results" : `of ${grouped(report.rows)}`),
    tile("passed", good === "passed" ? "Passed" : "Accepted", percent(sum.good, sum.total),
      `${grouped(sum.good)} of ${grouped(sum.total)}`, sum.good ? "good" : ""),
    tile("failed", "Failed", grouped(sum.failures), sum.failures ? `${percent(sum.failures, sum.total)}: somebody has to look` : "none", sum.failures ? "bad" : ""),
    sum.noVerdict > 0 && tile("no-verdict", "No verdict", grouped(sum.noVerdict), "not run, or nobody here can"),
    tile("calls", `Calls ${good}`, percent(sum.goodCalls, sum.calls),
      sum.calls ? `${grouped(sum.goodCalls)} of ${plural(sum.calls, "recorded call")}` : "no recorded calls"),
    tile("pcc", "Lowest PCC", pccText(sum.pccMin),
      sum.pccCount ? `average ${pccText(sum.pccAvg)} of ${grouped(sum.pccCount)}` : "none was computed"),
    sum.fields > 0 && tile("fields", "Executed as traced", percent(sum.fieldsEqual, sum.fields),
      `${grouped(sum.fieldsEqual)} of ${plural(sum.fields, "field")}`),
    sum.faults > 0 && tile("faults", "Planted faults seen", percent(sum.noticed, sum.faults),
      `${grouped(sum.noticed)} of ${grouped(sum.faults)}`),
    sum.compared > 0 && tile("agreed", "Devices agree", percent(sum.agreed, sum.compared), `${grouped(sum.agreed)} of ${plural(sum.compared, "case")}`),
    tile("wall", "Time in cases", seconds(sum.wall), sum.ran ? `${seconds(sum.wall / sum.ran)} a case that ran` : ""));

  const bar = byId("bar");
  fill("bar", sum.total ? barParts(sum.counts, sum.total) : el("span", { class: "part none" }));
  bar.setAttribute("aria-label", sum.total ? `${grouped(sum.good)} of ${plural(sum.total, "case")} ${good}` : "no results");

  // The legend counts without the outcome's own filter, so that one click leads to the next.
  const all = "outcome" in filters ? figuresOf(selectRows(["outcome"])) : sum;
  fill("legend", outcomeOrder().filter((i) => all.counts[i]).map((i) => {
    const name = report.outcomes[i].name;
    return el("li", null, el("button", {
      type: "button", "data-outcome": name, "aria-pressed": String(filters.outcome === name),
      onclick: () => toggleFilters({ outcome: name }),
    }, badge(name), el("strong", null, grouped(all.counts[i])), el("span", { class: "note" }, percent(all.counts[i], all.total))));
  }));
}
