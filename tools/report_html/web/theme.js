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

// By category, in the order of graph/category.hpp.
const CATEGORY_LOOKS = [
  look(OKABE_ITO.blue, "none"),           // parameters
  look(OKABE_ITO.vermillion, "up"),       // gradients
  look(OKABE_ITO.sky, "down"),            // master weights
  look(OKABE_ITO.orange, "dots"),         // optimizer state
  look(OKABE_ITO.green, "none"),          // activations
  look("#7FCEB9", "cross"),               // recomputed
  look(OKABE_ITO.yellow, "across"),       // temporaries
  look(OKABE_ITO.purple, "upright"),      // logits and loss
  look("#B0B7BF", "up"),                  // inputs
  look("#B0B7BF", "down"),                // constants
  look("#B0B7BF", "across"),              // workspace
  look("#8C7BB8", "cross"),               // communication
  look("#C9A26B", "upright"),             // staging
  look(OKABE_ITO.grey, "none"),           // runtime
  look("#B0B7BF", "dots"),                // rounding
];

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

// By cause, in the order of sim/result.hpp.
const CAUSE_LOOKS = [
  look(OKABE_ITO.sky, "up"),              // copies to the GPU
  look(OKABE_ITO.sky, "down"),            // copies to the host
  look(OKABE_ITO.orange, "up"),           // reads from the SSD
  look(OKABE_ITO.orange, "down"),         // writes to the SSD
  look(OKABE_ITO.yellow, "dots"),         // optimizer on the CPU
  look(OKABE_ITO.purple, "across"),       // memory to come free
  look("#B0B7BF", "across"),              // allocator's calls
  look("#8C7BB8", "cross"),               // other GPUs
  look("#8C7BB8", "up"),                  // pipeline
  look("#B0B7BF", "dots"),                // launches
];

const BUSY_LOOK = look(OKABE_ITO.blue, "none");
const RECOMPUTE_LOOK = look(OKABE_ITO.vermillion, "cross");

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
