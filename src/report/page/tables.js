// Tables whose headers sort, tabs, and the table by property.

// columns: {name, label, number, value(item) to sort by, cell(item) to show, wide}. `order` is a name, "-" before it for
// falling. Items without a value come last in both directions.
function sorted(items, columns, order) {
  const falling = order.startsWith("-");
  const column = columns.find((each) => each.name === order.replace(/^-/, "")) || columns[0];
  const missing = (value) => value === null || value === undefined || Number.isNaN(value);
  const keyed = items.map((item, at) => ({ item, at, value: column.value(item) }));
  keyed.sort((a, b) => {
    if (missing(a.value) || missing(b.value)) return missing(a.value) - missing(b.value) || a.at - b.at;
    const way = typeof a.value === "string" ? a.value.localeCompare(b.value) : a.value - b.value;
    return (falling ? -way : way) || a.at - b.at;
  });
  return keyed.map((each) => each.item);
}

function headRow(columns, order, onorder) {
  const active = order.replace(/^-/, "");
  return el("thead", null, el("tr", null, columns.map((column) => {
    const isActive = column.name === active;
    const falling = isActive && order.startsWith("-");
    // The first click on a number shows the largest, on a name the first of the alphabet.
    const next = isActive ? (falling ? active : `-${active}`) : column.falls ? `-${column.name}` : column.name;
    return el("th", {
      scope: "col", class: classOf(column), "aria-sort": isActive ? (falling ? "descending" : "ascending") : null,
    }, !onorder ? column.label : el("button", { type: "button", class: "sort", "data-sort": column.name, onclick: () => onorder(next) },
      column.label, isActive && el("span", { class: "arrow", "aria-hidden": "true" }, falling ? "▾" : "▴")));
  })));
}

const classOf = (column) => [column.number && "number", column.wide && "wide-only", column.roomy && "roomy-only", column.word && "word", column.narrow && "narrow", column.grow && "grow"].filter(Boolean).join(" ");
const cellsOf = (columns, item) =>
  columns.map((column, i) => el(i === 0 && column.heads ? "th" : "td",
    { class: classOf(column), scope: i === 0 && column.heads ? "row" : null }, column.cell(item)));

// Tabs as the ARIA pattern wants them: one stop for Tab, arrows between them.
function renderTabs(id, panel, tabs, chosen, choose) {
  fill(id, tabs.map(([name, label], at) => el("button", {
    type: "button", role: "tab", id: `${id}-${name}`, "aria-controls": panel, "aria-selected": String(name === chosen),
    tabindex: name === chosen ? "0" : "-1", onclick: () => choose(name),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(at + step + tabs.length) % tabs.length][0];
      choose(next);
      byId(`${id}-${next}`).focus();
    },
  }, label)));
  byId(panel).setAttribute("aria-labelledby", `${id}-${chosen}`);
}

// -------------------------------------------------------------------------------------------------------- by property

const GROUPS = [["op", "Operation"], ["dtype", "Dtype"], ["layout", "Layout"], ["memory", "Memory"], ["model", "Model"], ["suite", "Suite"]];

function groupColumns(property, label) {
  const good = goodName() === "passed" ? "Passed" : "Accepted";
  return [
    { name: "name", label, heads: true, grow: true, value: (g) => g.name,
      cell: (g) => el("button", { type: "button", class: "link", "aria-pressed": String(filters[property] === g.name),
        onclick: () => toggleFilters({ [property]: g.name }) }, shownName(g.name)) },
    { name: "total", label: "Cases", number: true, falls: true, value: (g) => g.sum.total, cell: (g) => grouped(g.sum.total) },
    { name: "good", label: good, number: true, falls: true, value: (g) => g.sum.good, cell: (g) => grouped(g.sum.good) },
    { name: "share", label: `${good} %`, number: true, value: (g) => g.sum.good / g.sum.total, cell: (g) => percent(g.sum.good, g.sum.total) },
    { name: "bar", label: "Outcomes", wide: true, value: (g) => g.sum.good / g.sum.total, cell: (g) => outcomeBar(g.sum.counts, g.sum.total, "bar small") },
    { name: "failures", label: "Failed", number: true, falls: true, value: (g) => g.sum.failures, cell: (g) => grouped(g.sum.failures) },
    { name: "calls", label: "Calls %", number: true, wide: true, value: (g) => (g.sum.calls ? g.sum.goodCalls / g.sum.calls : null),
      cell: (g) => percent(g.sum.goodCalls, g.sum.calls) },
    { name: "pcc", label: "Lowest PCC", number: true, value: (g) => g.sum.pccMin, cell: (g) => pccText(g.sum.pccMin) },
    { name: "average", label: "Average PCC", number: true, roomy: true, value: (g) => g.sum.pccAvg, cell: (g) => pccText(g.sum.pccAvg) },
    { name: "wall", label: "Time", number: true, wide: true, falls: true, value: (g) => g.sum.wall, cell: (g) => seconds(g.sum.wall) },
  ];
}

function renderGroups() {
  const [property, label] = GROUPS.find(([name]) => name === view.by) || GROUPS[0];
  renderTabs("group-tabs", "groups", GROUPS, property, (name) => setView({ by: name }));
  const groups = [...groupRows(selectRows([property]), property)].map(([name, rows]) => ({ name, sum: figuresOf(rows) }));
  if (!groups.length) {
    fill("groups", el("p", { class: "empty" }, "Nothing to show."));
    return;
  }
  const columns = groupColumns(property, label);
  fill("groups", el("table", null, headRow(columns, view.order, (order) => setView({ order })),
    el("tbody", null, sorted(groups, columns, view.order).map((group) =>
      el("tr", { class: filters[property] === group.name ? "chosen" : "" }, cellsOf(columns, group))))));
}
