// Puts the parts of the page together.

const data = JSON.parse(element("data").textContent);
const {runs, words} = data;
LOOKS = words.looks;
runs.forEach((run, i) => {
  run.number = i + 1;  // as charts name it where space is short
});

const steps = new Map();  // by run, read when they are first looked at

function stepOf(i) {
  if (!steps.has(i)) steps.set(i, new Step(runs[i], words));
  return steps.get(i);
}

let chosen = 0;

const panel = new CursorPanel(element("cursor"));
const memory = new MemoryChart(element("memory-chart"), (time) => panel.at(time));
const table = new StrategyTable(element("strategy-table"), runs, choose, (shown) => overlay.show(shown));
const bars = new TimeBars(element("time-bars"), element("time-legend"), runs, words);
const tradeoff = new Tradeoff(element("tradeoff"), runs, (i) => table.choose(i));
const icicle = new Icicle(element("icicle"), element("icicle-title"), element("icicle-told"));
const lifetimes = new Lifetimes(element("lifetimes-chart"), element("lifetimes-note"));
const layerMap = new LayerMap(element("layer-map"), element("layer-note"), words);
const limits = new Limits(element("limits"), element("effects"), element("effects-note"), words);
const overlay = new Overlay(element("overlay"), element("overlay-legend"), runs);

function choose(i) {
  chosen = i;
  const run = runs[i];
  const step = stepOf(i);
  element("strategy").value = String(i);
  element("bottleneck").textContent = `${capital(run.bottleneck)}.`;
  panel.show(run, step);
  memory.show(run, step);
  drawLegend(step);
  const tiers = words.tiers.map((name, t) => t).filter((t) => run.tiers[t].peak > 0);
  element("where-tier").replaceChildren(
    ...tiers.map((t) => make("option", {value: String(t)}, capital(words.tiers[t]))));
  layerMap.show(run);
  limits.show(run);
  // What stands further down comes once the above has been painted.
  requestAnimationFrame(() => setTimeout(() => {
    if (chosen === i) showWhere();
  }));
}

// What a tier holds, at its peak or at the cursor; and what lives in it when.
function showWhere(atCursor = false) {
  const run = runs[chosen];
  const step = stepOf(chosen);
  const t = Number(element("where-tier").value);
  const tier = step.tiers[t];
  const row = atCursor ? lastNotAbove(tier.time, memory.cursor) : step.peakRow(t);
  if (row < 0) return;
  const when = atCursor ? `at ${timeText(memory.cursor)}` : `at its peak, ${run.tiers[t].peak_at}`;
  icicle.show(step, t, tier.event[row], `${bytesText(tier.total[row])} in ${words.tiers[t]} ${when}`);
  if (!atCursor) lifetimes.show(run, step, t);
}

function drawLegend(step) {
  const used = STACK_ORDER.filter((c) => step.tiers.some((tier) => tier.levels[c] !== null));
  const causes = [...new Set(step.stallCause)].sort((a, b) => a - b);
  element("memory-legend").replaceChildren(
    ...used.map((c) => make("li", {}, swatch(LOOKS.categories[c]), words.categories[c])),
    ...step.reserved.some((tier) => tier !== null)
      ? [make("li", {}, lineSwatch({color: pageColors().text, dash: "solid"}), "reserved by the allocator")] : []);
  element("lane-legend").replaceChildren(
    ...[...new Set(step.phase)].sort((a, b) => a - b).map((p) =>
      make("li", {}, swatch(PHASE_LOOKS[p]), words.phases[p].replaceAll("_", " "))),
    ...causes.map((c) => make("li", {}, swatch(LOOKS.causes[c]), `waits for ${words.causes[c]}`)));
}

function drawAll() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  table.draw();
  bars.draw();
  tradeoff.draw();
  overlay.show(table.shown);
  memory.draw();
  icicle.draw();
  lifetimes.draw();
  layerMap.draw();
}

function start() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  element("subtitle").textContent = `${runs.length} ${runs.length === 1 ? "run" : "runs"} · ` +
    `${[...new Set(runs.map((run) => run.machine))].join(", ")}`;
  element("strategy").replaceChildren(...runs.map((run, i) => make("option", {value: String(i)}, `${run.number}  ${run.label}`)));
  element("strategy").addEventListener("change", (event) => table.choose(Number(event.target.value)));
  for (const [id, act] of Object.entries({
    "zoom-in": () => memory.zoomBy(0.5),
    "zoom-out": () => memory.zoomBy(2),
    "zoom-all": () => memory.zoomTo(0, memory.step.end),
    "to-peak": () => memory.goTo(runs[chosen].tiers[0].peak_time),
  })) element(id).addEventListener("click", act);
  element("magnify").addEventListener("change", (event) => {
    memory.magnified = event.target.checked;
    memory.draw();
  });
  element("with-floor").addEventListener("change", (event) => lifetimes.setFloor(event.target.checked));
  const tiers = element("overlay-tier");
  tiers.replaceChildren(...words.tiers.map((name, t) => make("option", {value: String(t)}, capital(name)))
    .filter((option, t) => runs.some((run) => run.tiers[t].peak > 0)));
  tiers.addEventListener("change", () => {
    overlay.tier = Number(tiers.value);
    overlay.draw();
  });
  element("overlay-magnify").addEventListener("change", (event) => {
    overlay.magnified = event.target.checked;
    overlay.draw();
  });
  element("overlay-stacked").addEventListener("change", (event) => {
    overlay.stacked = event.target.checked;
    overlay.draw();
  });
  element("where-tier").addEventListener("change", () => showWhere());
  element("icicle-peak").addEventListener("click", () => showWhere());
  element("icicle-cursor").addEventListener("click", () => showWhere(true));
  const share = element("as-share");
  share.addEventListener("change", () => setShare(share.checked));
  const times = runs.map((run) => run.step);
  setShare(share.checked = Math.max(...times) > 8 * Math.min(...times));
  if (runs.length === 1) document.body.classList.add("single");
  listenToTheme();
  listenToSize();
  drawAll();
  choose(0);
}

// Steps of very unlike lengths are compared as shares of each.
function setShare(share) {
  bars.share = overlay.share = share;
  bars.draw();
  overlay.show(table.shown);
}

function listenToTheme() {
  const button = element("theme");
  const order = ["auto", "light", "dark"];
  button.addEventListener("click", () => {
    chosenTheme = order[(order.indexOf(chosenTheme) + 1) % order.length];
    button.textContent = `Theme: ${chosenTheme}`;
    drawAll();
  });
  themeQuery.addEventListener("change", drawAll);
  // On paper all is light.
  let before = chosenTheme;
  window.addEventListener("beforeprint", () => {
    before = chosenTheme;
    chosenTheme = "light";
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    chosenTheme = before;
    drawAll();
  });
}

function listenToSize() {
  let width = document.documentElement.clientWidth;
  let timer = 0;
  new ResizeObserver(() => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(drawAll, 100);
  }).observe(document.documentElement);
}

start();
