// Colours that people with any colour vision tell apart (Okabe and Ito, "Color Universal Design"),
// and a hatch with each, so that nothing is told by colour alone.

const OKABE_ITO = {
  orange: "#E69F00",
  sky: "#56B4E9",
  green: "#009E73",
  yellow: "#F0E442",
  blue: "#0072B2",
  vermillion: "#D55E00",
  purple: "#CC79A7",
  grey: "#999999",
};

const look = (color, hatch) => ({color, hatch});

// Of what stands in the data, as the figures of `tidemark plot` have them (tools/plot/style.cpp):
// {categories, causes} by number, busy, recompute.
let LOOKS = null;

// By phase, in the order of graph/category.hpp.
const PHASE_LOOKS = [
  look(OKABE_ITO.blue, "none"),           // forward
  look(OKABE_ITO.purple, "cross"),        // recompute
  look(OKABE_ITO.vermillion, "none"),     // backward
  look(OKABE_ITO.green, "none"),          // optimizer
  look(OKABE_ITO.sky, "none"),            // transfer
  look("#8C7BB8", "cross"),               // communication
  look(OKABE_ITO.grey, "none"),           // zero gradients
];

// By run: colour, dash and symbol together.
const RUN_COLORS = [OKABE_ITO.blue, OKABE_ITO.vermillion, OKABE_ITO.green, OKABE_ITO.purple,
  OKABE_ITO.orange, OKABE_ITO.sky, OKABE_ITO.grey, "#8C7BB8"];
const RUN_DASHES = ["solid", [8, 4], [2, 3], [8, 3, 2, 3]];
// Each with its middle where the run is.
const CROSS = "path://M-3,-10H3V-3H10V3H3V10H-3V3H-10V-3H-3Z";
const HOURGLASS = "path://M-10,-10H10L-10,10H10Z";
const RUN_SYMBOLS = ["circle", "rect", "triangle", "diamond", CROSS, HOURGLASS, "roundRect"];

function runLook(index) {
  return {
    color: isDark() && index % RUN_COLORS.length === 0 ? "#4AA3DF" : RUN_COLORS[index % RUN_COLORS.length],
    dash: RUN_DASHES[Math.floor(index / 2) % RUN_DASHES.length],
    symbol: RUN_SYMBOLS[index % RUN_SYMBOLS.length],
  };
}

const themeQuery = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = "auto";

function isDark() {
  return chosenTheme === "dark" || (chosenTheme === "auto" && themeQuery.matches);
}

// The colours of the page, for charts.
function pageColors() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: color("text"),
    faint: color("faint"),
    line: color("line"),
    panel: color("panel"),
    accent: color("accent"),
    alarm: color("alarm"),
  };
}
