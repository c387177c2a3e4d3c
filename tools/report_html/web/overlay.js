// Runs over one another, or one below the other with the same axes.

class Overlay {
  constructor(container, legend, runs) {
    Object.assign(this, {container, legend, runs});
    this.chart = echarts.init(container, null, {renderer: "canvas"});
    this.points = new Map();
    this.tier = 0;
    this.stacked = false;
    this.magnified = false;  // the axis of memory begins at the lowest level
    this.share = false;  // of each step's time, instead of time
    this.shown = [];
  }

  // [time, bytes] of a tier of a run, with all of its peaks.
  pointsOf(run, t) {
    const key = `${this.runs.indexOf(run)} ${t}`;
    if (!this.points.has(key)) {
      const columns = new PackedColumns(run.tiers[t].overview);
      const times = columns.sums();
      const levels = columns.sums();
      const points = Array.from(times, (time, i) => [time, levels[i]]);
      // What is there before the step comes at time 0, buffer by buffer: only its sum is of interest.
      while (points.length > 1 && points[1][0] === 0 && points[1][1] >= points[0][1]) points.shift();
      if (points.length > 0) points.push([run.step, levels.at(-1)]);
      this.points.set(key, points);
    }
    const points = this.points.get(key);
    return this.share ? points.map(([time, bytes]) => [time / run.step, bytes]) : points;
  }

  show(indices) {
    this.shown = [...indices].sort((a, b) => a - b);
    this.draw();
  }

  draw() {
    const {text, faint, line, panel, alarm} = pageColors();
    const runs = this.shown.map((i) => this.runs[i]);
    this.legend.replaceChildren(...this.shown.map((i) => make("li", {}, lineSwatch(runLook(i)), `${this.runs[i].number}  ${this.runs[i].label}`)));
    if (runs.length === 0) {
      this.chart.clear();
      return;
    }
    const narrow = this.container.clientWidth < 560;
    const rows = this.stacked ? runs.length : 1;
    const height = this.stacked ? 92 : 260;
    const left = narrow ? 56 : 70;
    this.container.style.height = `${24 + rows * (height + 22) + 44}px`;
    fit(this.chart);
    const end = this.share ? 1 : Math.max(...runs.map((run) => run.step));
    const capacity = Math.max(...runs.map((run) => run.tiers[this.tier].capacity));
    const most = Math.max(1, ...runs.map((run) => run.tiers[this.tier].peak));
    const lowest = this.magnified ? Math.min(...runs.flatMap((run) => this.pointsOf(run, this.tier).map((point) => point[1]))) : 0;
    const top = lowest < most && this.magnified ? most + 0.1 * (most - lowest) : 1.1 * Math.max(most, capacity > 0 && capacity < 2.2 * most ? capacity : 0);
    const [size, unit] = unitFor(top, BYTE_UNITS);
    const timeUnit = this.share ? [0.01, "%"] : unitFor(end, TIME_UNITS);
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    const grids = Array.from({length: rows}, (none, i) => i);
    const dataZoom = [
      {type: "inside", xAxisIndex: grids, filterMode: "none", zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false},
      {type: "slider", xAxisIndex: grids, filterMode: "none", bottom: 6, height: 16, left, right: 20, showDetail: false, brushSelect: false,
        borderColor: line, fillerColor: "rgba(86, 180, 233, 0.25)"},
    ];
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont}, aria: {enabled: true}, dataZoom,
      axisPointer: {link: [{xAxisIndex: "all"}], lineStyle: {color: text}, label: {show: false}},
      tooltip: {trigger: "axis", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: (found) => this.describe(found)},
      grid: grids.map((i) => ({left, right: 20, top: 24 + i * (height + 22), height})),
      xAxis: grids.map((i) => ({type: "value", gridIndex: i, min: 0, max: end, axisLine: {lineStyle: {color: line}},
        axisTick: {show: i === rows - 1}, splitLine: {lineStyle: {color: line, opacity: 0.5}},
        axisLabel: {...font, show: i === rows - 1, hideOverlap: true, showMaxLabel: false,
          formatter: (value) => `${Number((value / timeUnit[0]).toPrecision(4))} ${timeUnit[1]}`}})),
      yAxis: grids.map((i) => ({type: "value", gridIndex: i, min: Math.min(lowest, top), max: top, splitNumber: this.stacked ? 2 : 5,
        name: this.stacked ? `${runs[i].number}  ${runs[i].label} (${unit})` : unit, nameTextStyle: {...font, color: text, align: "left", padding: [0, 0, 0, this.stacked ? 4 : -40]},
        nameGap: 6, axisLabel: {...font, showMaxLabel: false, formatter: (value) => String(Number((value / size).toPrecision(this.magnified ? 4 : 3)))},
        splitLine: {lineStyle: {color: line, opacity: 0.5}}})),
      series: runs.map((run, k) => {
        const look = runLook(this.shown[k]);
        return {type: "line", name: run.label, step: "end", symbol: "none", data: this.pointsOf(run, this.tier),
          xAxisIndex: this.stacked ? k : 0, yAxisIndex: this.stacked ? k : 0,
          itemStyle: {color: look.color}, lineStyle: {color: look.color, width: 2, type: look.dash},
          areaStyle: this.stacked ? {color: look.color, opacity: 0.25} : undefined,
          markLine: capacity > 0 && capacity <= top && (this.stacked || k === 0) ? {silent: true, symbol: "none",
            lineStyle: {color: alarm, type: [6, 4]}, label: {show: k === 0, color: alarm, position: "insideEndTop",
              formatter: `capacity ${bytesText(capacity)}`}, data: [{yAxis: capacity}]} : undefined,
          markPoint: {symbol: "circle", symbolSize: 7, itemStyle: {color: panel, borderColor: look.color, borderWidth: 2},
            label: {show: false}, data: [{coord: [run.tiers[this.tier].peak_time / (this.share ? run.step : 1), run.tiers[this.tier].peak]}]}};
      }),
    }, {notMerge: true});
  }

  describe(found) {
    if (found.length === 0) return "";
    const time = found[0].axisValue;
    const lines = this.shown.map((i) => {
      const points = this.pointsOf(this.runs[i], this.tier);
      const at = lastNotAbove(points.map((point) => point[0]), time);
      const level = at < 0 || time > points.at(-1)[0] ? "–" : bytesText(points[at][1]);
      return `${escapeText(this.runs[i].label)}: ${level}`;
    });
    return `<b>${this.share ? `${(100 * time).toFixed(1)} % of each step` : timeText(time)}</b><br>${lines.join("<br>")}`;
  }
}

// A short line with the dash of a run.
function lineSwatch({color, dash}) {
  const dashes = dash === "solid" ? "" : dash.join(" ");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "line");
  svg.setAttribute("viewBox", "0 0 28 10");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({x1: 0, x2: 28, y1: 5, y2: 5, stroke: color,
    "stroke-width": 3, "stroke-dasharray": dashes})) {
    path.setAttribute(name, value);
  }
  svg.append(path);
  return svg;
}
