// Runs side by side: a table to sort, where the time of a step goes, peak against time.

const peakOf = (run) => Math.max(run.tiers[0].peak, run.tiers[0].reserved);
const STALLS = (run) => run.stalls.reduce((sum, stall) => sum + stall, 0);

const COLUMNS = [
  {key: "number", name: "#", of: (run) => run.number, text: (run) => String(run.number)},
  {key: "label", name: "Strategy", of: (run) => run.label, text: (run) => run.label},
  {key: "fits", name: "Fits", of: (run) => run.fits ? 1 : 0, text: (run) => run.fits ? "✓ yes" : "✗ no"},
  ...[0, 1, 2].map((t) => ({key: `tier${t}`, name: ["HBM peak", "Host peak", "SSD"][t],
    of: (run) => Math.max(run.tiers[t].peak, run.tiers[t].reserved),
    text: (run) => bytesText(Math.max(run.tiers[t].peak, run.tiers[t].reserved))})),
  {key: "step", name: "Step", of: (run) => run.step, text: (run) => timeText(run.step)},
  {key: "recompute", name: "Recompute", of: (run) => run.recompute, text: (run) => timeText(run.recompute)},
  {key: "stalls", name: "Stalls", of: STALLS, text: (run) => timeText(STALLS(run))},
  {key: "tokens", name: "Tokens/s", of: (run) => run.tokens_per_s, text: (run) => digits(run.tokens_per_s)},
  {key: "mfu", name: "MFU", of: (run) => run.mfu, text: (run) => `${(100 * run.mfu).toFixed(1)} %`},
];

// Runs that fit and that no other run that fits beats in memory or time without losing in the other.
// A plan that misses its budget is none of them. As tools/front.cpp. Points of a sweep that train something else, or on
// another machine, do not compete: a front for each.
function paretoFronts(runs) {
  return [...new Set(runs.map((run) => run.work))].map((work) => paretoFront(runs.filter((run) => run.work === work)));
}

function paretoFront(runs) {
  const better = (a, b) => peakOf(a) <= peakOf(b) && a.step <= b.step && (peakOf(a) < peakOf(b) || a.step < b.step);
  const met = runs.filter((run) => !run.missed);
  const candidates = met.some((run) => run.fits) ? met.filter((run) => run.fits) : met;
  return candidates.filter((run) => !candidates.some((other) => better(other, run)))
    .sort((a, b) => peakOf(a) - peakOf(b) || a.step - b.step);
}

class StrategyTable {
  constructor(table, runs, onChoose, onShown) {
    this.table = table;
    this.runs = runs;
    this.onChoose = onChoose;
    this.onShown = onShown;
    this.order = runs.map((run, i) => i);
    this.sorted = {key: null, ascending: true};
    this.chosen = 0;
    this.shown = new Set(this.order.slice(0, 8));
  }

  draw() {
    const front = new Set(paretoFronts(this.runs).flat());
    const columns = COLUMNS.filter(({key}) => !/^tier[12]$/.test(key) ||
      this.runs.some((run) => run.tiers[Number(key[4])].peak > 0));
    const head = columns.map((column) => {
      const sorted = this.sorted.key === column.key;
      const arrow = sorted ? (this.sorted.ascending ? " ▲" : " ▼") : "";
      return make("th", {scope: "col", "aria-sort": sorted ? (this.sorted.ascending ? "ascending" : "descending") : "none"},
        make("button", {type: "button", "data-sort": column.key, onclick: () => this.sortBy(column)}, column.name + arrow));
    });
    const rows = this.order.map((i) => {
      const run = this.runs[i];
      const cells = columns.map((column) => column.key === "label"
        ? make("th", {scope: "row"}, make("button", {type: "button", "data-run": String(i),
          "aria-pressed": String(i === this.chosen), onclick: () => this.choose(i)}, run.label),
          front.has(run) && this.runs.length > 1
            ? make("span", {class: "badge", title: "no other run that fits needs less memory without taking longer"}, "front")
            : run.missed
              ? make("span", {class: "badge missed", title: `no plan of this policy stays within ${bytesText(run.budget)}: this one needs least`}, "missed budget")
              : "")
        : make("td", {class: {fits: run.fits ? "good" : "bad", number: "number"}[column.key] ?? null}, column.text(run)));
      return make("tr", {class: i === this.chosen ? "chosen" : null},
        make("td", {class: "check"}, make("input", {type: "checkbox", checked: this.shown.has(i),
          "aria-label": `compare ${run.label}`, "data-show": String(i), onchange: () => this.toggle(i)})),
        cells);
    });
    const focus = document.activeElement?.dataset?.sort;
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, make("th", {class: "check", scope: "col"}, make("span", {class: "hidden"}, "compare")), head)),
      make("tbody", {}, rows));
    if (focus) this.table.querySelector(`[data-sort="${focus}"]`)?.focus();
  }

  sortBy(column) {
    const again = this.sorted.key === column.key;
    this.sorted = {key: column.key, ascending: again ? !this.sorted.ascending : true};
    const direction = this.sorted.ascending ? 1 : -1;
    const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en") : a - b;
    this.order.sort((a, b) =>
      direction * compare(column.of(this.runs[a]), column.of(this.runs[b])) || a - b);
    this.draw();
  }

  choose(i) {
    this.chosen = i;
    this.draw();
    this.table.querySelector(`[data-run="${i}"]`)?.focus();
    this.onChoose(i);
  }

  toggle(i) {
    if (this.shown.has(i)) this.shown.delete(i);
    else this.shown.add(i);
    this.onShown(this.shown);
  }
}

