// Every result, a page at a time.

const PAGE = 50;
const MOST_LINE = 1000; // letters of a case in the table, where one line of them is seen

const RESULT_COLUMNS = [
  { name: "index", label: "#", number: true, value: (row) => report.col.index[row], cell: (row) => caseLink(row, report.col.index[row]) },
  { name: "outcome", label: "Outcome", narrow: true, value: (row) => outcomeOrder().indexOf(report.col.outcome[row]), cell: (row) => badge(outcomeOf(row).name) },
  { name: "op", label: "Case", grow: true, value: (row) => text("op", row), cell: caseCell },
  { name: "dtype", label: "Dtype", wide: true, word: true, value: (row) => text("dtype", row), cell: (row) => cut(text("dtype", row), MOST_NAME) },
  { name: "memory", label: "Memory", wide: true, word: true, value: (row) => text("memory", row), cell: (row) => cut(text("memory", row), MOST_NAME) },
  { name: "pcc", label: "PCC", number: true, value: (row) => report.col.pcc[row], cell: (row) => pccText(report.col.pcc[row]) },
  { name: "ulp", label: "ULP", number: true, wide: true, falls: true, value: (row) => report.col.ulp[row], cell: (row) => ulpText(report.col.ulp[row], 3) },
  { name: "bound", label: "Of bound", number: true, wide: true, falls: true, value: (row) => report.col.bound[row], cell: (row) => shareOfBound(row) },
  { name: "wall", label: "Time", number: true, wide: true, falls: true, value: (row) => report.col.wall[row], cell: (row) => seconds(report.col.wall[row]) },
  { name: "calls", label: "Calls", number: true, wide: true, falls: true, value: (row) => report.col.calls[row], cell: (row) => grouped(report.col.calls[row]) },
];

function shareOfBound(row) {
  const share = report.col.bound[row];
  if (share === null || !Number.isFinite(share)) return figure(share);
  if (share > 1e6) return "> 10⁶ ×"; // digits of it say nothing more
  return share >= 10 ? `${grouped(Math.round(share))} ×` : `${figure(100 * share, 3)} %`;
}

// A real link: it opens in another tab, and the address names the case.
function caseLink(row, label) {
  const parameters = new URLSearchParams(hashText().slice(1));
  parameters.set("case", report.col.index[row]);
  return el("a", {
    href: `#${parameters}`, "aria-label": `Case ${report.col.index[row]}`,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      openCase(row);
    },
  }, label);
}

function caseCell(row) {
  const op = text("op", row);
  const line = text("line", row);
  const reason = text("reason", row);
  return el("div", { class: "case" }, el("span", { class: "op" }, shownName(op)),
    el("span", { class: "line", title: line }, cut(line.startsWith(op) ? line.slice(op.length) : line, MOST_LINE)),
    reason && el("span", { class: "why", title: reason }, cut(reason, MOST_LINE)));
}

const resultRow = (row) =>
  el("tr", { class: "opens", "data-case": report.col.index[row], onclick: () => openCase(row) }, cellsOf(RESULT_COLUMNS, row));

// The order of the results table, which the panel's Previous and Next follow too.
let shownRows = [];

function renderResults(rows) {
  shownRows = sorted(rows, RESULT_COLUMNS, view.sort);
  const pages = Math.max(1, Math.ceil(shownRows.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number.parseInt(view.page, 10) || 1));
  const start = (page - 1) * PAGE;
  if (!shownRows.length) {
    fill("results", el("p", { class: "empty" }, report.rows ? "No result matches these filters." : "This run has no results."));
  } else {
    fill("results", el("table", { "aria-rowcount": shownRows.length + 1 },
      headRow(RESULT_COLUMNS, view.sort, (sort) => setView({ sort, page: VIEW.page })),
      el("tbody", null, shownRows.slice(start, start + PAGE).map(resultRow))));
  }
  renderPager(page, pages, start);
}

function renderPager(page, pages, start) {
  const go = (label, target, name) => el("button", {
    type: "button", "aria-label": name, disabled: target < 1 || target > pages || target === page,
    onclick: () => {
      setView({ page: String(target) });
      byId("h-results").scrollIntoView({ block: "start" });
    },
  }, label);
  if (pages === 1) {
    fill("pager");
    return;
  }
  fill("pager", go("«", 1, "First page"), go("‹ Previous", page - 1, "Previous page"),
    el("span", { class: "note" }, `${grouped(start + 1)}–${grouped(Math.min(start + PAGE, shownRows.length))} of ${grouped(shownRows.length)}`),
    go("Next ›", page + 1, "Next page"), go("»", pages, "Last page"));
}
