// Tensors as bands over time: each as high as its bytes, on top of what lived before it; what is
// freed lets those above sink. What lives all the step is one band a category.

const MOST_BANDS = 500;

// Bands of a tier: {buffer, category, x, bottom, top, end}, with the rest, too many to show, on top.
function bandsOf(step, tier, withFloor) {
  const always = (b) => step.madeBy[b] < 0 && step.freedAt[b] === Infinity;
  const mine = [];
  for (let b = 0; b < step.bufferBytes.length; ++b) {
    if (step.tierOf(b) === tier) mine.push(b);
  }
  const floor = new Map();
  for (const b of mine.filter(always)) {
    const c = step.categoryOf(b);
    floor.set(c, (floor.get(c) ?? 0) + step.bufferBytes[b]);
  }
  const bands = [];
  let level = 0;
  for (const c of STACK_ORDER) {
    if (!withFloor || !floor.has(c)) continue;
    const bytes = floor.get(c);
    bands.push({buffer: -1, category: c, x: [0], bottom: [level], bytes, end: step.end});
    level += bytes;
  }
  const passing = mine.filter((b) => !always(b));
  const weight = new Map(passing.map((b) => {
    const end = step.freedAt[b] === Infinity ? step.end : step.eventTime[step.freedAt[b]];
    return [b, step.bufferBytes[b] * (end - step.eventTime[step.allocatedAt[b]])];
  }));
  const shown = new Set([...passing].sort((a, b) => weight.get(b) - weight.get(a) || a - b).slice(0, MOST_BANDS));
  const events = [];
  for (const b of shown) {
    events.push([step.allocatedAt[b], b, true]);
    if (step.freedAt[b] !== Infinity) events.push([step.freedAt[b], b, false]);
  }
  events.sort((a, b) => a[0] - b[0]);
  const open = [];  // from the bottom
  let top = level;
  for (const [event, b, begins] of events) {
    const time = step.eventTime[event];
    const bytes = step.bufferBytes[b];
    if (begins) {
      open.push({buffer: b, category: step.categoryOf(b), x: [time], bottom: [top], bytes, end: step.end});
      top += bytes;
      continue;
    }
    const at = open.findIndex((band) => band.buffer === b);
    const [done] = open.splice(at, 1);
    done.end = time;
    bands.push(done);
    top -= bytes;
    for (const band of open.slice(at)) {
      const sunk = band.bottom.at(-1) - bytes;
      if (band.x.at(-1) === time) band.bottom[band.bottom.length - 1] = sunk;
      else {
        band.x.push(time);
        band.bottom.push(sunk);
      }
    }
  }
  return {bands: [...bands, ...open], left: passing.length - shown.size};
}

class Lifetimes {
  constructor(container, note) {
    Object.assign(this, {container, note});
    this.withFloor = false;
    this.chart = echarts.init(container, null, {renderer: "canvas"});
  }

  show(run, step, tier) {
    Object.assign(this, {run, step, tier}, bandsOf(step, tier, this.withFloor));
    this.note.textContent = this.left === 0 ? "Every tensor is shown." :
      `The ${MOST_BANDS} tensors that hold most for longest are shown; ${this.left.toLocaleString("en-US")} others are left out.`;
    this.draw();
  }

  setFloor(withFloor) {
    this.withFloor = withFloor;
    if (this.step) this.show(this.run, this.step, this.tier);
  }

  draw() {
    if (!this.step) return;
    const {text, faint, line, panel} = pageColors();
    fit(this.chart);
    const narrow = this.container.clientWidth < 560;
    const {bands, step} = this;
    const most = Math.max(1, ...bands.map((band) => Math.max(...band.bottom) + band.bytes));
    const [size, unit] = unitFor(most, BYTE_UNITS);
    const time = unitFor(step.end, TIME_UNITS);
    // What lives, not an empty rest of the step.
    const passing = bands.filter((band) => band.buffer >= 0);
    const first = Math.min(...passing.map((band) => band.x[0]), step.end);
    const last = Math.max(...passing.map((band) => band.end), 0);
    const window = last > first && !this.withFloor ? {startValue: first, endValue: last} : {};
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont}, aria: {enabled: true},
      grid: {left: narrow ? 56 : 70, right: 20, top: 28, bottom: 62},
      tooltip: {trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: ({dataIndex}) => this.describe(bands[dataIndex])},
      dataZoom: [
        {type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false, ...window},
        {type: "slider", xAxisIndex: 0, filterMode: "none", ...window, bottom: 6, height: 16, showDetail: false, brushSelect: false, borderColor: line,
          fillerColor: "rgba(86, 180, 233, 0.25)", left: narrow ? 56 : 70, right: 20},
      ],
      xAxis: {type: "value", min: 0, max: step.end, splitLine: {show: false}, axisLine: {lineStyle: {color: line}},
        axisLabel: {...font, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: (value) => `${Number((value / time[0]).toPrecision(4))} ${time[1]}`}},
      yAxis: {type: "value", min: 0, max: 1.05 * most, name: unit, nameTextStyle: font, splitLine: {lineStyle: {color: line}},
        axisLabel: {...font, showMaxLabel: false, formatter: (value) => String(Number((value / size).toPrecision(3)))}},
      series: [{type: "custom", clip: true, data: bands.map((band) => [band.x[0], band.end, band.bottom[0], band.bytes]), encode: {x: [0, 1], y: [2]},
        renderItem: (params, api) => this.band(bands[params.dataIndex], step.end, params, api, panel)}],
    }, {notMerge: true});
  }

  band(band, stepEnd, params, api, border) {
    const [x0, y0] = api.coord([0, 0]);
    const perTime = (api.coord([stepEnd, 0])[0] - x0) / stepEnd;
    const perByte = (api.coord([0, 1e9])[1] - y0) / 1e9;
    const x = band.x.map((time) => x0 + time * perTime);
    const bottom = band.bottom.map((bytes) => y0 + bytes * perByte);
    const top = bottom.map((y) => y + band.bytes * perByte);
    const end = x0 + band.end * perTime;
    const box = params.coordSys;
    if (end < box.x || x[0] > box.x + box.width) return null;
    return {type: "tidemarkBand", shape: {x, top, bottom, end}, style: {fill: fillOf(LOOKS.categories[band.category]),
      stroke: -band.bytes * perByte > 6 && end - x[0] > 4 ? border : null, lineWidth: 0.6}};
  }

  describe(band) {
    const {step} = this;
    if (band.buffer < 0) {
      return `<b>${escapeText(step.words.categories[band.category])}</b><br>${bytesText(band.bytes)}, there all the step`;
    }
    const b = band.buffer;
    const freed = step.freedAt[b] === Infinity ? "stays after the step" : `freed after ${step.describe(step.freedBy[b])}`;
    return `<b>${escapeText(step.names[step.bufferName[b]])}</b> (${escapeText(step.words.categories[band.category])})<br>` +
      `${bytesText(band.bytes)}, for ${timeText(band.end - band.x[0])}<br>` +
      `made by ${escapeText(step.describe(step.madeBy[b]))}<br>${escapeText(freed)}`;
  }
}
