// The one place where results are added up. `opwright results` prints the same figures (src/report/analysis.h), and a
// test holds the two together.

// Outcomes from good to bad, as bars and legends show them; the sign says what the colour says.
const SIGNS = {
  passed: "✓", accepted: "✓", xfailed: "✓", mistrusted: "?", vacuous: "○", unproven: "≠", xpassed: "!", reference_wrong: "!",
  failed: "✕", refused: "⊘", out_of_memory: "▦", unsupported: "–", lost: "…", device_error: "↯", crashed: "✹",
  timed_out: "◷", host_memory: "▤", harness_error: "⚙", not_run: "·",
};
const shownOutcome = (name) => name.replaceAll("_", " ");

// Indexes into report.outcomes in that order; a name that this page does not know comes last, not never.
function outcomeOrder() {
  const order = Object.keys(SIGNS);
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  return report.outcomes.map((_, i) => i).sort((a, b) => rank(report.outcomes[a].name) - rank(report.outcomes[b].name));
}

const badge = (name) =>
  el("span", { class: `badge o-${name}` }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[name] || "•"),
    shownOutcome(name));

// A device without numerics judges nothing: what it accepts is the best it can say.
const isJudged = () => report.run.numerics !== "none";
const goodName = () => (isJudged() ? "passed" : "accepted");

// The time of what never ran would pull every average down.
const ranAtAll = (row) => outcomeOf(row).standing !== "no verdict";

// 50: the median. Between two values their weighted mean, as src/report/figures.h has it.
function percentile(ascending, percents) {
  const place = (percents / 100) * (ascending.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, ascending.length - 1);
  return ascending[below] + (place - below) * (ascending[above] - ascending[below]);
}

function figuresOf(rows) {
  const col = report.col;
  const good = goodName();
  const sum = {
    total: rows.length, counts: report.outcomes.map(() => 0), good: 0, failures: 0, calls: 0, goodCalls: 0,
    noVerdict: 0, ran: 0, compared: 0, agreed: 0, pccCount: 0, pccMin: null, pccMax: null, pccSum: 0, wall: 0, fields: 0, fieldsEqual: 0, faults: 0, noticed: 0,
  };
  for (const row of rows) {
    const outcome = report.outcomes[col.outcome[row]];
    const isGood = outcome.name === good;
    sum.counts[col.outcome[row]] += 1;
    sum.good += isGood;
    sum.failures += isFailure(outcome);
    sum.calls += col.calls[row];
    sum.goodCalls += isGood ? col.calls[row] : 0;
    const ran = ranAtAll(row);
    sum.noVerdict += !ran;
    sum.ran += ran;
    sum.wall += ran ? col.wall[row] : 0;
    const agreement = text("agreement", row);
    sum.compared += agreement === "agree" || agreement === "disagree";
    sum.agreed += agreement === "agree";
    sum.fields += col.fields[row];
    sum.fieldsEqual += col.fields_equal[row];
    sum.faults += col.faults[row];
    sum.noticed += col.faults_noticed[row];
    const pcc = col.pcc[row];
    if (!Number.isFinite(pcc)) continue; // absent, or not a number: counted by the plot
    sum.pccCount += 1;
    sum.pccSum += pcc;
    if (sum.pccMin === null || pcc < sum.pccMin) sum.pccMin = pcc;
    if (sum.pccMax === null || pcc > sum.pccMax) sum.pccMax = pcc;
  }
  sum.pccAvg = sum.pccCount ? sum.pccSum / sum.pccCount : null;
  return sum;
}

// Name -> rows; a row of two models stands under both.
function groupRows(rows, property) {
  const groups = new Map();
  for (const row of rows) {
    for (const name of namesOf(property, row)) {
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(row);
    }
  }
  return groups;
}

// A bar of outcomes: as wide as its parent, at least a hair for each that is there.
function outcomeBar(counts, total, className) {
  const words = outcomeOrder().filter((i) => counts[i]).map((i) => `${shownOutcome(report.outcomes[i].name)} ${counts[i]}`);
  return el("div", { class: className, role: "img", "aria-label": words.join(", ") || "nothing" }, barParts(counts, total));
}

function barParts(counts, total) {
  return outcomeOrder().filter((i) => counts[i]).map((i) => {
    const name = report.outcomes[i].name;
    const label = `${shownOutcome(name)}: ${grouped(counts[i])} (${percent(counts[i], total)})`;
    return el("span", { class: `part o-${name}`, title: label, style: { flexGrow: counts[i] } });
  });
}
