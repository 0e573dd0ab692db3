// A verdict in words and in two small plots, for somebody who does not know the judge's own names.

// An error this many ULPs large says one thing only: what was expected is all but zero there, and so is its ULP.
const NEAR_ZERO_ULP = 1e9;
const isNearZero = (ulp) => typeof ulp === "number" && ulp >= NEAR_ZERO_ULP;
function ulpText(value, digits) {
  return isNearZero(value) ? el("span", { class: "note", title: "The expected value is nearly zero, so a count of ULPs says nothing." }, "near zero") : figure(value, digits);
}

const parsedOr = (json, otherwise) => {
  try {
    return JSON.parse(json);
  } catch {
    return otherwise;
  }
};

const OUTCOME_WORDS = {
  passed: "Every output is what it must be, as far as this data can show.",
  accepted: "The device would run the call. No numbers were computed, so nothing is proven about them.",
  failed: "The result is wrong.",
  mistrusted: "The numbers agree, but the outputs are too simple to prove anything.",
  unproven: "The numbers agree, but what was executed is not what was traced.",
  vacuous: "Planted faults would have passed too, so this pass proves little.",
  refused: "The device refused the call.",
  out_of_memory: "The call needs more memory than the device has.",
  unsupported: "This device cannot run the call, which is no failure.",
  lost: "The trace lost something that the call needs.",
  device_error: "The device reported an error.",
  crashed: "The worker process died.",
  timed_out: "The case took longer than it may.",
  host_memory: "The host had too little memory.",
  harness_error: "Opwright itself failed here. Please report it.",
  not_run: "The case was not run.",
  reference_wrong: "The reference seems to be wrong, not the device.",
  xfailed: "It failed, as is expected of it.",
  xpassed: "It passed, though a failure is expected.",
};

