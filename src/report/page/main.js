// Order of things: load, draw, follow the address.

function render() {
  const focus = rememberFocus();
  forgetSelections();
  const rows = selectRows();
  renderFilterBar(rows);
  renderTotals(rows);
  renderPlots();
  renderMatrix();
  renderGroups();
  renderFailures();
  renderWorst(rows);
  renderResults(rows);
  restoreFocus(focus);
  renderPanel();
}

// Drawing anew replaces the element that was used; the keyboard goes on from the one that takes its place.
const FOCUSABLE = "button, a, select, [tabindex]";
const nameOf = (node) => node.dataset.sort || node.getAttribute("aria-label") || node.textContent;
function rememberFocus() {
  const active = document.activeElement;
  const box = active?.parentElement?.closest("[id]");
  if (!box || byId("panel").contains(active)) return null;
  return { box: box.id, at: [...box.querySelectorAll(FOCUSABLE)].indexOf(active), name: nameOf(active), active };
}
function restoreFocus(focus) {
  if (!focus || focus.active.isConnected) return;
  const nodes = [...(byId(focus.box)?.querySelectorAll(FOCUSABLE) || [])];
  (nodes.find((node) => nameOf(node) === focus.name) || nodes[focus.at] || byId(focus.box))?.focus({ preventScroll: true });
}

function makeThemeButton() {
  const button = byId("theme");
  const root = document.documentElement;
  const name = () => (button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark");
  name();
  button.setAttribute("aria-label", "Switch between light and dark");
  button.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    name();
    try {
      localStorage.setItem("opwright-theme", root.dataset.theme);
    } catch {
      // Not kept: it holds for this visit.
    }
  });
}

function listen() {
  const follow = () => {
    readHash();
    render();
  };
  addEventListener("hashchange", follow);
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(renderPlots, 100);
  });
  const panel = byId("panel");
  panel.addEventListener("close", closeCase);
  panel.addEventListener("click", (event) => event.target === panel && panel.close()); // beside the panel
  panel.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step && shownRows[shownRows.indexOf(openRow) + step];
    if (next !== undefined) openCase(next);
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("results").focus();
  });
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the results; one of 2023 or later can");
  }
  await load();
  makeThemeButton();
  renderHead();
  renderSince();
  makeFilterBar();
  listen();
  readHash();
  byId("loading").remove();
  document.body.classList.add("ready");
  render();
  byId("main").setAttribute("aria-busy", "false");
}

start().catch((error) => {
  byId("main").prepend(el("p", { class: "notice bad", role: "alert" }, `The page could not be drawn: ${error.message}`));
  byId("loading")?.remove();
  console.error(error);
});
