// The results as the program packed them (src/report/page_data.cpp): columns, and strings named by their place.

const report = { run: null, outcomes: [], strings: [], col: {}, rows: 0, models: new Map(), places: new Map(), abbreviated: new Map() };

// base64 of zlib, in an element of its own.
async function unpack(id) {
  const binary = atob(byId(id).textContent);
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function load() {
  report.run = JSON.parse(byId("run").textContent);
  report.outcomes = report.run.outcomes;
  const { strings, columns } = await unpack("columns");
  report.strings = strings;
  report.col = columns;
  report.rows = columns.index.length;
  for (const name of ["pcc", "ulp", "nrmse", "bound"]) {
    columns[name] = columns[name].map((value) => (value === "nan" ? NaN : value));
  }
  strings.forEach((text, place) => report.places.set(text, place));
  for (const place of new Set(columns.models)) {
    report.models.set(place, strings[place].split(",").map((name) => name.trim()));
  }
  for (const name of [...strings, ...[...report.models.values()].flat()]) {
    if (name.length > LONGEST_IN_ADDRESS) report.abbreviated.set(addressed(name), name);
  }
}

// A name in the address of the page: a long one by its beginning and a number made of all of it.
const LONGEST_IN_ADDRESS = 300;
function addressed(name) {
  if (name.length <= LONGEST_IN_ADDRESS) return name;
  let hash = 0;
  for (let i = 0; i < name.length; i += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return `${name.slice(0, 40)}…${name.length}.${(hash >>> 0).toString(16)}`;
}
const named = (address) => report.abbreviated.get(address) ?? address;

const text = (column, row) => report.strings[report.col[column][row]];
// What model/outcome.h (Standing) says of an outcome: passed, undecided (nothing wrong, nothing proven), failed, no verdict.
const isFailure = (outcome) => outcome.standing === "failed";
const outcomeOf = (row) => report.outcomes[report.col.outcome[row]];

// The names of one property that a row has: several models, one of everything else.
function namesOf(property, row) {
  if (property === "model") return report.models.get(report.col.models[row]);
  if (property === "outcome") return [outcomeOf(row).name];
  return [text(property, row)];
}

// The command that runs the case alone; \x01 in the stored one stands for the case line, quoted for a shell.
function repeatOf(row) {
  return text("repeat", row).replace("\x01", () => text("line", row).replaceAll("'", "'\\''"));
}

// What only the panel shows, unpacked a block at a time.
const blocks = new Map();
async function detailsOf(row) {
  const block = Math.floor(row / report.run.block);
  if (!blocks.has(block)) blocks.set(block, unpack(`details-${block}`));
  return (await blocks.get(block))[row % report.run.block];
}