// Stacked bars of the step's time: computing, recomputing, and waiting by cause.
class TimeBars {
  constructor(container, legend, runs, words) {
    Object.assign(this, {container, legend, runs, words});
    this.chart = echarts.init(container, null, {renderer: "canvas"});
    this.share = false;
    const used = words.causes.map((name, c) => c).filter((c) => runs.some((run) => run.stalls[c] > 0));
    this.parts = [
      {name: "computes", look: LOOKS.busy, of: (run) => run.busy - run.recompute},
      {name: "recomputes", look: LOOKS.recompute, of: (run) => run.recompute},
      ...used.map((c) => ({name: `waits for ${words.causes[c]}`, look: LOOKS.causes[c], of: (run) => run.stalls[c]})),
    ].filter((part) => runs.some((run) => part.of(run) > 0));
    legend.replaceChildren(...this.parts.map((part) => make("li", {}, swatch(part.look), part.name)));
  }

  draw() {
    const {text, faint, line, panel} = pageColors();
    const [size, unit] = this.share ? [0.01, "% of the step"]
      : unitFor(Math.max(...this.runs.map((run) => run.step)), TIME_UNITS);
    const scaled = (run, time) => this.share ? time / run.step : time;
    const narrow = this.container.clientWidth < 480;
    const height = 60 + 34 * this.runs.length;
    this.container.style.height = `${height}px`;
    fit(this.chart);
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont},
      aria: {enabled: true},
      grid: {left: narrow ? 108 : 240, right: 62, top: 6, bottom: 44},
      tooltip: {trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: ({seriesIndex, dataIndex}) => {
          const part = this.parts[seriesIndex];
          const run = this.runs[dataIndex];
          return `<b>${escapeText(run.label)}</b><br>${escapeText(part.name)}: ${timeText(part.of(run))}, ` +
            percentText(part.of(run) / run.step);
        }},
      xAxis: {type: "value", name: this.share ? unit : `time of a step (${unit})`, nameLocation: "middle", nameGap: 28, nameTextStyle: font,
        max: this.share ? 1 : null, axisLabel: {...font, hideOverlap: true, formatter: (value) => String(Number((value / size).toPrecision(3)))}, splitLine: {lineStyle: {color: line}}},
      yAxis: {type: "category", inverse: true, data: this.runs.map((run) => `${run.number}  ${run.label}`),
        axisLine: {lineStyle: {color: line}}, axisTick: {show: false},
        axisLabel: {...font, color: text, width: narrow ? 98 : 228, overflow: "truncate", interval: 0}},
      series: this.parts.map((part, p) => ({
        type: "bar", stack: "step", name: part.name, barMaxWidth: 22,
        itemStyle: {color: fillOf(part.look)},
        data: this.runs.map((run) => scaled(run, part.of(run))),
        label: {show: p === this.parts.length - 1, position: "right", color: text, fontSize: 12,
          formatter: ({dataIndex}) => timeText(this.runs[dataIndex].step)},
      })),
    }, {notMerge: true});
  }
}

// Peak of HBM against the time of a step, with the Pareto front and the budget.
class Tradeoff {
  constructor(container, runs, onChoose) {
    Object.assign(this, {container, runs});
    this.chart = echarts.init(container, null, {renderer: "canvas"});
    this.chart.on("click", ({data}) => data?.run !== undefined && onChoose(data.run));
  }

