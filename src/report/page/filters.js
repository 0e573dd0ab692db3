// What the reader looks at: filters, order, page, the open case. All of it stands in the URL's hash, so that a link keeps
// it:  #op=ttnn.add&outcome=failure&sort=-wall&page=2&case=17

// `failure` is no outcome's name: it stands for all that somebody should look at.
const ANY_FAILURE = "failure";

// Properties with a list to choose from. `always`: shown even when all results have the same.
const CHOICES = [
  { name: "op", label: "Operation", always: true },
  { name: "dtype", label: "Dtype", always: true },
  { name: "outcome", label: "Outcome", always: true },
  { name: "model", label: "Model", always: true },
  { name: "memory", label: "Memory", always: true },
  { name: "layout", label: "Layout" },
  { name: "suite", label: "Suite" },
  { name: "blame", label: "Blame" },
  { name: "agreement", label: "Devices" },
];
// Filters that are set by clicking, not from a list.
const RANGES = { pcc: "PCC", wall: "Case time", device: "Device time", kernel: "Kernel time", reference: "Reference time" };
const FILTERS = ["text", ...CHOICES.map((choice) => choice.name), "cluster", ...Object.keys(RANGES)];
const VIEW = { sort: "index", page: "1", case: "", by: "op", order: "-failures", worst: "pcc", time: "wall", causes: "failed", x: "elements", y: "bound" };

const filters = {};
const view = { ...VIEW };

function readHash() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) {
    delete filters[name];
    if (parameters.has(name)) filters[name] = named(parameters.get(name));
  }
  if (filters.text === "") delete filters.text;
  for (const name of Object.keys(VIEW)) view[name] = parameters.get(name) ?? VIEW[name];
}

function hashText() {
  const parameters = new URLSearchParams();
  for (const name of FILTERS) if (name in filters) parameters.set(name, addressed(filters[name]));
  for (const name of Object.keys(VIEW)) if (view[name] !== VIEW[name]) parameters.set(name, view[name]);
  return `#${parameters}`;
}

// Writes the state into the address; `quietly`: without a step of its own for the Back button.
function writeHash(quietly) {
  if (hashText() === (location.hash || "#")) return;
  history[quietly ? "replaceState" : "pushState"](null, "", hashText());
}

// setFilters({op: "ttnn.add", dtype: null}): null takes a filter away. The first page follows.
function setFilters(changes, quietly) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || (name === "text" && value === "")) delete filters[name];
    else filters[name] = value;
  }
  view.page = VIEW.page;
  writeHash(quietly);
  render();
}

// Clicking what is chosen already takes it away again.
function toggleFilters(wanted) {
  const chosen = Object.entries(wanted).every(([name, value]) => filters[name] === value);
  setFilters(chosen ? Object.fromEntries(Object.keys(wanted).map((name) => [name, null])) : wanted);
}

function setView(changes) {
  Object.assign(view, changes);
  writeHash();
  render();
}

// ---------------------------------------------------------------------------------------------------------- selecting

const rangeText = (low, high) => `${low}..${high}`;
function inRange(value, range) {
  const [low, high] = range.split("..").map(Number);
  return value !== null && value >= low && value < high;
}

// A function row -> bool for one filter.
function predicateOf(name, value) {
  const col = report.col;
  if (name === "text") return textPredicate(value);
  if (name === "outcome") {
    const wanted = report.outcomes.map((outcome) => outcome.name === value || (value === ANY_FAILURE && isFailure(outcome)));
    return (row) => wanted[col.outcome[row]];
  }
  if (name === "model") {
    const places = new Set([...report.models].filter(([, names]) => names.includes(value)).map(([place]) => place));
    return (row) => places.has(col.models[row]);
  }
  if (name in RANGES) return (row) => inRange(col[name][row], value);
  const place = report.places.get(value);
  return (row) => col[name][row] === place;
}

