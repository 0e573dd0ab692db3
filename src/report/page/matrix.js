// Operator × dtype: how many of the cases are good. A click shows them.

function renderMatrix() {
  const rows = selectRows(["op", "dtype"]);
  const byOp = groupRows(rows, "op");
  const dtypes = [...groupRows(rows, "dtype")].sort((a, b) => b[1].length - a[1].length).map(([name]) => name);
  const good = goodName();
  fill("matrix-hint", `${plural(byOp.size, "operation")}, ${plural(dtypes.length, "dtype")} (of the first tensor). `,
    `A cell says ${good} / cases; click it to see them.`);
  if (!byOp.size) {
    fill("matrix", el("p", { class: "empty" }, "Nothing to show."));
    return;
  }
  const lines = [...byOp].map(([op, opRows]) => ({ op, opRows, sum: figuresOf(opRows), cells: groupRows(opRows, "dtype") }));
  lines.sort((a, b) => b.sum.failures - a.sum.failures || a.op.localeCompare(b.op));
  fill("matrix", el("table", { class: "matrix" },
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "Operation"),
      dtypes.map((dtype) => el("th", { scope: "col" },
        el("button", { type: "button", class: "link", "aria-pressed": String(filters.dtype === dtype), onclick: () => toggleFilters({ dtype }) }, shownName(dtype)))),
      el("th", { scope: "col" }, "All"))),
    el("tbody", null, lines.map((line) => el("tr", { class: filters.op === line.op ? "chosen" : "" },
      el("th", { scope: "row", title: line.op },
        el("button", { type: "button", class: "link", "aria-pressed": String(filters.op === line.op), onclick: () => toggleFilters({ op: line.op }) }, shownName(line.op))),
      dtypes.map((dtype) => {
        const chosen = filters.op === line.op && filters.dtype === dtype;
        return matrixCell(line.cells.get(dtype), `${shownName(line.op)}, ${shownName(dtype)}`, { op: line.op, dtype }, chosen);
      }),
      matrixCell(line.opRows, shownName(line.op), { op: line.op }, false))))));
}

function matrixCell(rows, words, wanted, chosen) {
  if (!rows) return el("td", { class: "hole" }, el("span", { class: "offscreen" }, "no case"));
  const sum = figuresOf(rows);
  const label = `${words}: ${sum.good} of ${sum.total} ${goodName()}${sum.failures ? `, ${sum.failures} failed` : ""}`;
  const button = el("button", {
    type: "button", class: `cell ${shade(sum)}${chosen ? " chosen" : ""}`, title: label, "aria-label": label, 
    "aria-pressed": String(chosen), "data-op": wanted.op, "data-dtype": wanted.dtype, onclick: () => toggleFilters(wanted),
  }, el("b", null, grouped(sum.good)), `/${grouped(sum.total)}`);
  button.style.setProperty("--share", `${(100 * sum.good) / sum.total}%`);
  return el("td", null, button);
}

// Shaded by the share that is good. Red is for failures alone: what nobody could decide or run is yellow. The numbers say
// it too.
const shade = (sum) => (sum.failures > 0 ? "fails" : sum.good === sum.total ? "whole" : "open");