  draw() {
    const {text, faint, line, panel, alarm} = pageColors();
    fit(this.chart);
    const most = Math.max(...this.runs.map(peakOf));
    const capacity = this.runs[0].tiers[0].capacity;
    const [size, unit] = unitFor(most, BYTE_UNITS);
    const [timeSize, timeUnit] = unitFor(Math.max(...this.runs.map((run) => run.step)), TIME_UNITS);
    const times = this.runs.map((run) => run.step);
    const wide = Math.min(...times) > 0 && Math.max(...times) / Math.min(...times) > 10;
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    const number = (value, by) => String(Number((value / by).toPrecision(3)));
    const budgets = [...new Set([capacity, ...this.runs.map((run) => run.budget)])]
      .filter((bytes) => bytes > 0);
    // The axes are those of the runs; a budget far beyond them is told in its place.
    const least = Math.min(...this.runs.map(peakOf));
    const span = Math.max(most - least, 0.1 * most);
    const near = budgets.filter((bytes) => bytes > least - span && bytes < most + span);
    const left = Math.max(0, least - 0.25 * span);
    const right = Math.max(most, ...near) + 0.25 * span;
    const fronts = paretoFronts(this.runs);
    const front = new Set(fronts.flat());
    this.named = (run) => this.nameOf(run, front);
    const beyond = budgets.filter((bytes) => !near.includes(bytes));
    const far = beyond.length > 0 ? `; capacity or budget beyond: ${beyond.map(bytesText).join(", ")}` : "";
    this.container.style.height = `${Math.min(600, Math.max(360, 60 + 34 * this.runs.length))}px`;
    fit(this.chart);
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont}, aria: {enabled: true},
      grid: {left: 64, right: 24, top: 34, bottom: 48},
      tooltip: {trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: ({data}) => data?.run === undefined ? "" : this.describe(this.runs[data.run])},
      xAxis: {type: "value", min: left, max: right, name: `HBM peak (${unit})${far}`, nameLocation: "middle", nameGap: 28,
        nameTextStyle: font, axisLabel: {...font, showMinLabel: false, showMaxLabel: false, formatter: (value) => number(value, size)},
        splitLine: {lineStyle: {color: line}}},
      yAxis: {type: wide ? "log" : "value", scale: true, name: `step (${timeUnit}${wide ? ", logarithmic" : ""})`, nameLocation: "end",
        nameTextStyle: {...font, align: "left", padding: [0, 0, 0, -40]}, axisLabel: {...font, formatter: (value) => number(value, timeSize)},
        splitLine: {lineStyle: {color: line}}},
      series: [
        ...fronts.map((each, i) => ({type: "line", data: each.map((run) => [peakOf(run), run.step]), step: "end", symbol: "none",
          silent: true, z: 1, lineStyle: {color: text, width: 1.5, type: [4, 3]},
          markLine: i > 0 ? undefined : {silent: true, symbol: "none", lineStyle: {color: alarm, type: [6, 4], width: 1.5},
            label: {color: alarm, fontSize: 12, position: "end", distance: 4,
              formatter: ({value}) => value === capacity ? `capacity ${bytesText(value)}` : bytesText(value)},
            data: near.map((bytes) => ({xAxis: bytes}))}})),
        {type: "scatter", id: "runs", symbolSize: 13, z: 2,
          data: this.runs.map((run, i) => ({value: [peakOf(run), run.step], run: i, name: run.label, symbol: runLook(i).symbol,
            label: {position: peakOf(run) > 0.5 * (left + right) ? "left" : "right"},
            itemStyle: {color: run.fits ? runLook(i).color : panel, borderColor: runLook(i).color, borderWidth: 2}})),
          labelLayout: (label) => this.placed(label),
          label: {show: true, distance: 7, color: text, fontSize: 12, backgroundColor: panel, padding: [1, 2],
            formatter: ({data}) => this.named(this.runs[data.run])}},
      ],
    }, {notMerge: true});
  }

  // Labels give way to those before them, to the nearest free place between the axes.
  placed({dataIndex, labelRect}) {
    const point = (run) => this.chart.convertToPixel({seriesId: "runs"}, [peakOf(run), run.step]);
    if (dataIndex === 0) {
      this.taken = this.runs.map(point).map(([px, py]) => ({x: px - 7, y: py - 7, width: 14, height: 8}));
    }
    const {x, width, height} = labelRect;
    const meets = (y, other) => x < other.x + other.width && other.x < x + width &&
      y < other.y + other.height + 5 && other.y < y + height + 5;
    const bottom = this.container.clientHeight - 48 - height - 2;
    const free = (y) => y > 24 && y < bottom && !this.taken.some((other) => meets(y, other));
    const ways = [0, ...Array.from({length: 120}, (_, i) => (i % 2 === 0 ? 2 : -2) * (i + 2))];
    const y = labelRect.y + (ways.find((way) => free(labelRect.y + way)) ?? 0);
    this.taken.push({x, y, width, height});
    return {dy: y - labelRect.y};
  }

  // With its number alone where there is no place for more.
  nameOf(run, front) {
    const roomy = this.container.clientWidth > 520 && (this.runs.length <= 12 || front.has(run));
    const most = Math.floor((this.container.clientWidth / 2 - 50) / 7);
    const name = run.label.length > most ? `${run.label.slice(0, most - 1)}…` : run.label;
    return roomy ? `${run.number} ${name}` : String(run.number);
  }

  describe(run) {
    return `<b>${run.number} ${escapeText(run.label)}</b><br>peak ${bytesText(peakOf(run))}, ` +
      `step ${timeText(run.step)}${run.fits ? "" : "<br>does not fit"}` +
      (run.missed ? `<br>misses its budget of ${bytesText(run.budget)}` : "");
  }
}