// Every word must stand somewhere in the case, its reason, its models or its outcome; each string is looked at once.
function textPredicate(value) {
  const fields = ["op", "line", "reason", "models", "dtype", "memory", "layout", "suite"];
  const words = value.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = (report.lower ??= report.strings.map((string) => string.toLowerCase()));
  const tests = words.map((word) => {
    const found = lower.map((string) => string.includes(word));
    const outcomes = report.outcomes.map((outcome) => outcome.name.includes(word));
    return (row) => outcomes[report.col.outcome[row]] || fields.some((field) => found[report.col[field][row]]);
  });
  return (row) => tests.every((test) => test(row));
}

// The rows that all filters let through, except those of `ignoring`: a table by operator still shows the others.
let selections = new Map(); // of one drawing: most parts of the page ask for the same rows
const forgetSelections = () => (selections = new Map());
function selectRows(ignoring = []) {
  const active = FILTERS.filter((name) => name in filters && !ignoring.includes(name));
  const key = active.join();
  if (!selections.has(key)) selections.set(key, rowsThatPass(active));
  return selections.get(key);
}

function rowsThatPass(active) {
  const tests = active.map((name) => predicateOf(name, filters[name]));
  const rows = [];
  for (let row = 0; row < report.rows; row += 1) if (tests.every((test) => test(row))) rows.push(row);
  return rows;
}

// ------------------------------------------------------------------------------------------------------- the filter bar

function countNames(property) {
  const counts = new Map();
  for (let row = 0; row < report.rows; row += 1) {
    for (const name of namesOf(property, row)) counts.set(name, (counts.get(name) || 0) + 1);
  }
  return counts;
}

// Once: the lists hold what the run has, whatever is chosen.
function makeFilterBar() {
  for (const { name, label, always } of CHOICES) {
    const counts = countNames(name);
    if (!always && counts.size < 2) continue;
    const failures = name === "outcome" && report.outcomes.some((outcome) => isFailure(outcome) && counts.has(outcome.name));
    const names = [...counts.keys()].sort((a, b) => a.localeCompare(b));
    const select = el(
      "select",
      { id: `filter-${name}`, onchange: (event) => setFilters({ [name]: chosenName(event.target) }) },
      el("option", { value: "" }, "all"),
      failures && el("option", { value: `=${ANY_FAILURE}` }, "any failure"),
      names.map((each) => el("option", { value: `=${addressed(each)}` }, `${shownName(each)} (${grouped(counts.get(each))})`)),
    );
    byId("selects").append(el("label", null, el("span", null, label), select));
  }
  const input = byId("filter-text");
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => setFilters({ text: input.value }, true), 150);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

const chosenName = (select) => (select.value === "" ? null : named(select.value.slice(1)));

function chipText(name) {
  const choice = CHOICES.find((each) => each.name === name);
  if (name === "text") return `“${cut(filters.text, MOST_NAME)}”`;
  if (name === "cluster") return "one cause";
  if (choice) return `${choice.label}: ${filters[name] === ANY_FAILURE ? "any failure" : shownName(filters[name])}`;
  const [low, high] = filters[name].split("..").map(Number);
  const shown = name === "pcc" ? pccText : seconds;
  return `${RANGES[name]} ${Number.isFinite(low) ? shown(low) : ""}…${Number.isFinite(high) ? shown(high) : ""}`;
}

function renderFilterBar(rows) {
  const active = FILTERS.filter((name) => name in filters);
  fill("shown", active.length ? [el("strong", null, grouped(rows.length)), ` of ${plural(report.rows, "result")}`]
    : el("strong", null, plural(report.rows, "result")));
  for (const { name } of CHOICES) {
    const select = byId(`filter-${name}`);
    if (!select) continue;
    select.value = name in filters ? `=${addressed(filters[name])}` : "";
    select.classList.toggle("active", name in filters);
  }
  const input = byId("filter-text");
  if (document.activeElement !== input) input.value = filters.text || "";
  fill("chips",
    active.map((name) => el("button", {
      type: "button", class: "chip", "aria-label": `Remove filter ${chipText(name)}`, onclick: () => setFilters({ [name]: null }),
    }, el("span", null, chipText(name)), el("span", { "aria-hidden": "true" }, "×"))),
    active.length > 1 && el("button", {
      type: "button", class: "chip clear", onclick: () => setFilters(Object.fromEntries(active.map((name) => [name, null]))),
    }, "Clear all"));
}
