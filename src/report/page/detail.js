// The panel of one case: all that is known of it.

let openRow = null;

function openCase(row) {
  setView({ case: String(report.col.index[row]) });
}

function closeCase() {
  if (view.case !== "") setView({ case: "" });
}

// Follows the address: opens, changes or closes the panel.
async function renderPanel() {
  const panel = byId("panel");
  const row = view.case === "" ? -1 : report.col.index.indexOf(Number(view.case));
  if (row < 0) {
    openRow = null;
    if (panel.open) panel.close();
    return;
  }
  if (row === openRow && panel.open) return;
  openRow = row;
  const details = await detailsOf(row);
  if (openRow !== row) return; // another was opened meanwhile
  panel.replaceChildren(...panelOf(row, details));
  panel.scrollTop = 0;
  if (!panel.open) panel.showModal();
  byId("panel-title").focus({ preventScroll: true });
}

function panelOf(row, details) {
  const col = report.col;
  return [
    el("header", null, el("h2", { id: "panel-title", tabindex: "-1" }, shownName(text("op", row)), el("span", { class: "note" }, ` #${col.index[row]}`)), stepButtons(row)),
    text("op", row).length > MOST_NAME && block("Operation", el("p", { id: "panel-name" }, text("op", row))),
    block("Arguments", argumentTables(details.arguments) || el("p", { class: "note" }, "The case line could not be taken apart; it stands below as it is.")),
    block("Verdict", verdictWords(row, details)),
    (text("blame", row) || details.evidence) && block("Who is to blame",
      text("blame", row) && el("p", null, el("strong", null, BLAME_WORDS[text("blame", row)] || text("blame", row))), details.evidence && el("p", null, details.evidence)),
    copiesOf(row, details),
    report.run.past.length > 0 && block("Over the runs", historyOf(row, details)),
    block("Executed against traced", executedText(row, details)),
    col.faults[row] > 0 && block("Planted faults", el("p", null, `${col.faults_noticed[row]} of ${col.faults[row]} noticed`),
      details.unnoticed && el("p", { class: "note" }, `not noticed: ${details.unnoticed}`)),
    text("against", row) && block(`Against ${report.run.against || "the second device"}`, el("p", null, badge(text("against", row))),
      el("p", null, text("disagreement", row) || (text("agreement", row) === "agree" ? "The two agree." : "One of them has no answer."))),
    details.notes && block("Notes", el("p", null, details.notes)),
    outputsOf(details),
    block("Cost", pairs([
      ["Case, in its worker", seconds(col.wall[row])], ["Device", seconds(col.device[row])],
      ["First time", details.cold !== null && seconds(details.cold)], ["Kernel", col.kernel[row] !== null && seconds(col.kernel[row])],
      ["Reference and judge", seconds(col.reference[row])], ["L1 a core", col.l1[row] > 0 && bytes(col.l1[row])],
      ["DRAM", details.dram > 0 && bytes(details.dram)], ["Worker's peak", details.host_bytes > 0 && bytes(details.host_bytes)],
    ])),
    block("Where it comes from", pairs([
      ["Models", text("models", row).replaceAll(",", ", ")], ["Recorded calls", grouped(col.calls[row])], ["Suite", text("suite", row)],
      ["Dtype", text("dtype", row)], ["Layout", text("layout", row)], ["Memory", text("memory", row)],
      ["Elements", col.elements[row] > 0 && grouped(col.elements[row])], ["Input data", `${details.data}, seed ${details.seed}`],
      ["Attempts", col.attempts[row] > 1 && grouped(col.attempts[row])], ["Started", details.started && when(details.started)],
      ["Vector", details.vector], ["Configuration", details.key],
    ])),
    el("section", null, el("details", { class: "verdict" }, el("summary", null, "All figures of the judge"), judgeFigures(row, details))),
  ].filter(Boolean);
}

// The case for a terminal, for a colleague with pytest, for a script.
function copiesOf(row, details) {
  const forms = [["Command", () => repeatOf(row)], ["Case line", () => text("line", row)],
    ["pytest", () => details.pytest], ["ttnn script", () => details.ttnn]].filter(([, of]) => of());
  return block("Run it again", commandBox(repeatOf(row)),
    el("div", { class: "actions", id: "copies" }, forms.map(([name, of]) => copyButton(of, `Copy as ${name.charAt(0).toLowerCase()}${name.slice(1)}`))),
    details.unspelled && el("p", { class: "note" }, `As Python: ${details.unspelled}.`),
    el("details", { class: "verdict" }, el("summary", null, "Case line"), el("div", { class: "command" }, el("code", { id: "panel-line" }, text("line", row)))),
    details.ttnn && el("details", { class: "verdict" }, el("summary", null, "ttnn script"), el("pre", { id: "panel-ttnn" }, details.ttnn)),
    details.pytest && el("details", { class: "verdict" }, el("summary", null, "pytest"), el("pre", { id: "panel-pytest" }, details.pytest)));
}

