// Elements and words. Text enters the page here only, as text: no data is ever read as HTML. What a reader would not see
// (marks of direction, controls) is written out as in the program's own output, and what is endless is cut, with a button
// for the rest: a name of a hundred thousand letters in every row would hold the browser for minutes.

const MOST_NAME = 80; // letters of a name in a table or list; the panel of a case has it all
const MOST_TEXT = 2000; // of any other text; a button shows the rest
const HIDDEN = // as is_hidden of src/base/visible_text.cpp, but for tab and newline
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;
const visible = (text) => text.replace(HIDDEN, (found) =>
  found.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));
const whole = (text, most) => (/[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most); // not half a character
const cut = (text, most) =>
  text.length <= most ? visible(text) : `${visible(text.slice(0, whole(text, most)))}… (${grouped(text.length)} characters)`;

// Elements that no button can lie in.
const PLAIN = new Set(["OPTION", "BUTTON", "SUMMARY", "A", "LABEL", "TITLE", "title", "text"]);
function textFor(node, text) {
  if (text.length <= MOST_TEXT || PLAIN.has(node.tagName)) return [document.createTextNode(cut(text, MOST_TEXT))];
  const head = document.createTextNode(`${visible(text.slice(0, whole(text, MOST_TEXT)))}… `);
  const button = el("button", { type: "button", class: "rest", onclick: (event) => {
    event.stopPropagation();
    button.remove();
    head.data = visible(text);
    node.classList.add("endless");
  } }, `Show all ${grouped(text.length)} characters`);
  return [head, button];
}

// el("td", {class: "number", onclick: f}, "12", otherElement, null)
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  return dressed(node, attributes, children);
}

function svg(tag, attributes, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function dressed(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : name === "href" || name === "value" ? value : cut(String(value), MOST_TEXT));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(...(child instanceof Node ? [child] : textFor(node, String(child))));
  }
  return node;
}

const byId = (id) => document.getElementById(id);

function fill(id, ...children) {
  const node = byId(id);
  node.replaceChildren();
  return dressed(node, null, children);
}

// 12345 -> "12,345"
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const plural = (count, one, many) => `${grouped(count)} ${count === 1 ? one : many || one + "s"}`;

// Four significant digits of a share, never rounded up to 100 % or down to 0 %.
function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  if (share > 99.9 && share < 100) return "> 99.9 %";
  if (share < 0.1 && share > 0) return "< 0.1 %";
  return `${share.toFixed(1).replace(/\.0$/, "")} %`;
}

function seconds(value) {
  if (value === null) return "–";
  if (value === 0) return "0 s";
  if (value < 1e-6) return `${(value * 1e9).toPrecision(3)} ns`;
  if (value < 1e-3) return `${(value * 1e6).toPrecision(3)} µs`;
  if (value < 1) return `${(value * 1e3).toPrecision(3)} ms`;
  if (value < 120) return `${value.toPrecision(3)} s`;
  return value < 7200 ? `${(value / 60).toPrecision(3)} min` : `${(value / 3600).toPrecision(3)} h`;
}

function bytes(value) {
  if (!value) return "–";
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1000;
  let unit = 0;
  while (size >= 1000 && unit + 1 < units.length) {
    size /= 1000;
    unit += 1;
  }
  return `${size.toPrecision(3)} ${units[unit]}`;
}

// A figure of the judge: null was not measured, NaN was and is none.
function figure(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return String(Number(value.toPrecision(digits)));
}

// Enough digits to tell 0.99999 from 1: as many nines as there are, and two digits more.
function pccText(value) {
  if (!Number.isFinite(value) || value === 1) return figure(value);
  const nines = value < 1 ? Math.max(0, Math.floor(-Math.log10(1 - value))) : 0;
  return nines > 9 ? `1 − ${(1 - value).toExponential(0)}` : value.toFixed(Math.max(4, nines + 2));
}

const shownName = (name) => (name === "" ? "unknown" : cut(name, MOST_NAME));

function copyButton(textOf, label = "Copy") {
  const button = el("button", { type: "button", class: "copy", onclick: copy }, label);
  async function copy(event) {
    event.stopPropagation();
    const text = await textOf();
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copied = copyBySelection(text, button);
    }
    button.textContent = copied ? "Copied" : "Select it by hand";
    setTimeout(() => (button.textContent = label), 1500);
  }
  return button;
}

// For browsers that give files no clipboard.
function copyBySelection(text, near) {
  const area = el("textarea", { class: "offscreen", "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  near.after(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  near.focus();
  return copied;
}

// A command with its copy button.
const commandBox = (text) => el("div", { class: "command" }, el("code", null, text), copyButton(() => text));
