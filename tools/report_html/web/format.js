// Numbers and elements of the page.

const element = (id) => document.getElementById(id);

// make("td", {class: "number"}, "12") with text, elements or lists of them inside.
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat());
  return made;
}

// Three significant digits or more, never an exponent.
function digits(value, least = 3) {
  const magnitude = Math.abs(value);
  if (magnitude >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(magnitude >= 10 ? least - 2 : least - 1);
}

const BYTE_UNITS = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const TIME_UNITS = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]];

function withUnit(value, units) {
  const magnitude = Math.abs(value);
  const [size, unit] = units.find(([least]) => magnitude >= least) ?? units.at(-1);
  return `${size === 1 ? value : digits(value / size)} ${unit}`;
}

const bytesText = (bytes) => bytes === 0 ? "0" : withUnit(bytes, BYTE_UNITS);
const timeText = (picoseconds) => picoseconds === 0 ? "0" : withUnit(picoseconds, TIME_UNITS);

// All with the unit of the largest: for axes and columns.
function unitFor(most, units) {
  return units.find(([least]) => most >= least) ?? units.at(-1);
}

const percentText = (share) => share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// For the tooltips of the library, which are HTML.
function escapeText(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