const block = (title, ...content) => el("section", null, el("h3", null, title), content);
const pairs = (list) =>
  el("dl", { class: "pairs" }, list.filter(([, value]) => value).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

function stepButtons(row) {
  const at = shownRows.indexOf(row);
  const step = (label, name, target) => el("button", {
    type: "button", "aria-label": name, title: name, disabled: at < 0 || target === undefined,
    onclick: () => openCase(target),
  }, label);
  return el("div", { class: "steps" }, step("‹", "Previous case", shownRows[at - 1]), step("›", "Next case", shownRows[at + 1]),
    el("button", { type: "button", "aria-label": "Close", title: "Close", onclick: closeCase }, "✕"));
}

function executedText(row, details) {
  const fields = report.col.fields[row];
  const equal = report.col.fields_equal[row];
  if (!fields) return el("p", { class: "note" }, "Not compared.");
  return [el("p", null, el("strong", null, percent(equal, fields)), ` ${equal} of ${plural(fields, "field")} equal`),
    details.differences && shortList(details.differences.split("; ").map((each) => () => el("code", null, each)))];
}

function judgeFigures(row, details) {
  const col = report.col;
  if (col.pcc[row] === null && col.ulp[row] === null && !details.judged && !details.verdicts) {
    return el("p", { class: "note" }, isJudged() ? "Nothing was judged in this case." : "Nothing was judged: the device has no numerics.");
  }
  return [pairs([
    ["PCC", pccText(col.pcc[row])], ["ULP of 99 %", ulpText(col.ulp[row])], ["NRMSE", figure(col.nrmse[row])],
    ["Largest error, of its bound", shareOfBound(row)], ["Elements judged", grouped(details.judged)],
  ]), verdictTables(details.verdicts)];
}

// The judge's own record, one an output; shown as it is where it is not what we expect.
function verdictTables(json) {
  if (!json) return null;
  let verdicts;
  try {
    verdicts = JSON.parse(json);
  } catch {
    return el("pre", null, json);
  }
  if (!Array.isArray(verdicts)) return el("pre", null, json);
  return verdicts.map((verdict, i) => el("details", { class: "verdict", open: verdicts.length === 1 },
    el("summary", null, `Output ${i}: ${verdict.outcome || "?"}${verdict.judged_by ? ` by ${verdict.judged_by}` : ""}`), fieldsOf(verdict)));
}

// The first of many lines; a button brings the others.
const MOST_ITEMS = 200;
function shortList(items, most = MOST_ITEMS) {
  const list = el("ul", { class: "plain" }, items.slice(0, most).map((item) => el("li", null, item())));
  if (items.length <= most) return list;
  const button = el("button", { type: "button", class: "rest", onclick: () => {
    button.remove();
    dressed(list, null, items.slice(most).map((item) => el("li", null, item())));
  } }, `Show ${grouped(items.length - most)} more`);
  return [list, button];
}

function plainText(value) {
  if (typeof value === "number") return figure(value, 6);
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deeply to be shown)";
  }
}

function fieldsOf(object) {
  const rows = [];
  const walk = (prefix, value, depth = 0) => {
    if (rows.length >= MOST_ITEMS || depth > 20) {
      if (rows.at(-1)?.[0] !== "…") rows.push(["…", "more than this page shows; opwright results --format json has all"]);
      return;
    }
    if (value === null || value === "" || (Array.isArray(value) && !value.length)) return;
    if (value === 0 && prefix.startsWith("nonfinite")) return; // counts of what did not occur
    if (typeof value === "object" && !Array.isArray(value)) {
      Object.entries(value).forEach(([name, each]) => walk(prefix && prefix !== "metrics" ? `${prefix} · ${name}` : name, each, depth + 1));
    } else {
      const shown = typeof value !== "number" ? plainText : prefix.startsWith("pcc") ? pccText : prefix.startsWith("ulp") ? (ulp) => ulpText(ulp, 6) : plainText;
      rows.push([nameOfFigure(prefix.replaceAll("_", " ")), Array.isArray(value) ? value.slice(0, MOST_ITEMS).map(plainText).join(", ") + (value.length > MOST_ITEMS ? ", …" : "") : shown(value)]);
    }
  };
  walk("", object);
  return pairs(rows);
}

function outputsOf(details) {
  if (!details.outputs) return null;
  let outputs;
  try {
    outputs = JSON.parse(details.outputs);
  } catch {
    outputs = null;
  }
  if (!Array.isArray(outputs)) return block("Outputs", el("pre", null, details.outputs));
  return outputs.length > 0 && block("Outputs", shortList(outputs.map((output) => () => el("code", null, outputText(output)))));
}
