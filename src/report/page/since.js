// What changed since the run before this one on the same device, above everything else. The lists are made in the program
// (src/report/run_diff.h), which `opwright results --diff` prints too.

const MOST_SINCE = 8; // cases of a list before its button is pressed

function renderSince() {
  const since = report.run.since;
  const box = byId("since");
  byId("since-section").hidden = !since && !report.run.past.length;
  if (!since) {
    box.replaceChildren(el("p", { class: "note" }, report.run.past.length
      ? "No earlier run in this store was on this device, so there is nothing to compare with." : ""));
    return;
  }
  const lists = since.lists.filter((list) => list.count);
  const bad = lists.some((list) => list.kind === "bad");
  box.replaceChildren(
    el("p", { class: "since-head" }, el("strong", null, lists.length ? (bad ? "Something got worse." : "Some cases changed.") : "Nothing changed."),
      ` Compared with ${since.uid} of ${when(since.started)}: ${plural(since.both, "case")} in both, ${grouped(since.same)} with the same outcome`,
      since.only_now > 0 && `, ${grouped(since.only_now)} new`, since.only_before > 0 && `, ${grouped(since.only_before)} not in this run`, ".",
      !since.enough_times && " Times: too few pairs to tell a change from noise."),
    ...since.cautions.map((caution) => el("p", { class: "note" }, `Note: ${caution}`)),
    el("div", { class: "since-lists" }, lists.map(sinceList)));
}

function sinceList(list) {
  return el("details", { class: `card since ${list.kind}` },
    el("summary", null, el("strong", null, grouped(list.count)), ` ${list.name}`),
    shortList(list.cases.map((one) => () => sinceCase(one)), MOST_SINCE), list.count > list.cases.length &&
      el("p", { class: "note" }, `The first ${grouped(list.cases.length)}; opwright results --diff has all.`));
}

function sinceCase([op, line, from, to]) {
  const row = rowOfLine(line);
  const readable = (words) => words.replace(/[\d.]+e\+(\d+) ULP/g, (found, power) => (10 ** power >= NEAR_ZERO_ULP ? "ULP of a value near zero" : found));
  const change = el("span", { class: "note" }, `${readable(from)} → ${readable(to)}`);
  return [row === undefined ? el("span", null, shownName(op)) : el("button", { type: "button", class: "link", onclick: () => openCase(row) },
    `${shownName(op)} #${report.col.index[row]}`), " ", change];
}

function rowOfLine(line) {
  if (!report.rowOfLine) {
    report.rowOfLine = new Map();
    report.col.line.forEach((place, row) => report.rowOfLine.has(place) || report.rowOfLine.set(place, row));
  }
  return report.rowOfLine.get(report.places.get(line));
}

// ------------------------------------------------------------------------------------------------- history of one case

// Outcomes of earlier runs, the oldest first, and this one.
function historyOf(row, details) {
  const runs = report.run.past;
  const past = (details.past || []).map(([run, outcome, pcc, time]) => ({ ...runs[run], outcome: report.outcomes[outcome].name, pcc, time }));
  if (!past.length) {
    return runs.length ? el("p", { class: "note" }, `In none of the ${plural(runs.length, "earlier run")} that were read.`) : null;
  }
  const col = report.col;
  past.push({ ...report.run, commit: report.run.git_commit, outcome: outcomeOf(row).name, pcc: col.pcc[row], time: col.device[row], now: true });
  return [
    el("div", { class: "past", role: "img", "aria-label": past.map((one) => shownOutcome(one.outcome)).join(", ") },
      past.map((one) => el("span", { class: `past-run o-${one.outcome}`, title: `${one.uid}: ${shownOutcome(one.outcome)}` }, SIGNS[one.outcome] || "•"))),
    el("div", { class: "fit" }, el("table", { class: "small" },
      el("thead", null, el("tr", null, [["Run"], ["Device", "wide-only"], ["Outcome"], ["PCC"], ["Device time", "wide-only"]].map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
      el("tbody", null, past.toReversed().map((one) => el("tr", one.now ? { class: "chosen" } : null,
        el("td", null, el("span", { class: "nowrap" }, when(one.started).slice(0, 16)), one.commit && el("span", { class: "note" }, ` ${one.commit.slice(0, 8)}`)),
        el("td", { class: "wide-only" }, cut(one.device, MOST_NAME)), el("td", null, badge(one.outcome)), el("td", { class: "number" }, pccText(one.pcc)),
        el("td", { class: "number wide-only" }, one.time ? seconds(one.time) : "–")))))),
    report.run.past_left_out > 0 && el("p", { class: "note" }, `${plural(report.run.past_left_out, "older run")} not read; opwright results --history has all.`),
  ];
}