function verdictWords(row, details) {
  const outcome = outcomeOf(row).name;
  const verdicts = parsedOr(details.verdicts || "[]", null);
  return [
    el("p", { class: "lead" }, badge(outcome), " ", OUTCOME_WORDS[outcome] || ""),
    text("reason", row) && el("p", { class: "reason" }, text("reason", row)),
    details.argument && el("p", null, "Argument at fault: ", el("code", null, details.argument)),
    Array.isArray(verdicts) && verdicts.map((verdict, i) => verdict && typeof verdict === "object" &&
      outputWords(verdict, verdicts.length > 1 ? `Output ${i}: ` : "")),
    !verdicts && details.verdicts && el("pre", null, details.verdicts),
    !details.verdicts && isFailure(outcomeOf(row)) === false && !isJudged() && el("p", { class: "note" }, "Nothing was judged: the device has no numerics."),
  ];
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function outputWords(verdict, lead) {
  const m = verdict.metrics && typeof verdict.metrics === "object" ? verdict.metrics : {};
  const worst = verdict.worst && typeof verdict.worst === "object" ? verdict.worst : {};
  const words = [];
  if (isNumber(m.compared)) {
    words.push(`${lead}${plural(m.compared, "element")} compared with the reference.`);
    if (m.exact_share === 1) words.push(" All are the exact value, rounded to the format.");
    else if (isNumber(m.exact_share)) words.push(` ${percent(m.exact_share, 1)} are the exact value, rounded to the format.`);
    if (isNumber(m.within_share) && m.within_share < 1) words.push(` ${percent(1 - m.within_share, 1)} lie outside of what rounding explains.`);
  }
  if (isNumber(verdict.rows) && isNumber(verdict.total_rows) && verdict.rows < verdict.total_rows) {
    words.push(` A sample was judged: ${grouped(verdict.rows)} of ${grouped(verdict.total_rows)} rows.`);
  }
  const at = Array.isArray(worst.index) ? `[${worst.index.slice(0, 12).join(", ")}]` : null;
  const share = isNumber(worst.bound) && worst.bound > 0 ? Math.abs(worst.actual - worst.expected) / worst.bound : null;
  return el("div", { class: "output" },
    words.length > 0 && el("p", null, words),
    share !== null && gauge("Largest error, as a share of what rounding explains", share, 1, 1e-3, 1e3, (value) => (value > 1e6 ? "more than a million times it" : figure(value, 3))),
    isNumber(m.pcc) && isNumber(verdict.pcc_threshold) && verdict.pcc_threshold > 0 && gauge("1 − PCC, and the most that is allowed", Math.max(1 - m.pcc, 0), 1 - verdict.pcc_threshold, 1e-9, 1,
      (value) => (value === 0 ? "0" : value.toExponential(1))),
    at && isNumber(worst.actual) && isNumber(worst.expected) && el("p", null, "Worst element ", el("code", null, at), ": got ", el("code", null, figure(worst.actual, 8)),
      ", expected ", el("code", null, figure(worst.expected, 8)), isNumber(worst.bound) && worst.bound > 0 && [", within ± ", el("code", null, figure(worst.bound, 3)), " allowed"], "."),
    Array.isArray(verdict.notes) && verdict.notes.filter((note) => typeof note === "string").map((note) => el("p", { class: "note" }, note)),
    Array.isArray(verdict.blind) && verdict.blind.length > 0 && el("p", { class: "note" }, `This pass would not show: ${verdict.blind.slice(0, 20).map(plainText).join("; ")}.`));
}

const BLAME_WORDS = {
  op: "The operation", reference: "The reference", harness: "Opwright itself", "state leak": "What ran before it in the same process",
  flaky: "Nobody for certain: it fails now and then", machine: "The machine: a case that must pass fails too", device: "The device's program",
  "not reproduced": "Nobody: it failed once and never again",
};

// An output as one line, as case lines have tensors; what is not built so, as it is.
function outputText(output) {
  if (!output || typeof output !== "object" || Array.isArray(output) || !Array.isArray(output.shape)) return plainText(output);
  const memory = output.memory && typeof output.memory === "object" ? [output.memory.buffer, output.memory.layout] : [];
  return [`[${output.shape.slice(0, 12).map(plainText).join(",")}]`, output.dtype, output.layout, ...memory].filter((word) => typeof word === "string").join(" ");
}

// A value on a log scale, good to the left of `limit`.
function gauge(label, value, limit, least, most, shown) {
  const width = 560, height = 44, bar = 12;
  const at = (x) => {
    const place = (Math.log10(Math.min(most, Math.max(least, x))) - Math.log10(least)) / (Math.log10(most) - Math.log10(least));
    return 6 + place * (width - 12);
  };
  const good = value <= limit;
  const x = at(value);
  const left = x < width / 2;
  return el("figure", { class: "gauge" }, el("figcaption", { class: "note" }, label, ": ", el("strong", null, shown(value))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${label}: ${shown(value)}, limit ${shown(limit)}` },
      svg("rect", { class: "good-side", x: 6, y: 10, width: at(limit) - 6, height: bar }),
      svg("rect", { class: "bad-side", x: at(limit), y: 10, width: width - 6 - at(limit), height: bar }),
      svg("line", { class: "limit", x1: at(limit), x2: at(limit), y1: 4, y2: 10 + bar + 6 }),
      svg("text", { x: at(limit), y: height - 4, "text-anchor": at(limit) > width - 60 ? "end" : "middle" }, `limit ${shown(limit)}`),
      svg("circle", { class: good ? "value good" : "value bad", cx: x, cy: 10 + bar / 2, r: 7 }),
      Math.abs(x - at(limit)) > 110 && svg("text", { class: "here", x, y: height - 4, "text-anchor": left ? "start" : "end" }, value < least ? `below ${shown(least)}` : shown(value))));
}

// ------------------------------------------------------------------------------------------------------ the judge's names

const NAMES = {
  "judged by": "Judged by", compared: "Elements compared", pcc: "PCC", "pcc ideal": "PCC that perfect rounding would reach",
  "pcc floor": "Lowest PCC that rounding explains", "pcc threshold": "PCC that is asked for", "max abs": "Largest absolute error",
  "max rel": "Largest relative error", nrmse: "Error (rms), of the spread", "rel rms": "Error (rms), of the values (rms)",
  "ulp max": "Largest error in ULP", "ulp mean": "Mean error in ULP", "ulp p99": "Error in ULP of 99 %",
  "exact share": "Share that is exact", "within share": "Share within the bound", excess: "Error, in units of a normal accumulation",
  scale: "Slope of result on reference", spread: "Spread of the reference", noise: "Error (rms) that rounding explains",
  rows: "Rows judged", "total rows": "Rows", distribution: "Data", seed: "Seed", budget: "Why the bound is what it is",
  ties: "Chosen otherwise among equals", outcome: "Outcome", reasons: "Reasons", notes: "Notes", blind: "Would not be noticed",
  "worst · index": "Worst element", "worst · actual": "… it is", "worst · expected": "… expected", "worst · bound": "… bound",
};
const nameOfFigure = (name) => NAMES[name] || name.charAt(0).toUpperCase() + name.slice(1);

// --------------------------------------------------------------------------------------------------------- arguments

const TENSOR_COLUMNS = ["Argument", "Shape", "Dtype", "Layout", "Memory", "Shard", "Placement"];

// Tensors as one table, its empty columns left out; other values as another.
function argumentTables(list) {
  if (!Array.isArray(list) || !list.length) return null;
  const tensors = list.filter((row) => row.length > 2);
  const values = list.filter((row) => row.length === 2);
  const used = TENSOR_COLUMNS.map((_, i) => tensors.some((row) => row[i]));
  const cellsFor = (row) => row.map((cell, i) => used[i] && el(i ? "td" : "th", i ? null : { scope: "row" }, cell === "" ? null : argumentName(cell, i)));
  return [
    tensors.length > 0 && el("div", { class: "fit" }, el("table", { class: "small arguments" },
      el("thead", null, el("tr", null, TENSOR_COLUMNS.map((name, i) => used[i] && el("th", { scope: "col" }, name)))),
      el("tbody", null, tensors.slice(0, MOST_ITEMS).map((row) => el("tr", null, cellsFor(row)))))),
    values.length > 0 && el("dl", { class: "pairs values" }, values.slice(0, MOST_ITEMS).map(([name, value]) =>
      [el("dt", null, argumentName(name, 0)), el("dd", null, el("code", null, value.replace(/,(?=\S)/g, ", ")))])),
    list.length > MOST_ITEMS && el("p", { class: "note" }, `${plural(list.length - MOST_ITEMS, "argument")} more in the case line.`),
  ];
}

// Tensors that went by position have no name in the trace: `arg0`, `0`.
const argumentName = (name, column) => (column === 0 && /^(arg)?\d+$/.test(name) ? `argument ${Number(name.replace("arg", "")) + 1}` : name);
