// Memory over time: a picture of each tier in use and the lanes of the streams, under one time
// axis. What can be seen at the cursor stands in cursor.js.

// From the bottom: what stays first, what comes and goes on top.
const STACK_ORDER = [13, 0, 2, 3, 1, 4, 5, 7, 8, 9, 6, 10, 11, 12, 14];
const LANE_HEIGHT = 22;

const chartFont = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

class MemoryChart {
  constructor(container, onCursor) {
    this.container = container;
    this.onCursor = onCursor;
    this.magnified = false;  // axes of memory begin at the lowest level
    this.chart = echarts.init(container, null, {renderer: "canvas"});
    this.cursorLine = new echarts.graphic.Line({silent: true, z: 100, invisible: true});
    this.listen();
  }

  show(run, step) {
    this.run = run;
    this.step = step;
    this.from = 0;
    this.to = step.end;
    const hbmPeak = step.peakRow(0);
    this.cursor = hbmPeak < 0 ? 0 : step.tiers[0].time[hbmPeak];
    this.draw();
    this.setCursor(this.cursor);
  }

  // Anew: also after the theme or the size has changed.
  draw() {
    if (!this.step) return;
    this.colors = pageColors();
    this.layOut();
    this.chart.setOption(this.option(), {notMerge: true});
    // Only now: what is there before the first drawing keeps the canvas at its first size.
    this.chart.getZr().remove(this.cursorLine);
    this.chart.getZr().add(this.cursorLine);
    this.zoomTo(this.from, this.to);
    if (this.cursor !== undefined) this.placeCursor();
  }

  layOut() {
    const narrow = this.container.clientWidth < 560;
    this.left = narrow ? 62 : 104;
    this.right = narrow ? 10 : 20;
    this.used = [0, 1, 2].filter((t) => this.run.tiers[t].peak > 0);
    this.laneNames = ["phase", ...this.step.lanes.map((lane) => lane.name)];
    if (this.step.stallBegin.length > 0) this.laneNames.splice(2, 0, "GPU waits");
    let y = 26;
    this.boxes = this.used.map((t) => {
      const height = t === 0 ? (narrow ? 220 : 340) : (narrow ? 90 : 120);
      const box = {top: y, height};
      y += height + 34;
      return box;
    });
    this.boxes.push({top: y - 12, height: this.laneNames.length * LANE_HEIGHT});
    y += this.laneNames.length * LANE_HEIGHT - 12 + 30;
    this.sliderTop = y;
    this.height = y + 34;
    if (this.container.clientHeight !== this.height) {
      this.container.style.height = `${this.height}px`;
    }
    fit(this.chart);
  }

  option() {
    const {text, faint, line} = this.colors;
    const lanes = this.boxes.length - 1;
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    const timeUnit = unitFor(this.step.end, TIME_UNITS);
    return {
      animation: false,
      textStyle: {fontFamily: chartFont},
      aria: {enabled: true, label: {description: this.spoken()}},
      grid: this.boxes.map((box) => ({...box, left: this.left, right: this.right})),
      xAxis: this.boxes.map((box, i) => ({
        type: "value", gridIndex: i, min: 0, max: this.step.end,
        axisLine: {show: true, lineStyle: {color: line}},
        axisTick: {show: i === lanes, lineStyle: {color: line}},
        splitLine: {show: i < lanes, lineStyle: {color: line, opacity: 0.5}},
        axisLabel: {...font, show: i === lanes, hideOverlap: true, showMaxLabel: false,
          formatter: (value) => this.timeLabel(value, timeUnit)},
      })),
      yAxis: this.boxes.map((box, i) => i === lanes ? this.laneAxis(font) : this.levelAxis(i, font)),
      dataZoom: [
        {type: "inside", xAxisIndex: this.boxes.map((box, i) => i), filterMode: "none",
          zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, preventDefaultMouseMove: false},
        {type: "slider", xAxisIndex: this.boxes.map((box, i) => i), filterMode: "none",
          top: this.sliderTop, height: 22, left: this.left, right: this.right, brushSelect: false,
          showDetail: false, borderColor: line, fillerColor: "rgba(86, 180, 233, 0.25)",
          handleStyle: {color: this.colors.panel, borderColor: text}},
      ],
      series: this.boxes.map((box, i) => ({
        type: "custom", xAxisIndex: i, yAxisIndex: i, clip: true, silent: true, data: [[0, 0]],
        renderItem: i === lanes ? (params, api) => this.renderLanes(params, api)
          : (params, api) => this.renderTier(this.used[i], params, api),
      })),
    };
  }

  timeLabel(value, [size, unit]) {
    const span = (this.to - this.from) / size;
    const places = Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(span))));
    return `${(value / size).toFixed(places)} ${unit}`;
  }

  levelAxis(i, font) {
    const tier = this.run.tiers[this.used[i]];
    const most = Math.max(tier.peak, tier.reserved);
    this.capacityShown = this.capacityShown ?? {};
    const shown = tier.capacity > 0 && tier.capacity < 2.2 * most;
    const lowest = this.magnified ? this.lowestLevel(this.used[i]) : 0;
    const top = lowest < most && this.magnified ? most + 0.25 * (most - lowest)
      : 1.1 * Math.max(most, shown ? tier.capacity : 0);
    this.capacityShown[this.used[i]] = shown && tier.capacity < top;
    const [size, unit] = unitFor(top, BYTE_UNITS);
    return {
      type: "value", gridIndex: i, min: lowest, max: top, splitNumber: i === 0 ? 5 : 3,
      name: `${capital(this.step.words.tiers[this.used[i]])} (${unit})` +
        (this.capacityShown[this.used[i]] || tier.capacity === 0 ? "" : `, capacity ${bytesText(tier.capacity)}`),
      nameLocation: "end", nameGap: 8,
      nameTextStyle: {...font, color: this.colors.text, align: "left", fontWeight: 600,
        padding: [0, 0, 0, -this.left + 8]},
      axisLabel: {...font, showMaxLabel: false,
        formatter: (value) => String(Number((value / size).toPrecision(this.magnified ? 5 : 3)))},
      splitLine: {lineStyle: {color: this.colors.line, opacity: 0.5}},
    };
  }

  // The least that a tier holds from the first allocation of the step on.
  lowestLevel(t) {
    const {total, time} = this.step.tiers[t];
    let lowest = Infinity;
    for (let i = 0; i < total.length; ++i) {
      if (time[i] > 0 || i === total.length - 1 || time[i + 1] > 0) lowest = Math.min(lowest, total[i]);
    }
    return lowest === Infinity ? 0 : lowest;
  }

  laneAxis(font) {
    return {
      type: "category", gridIndex: this.boxes.length - 1, inverse: true, data: this.laneNames,
      axisTick: {show: false}, axisLine: {show: false},
      axisLabel: {...font, interval: 0, fontSize: this.left < 80 ? 10 : 12,
        width: this.left - 10, overflow: "truncate"},
      splitLine: {show: false},
    };
  }

  // From picoseconds to pixels of a box, and the window of time that it shows.
  mapping(params, api) {
    const box = params.coordSys;
    const [x0, y0] = api.coord([0, 0]);
    const perTime = (api.coord([this.step.end, 0])[0] - x0) / this.step.end;
    return {box, y0, x: (time) => x0 + time * perTime, perTime,
      from: (box.x - x0) / perTime, to: (box.x + box.width - x0) / perTime};
  }

  renderTier(t, params, api) {
    const map = this.mapping(params, api);
    const {box, y0} = map;
    const perByte = (api.coord([0, 1e9])[1] - y0) / 1e9;
    const tier = this.step.tiers[t];
    const rows = rowsToDraw(tier.time, tier.total, map.from, map.to, Math.floor(box.width));
    const x = rows.map((row) => Math.max(box.x, map.x(tier.time[row])));
    const children = [];
    let bottom = rows.map(() => y0);
    for (const c of STACK_ORDER) {
      const levels = tier.levels[c];
      if (levels === null) continue;
      const top = rows.map((row, i) => bottom[i] + levels[row] * perByte);
      children.push({type: "tidemarkBand",
        shape: {x, top, bottom, end: Math.min(box.x + box.width, map.x(this.step.end))},
        style: {fill: fillOf(LOOKS.categories[c])}});
      bottom = top;
    }
    if (this.step.reserved[t] !== null) children.push(this.reservedLine(this.step.reserved[t], map, perByte));
    children.push(...this.marks(t, map, perByte));
    return {type: "group", children};
  }

  // What the allocator had taken from the driver.
  reservedLine({time, bytes}, {box, y0, x}, perByte) {
    const points = [];
    time.forEach((at, i) => {
      const y = y0 + bytes[i] * perByte;
      if (i > 0) points.push([x(at), points.at(-1)[1]]);
      points.push([x(at), y]);
    });
    points.push([box.x + box.width, points.at(-1)[1]]);
    return {type: "polyline", shape: {points}, style: {fill: null, stroke: this.colors.text, lineWidth: 2}};
  }

  // Capacity and peak.
  marks(t, {box, y0, x}, perByte) {
    const tier = this.run.tiers[t];
    const marks = [];
    const label = (text, at, fill) => ({type: "text", style: {...at, text, fill, fontFamily: chartFont,
      fontSize: 12, backgroundColor: this.colors.panel, padding: [2, 4], borderRadius: 3}});
    if (this.capacityShown[t]) {
      const y = y0 + tier.capacity * perByte;
      marks.push({type: "line", shape: {x1: box.x, y1: y, x2: box.x + box.width, y2: y},
        style: {stroke: this.colors.alarm, lineWidth: 1.5, lineDash: [6, 4]}});
      marks.push(label(`capacity ${bytesText(tier.capacity)}`,
        {x: box.x + box.width - 2, y: y + 3, align: "right", verticalAlign: "top"}, this.colors.alarm));
    }
    const px = x(tier.peak_time);
    if (px >= box.x - 1 && px <= box.x + box.width + 1) {
      const py = y0 + tier.peak * perByte;
      const onRight = px > box.x + box.width / 2;
      marks.push({type: "circle", shape: {cx: px, cy: py, r: 4},
        style: {fill: this.colors.panel, stroke: this.colors.text, lineWidth: 2}});
      marks.push(label(`peak ${bytesText(tier.peak)}: ${tier.peak_at}`,
        {x: px + (onRight ? -8 : 8), y: Math.max(box.y + 9, py - 4), align: onRight ? "right" : "left",
          verticalAlign: "middle", width: Math.max(120, (onRight ? px - box.x : box.x + box.width - px) - 20),
          overflow: "truncate"}, this.colors.text));
    }
    return marks;
  }

  renderLanes(params, api) {
    const map = this.mapping(params, api);
    const half = (LANE_HEIGHT - 6) / 2;
    const children = [];
    const laneRow = (name) => this.laneNames.indexOf(name);
    const add = (row, rects, appearance) => {
      if (rects.length > 0) {
        children.push({type: "tidemarkRects", shape: {rects}, style: {fill: fillOf(appearance)}});
      }
    };
    const yOf = (row) => api.coord([0, row])[1] - half;

    for (const span of this.step.spans) {
      const left = Math.max(map.box.x, map.x(span.begin));
      const right = Math.min(map.box.x + map.box.width, map.x(span.end));
      if (right <= left) continue;
      const look = PHASE_LOOKS[this.step.words.phases.indexOf(span.name)];
      add(0, [left, yOf(0), right - left, 2 * half], look);
      const text = span.name.replaceAll("_", " ");
      if (right - left > 7 * text.length + 8) {
        children.push({type: "text", style: {x: (left + right) / 2, y: yOf(0) + half, text, fill: "#fff",
          fontFamily: chartFont, fontSize: 12, fontWeight: 600, align: "center", verticalAlign: "middle",
          textStroke: "rgba(0, 0, 0, 0.55)", textStrokeWidth: 2, stroke: "rgba(0, 0, 0, 0.55)", lineWidth: 2}});
      }
    }
    for (const lane of this.step.lanes) {
      const looks = lane.stream === 0 ? PHASE_LOOKS : null;
      const y = yOf(laneRow(lane.name));
      for (const [key, rects] of this.blocks(lane, map, y, 2 * half)) {
        add(0, rects, looks ? looks[key] : PHASE_LOOKS[key]);
      }
    }
    const stalls = laneRow("GPU waits");
    if (stalls >= 0) {
      for (const [cause, rects] of this.stallBlocks(map, yOf(stalls), 2 * half)) {
        add(0, rects, LOOKS.causes[cause]);
      }
    }
    return {type: "group", children};
  }

  // Rectangles by phase. What is narrower than a pixel joins its neighbour.
  blocks(lane, map, y, height) {
    const found = new Map();
    const {start, duration, phase} = this.step;
    const first = Math.max(0, lastNotAbove(lane.start, map.from));
    const pixel = 1 / map.perTime;
    for (let k = first; k < lane.rows.length;) {
      const row = lane.rows[k];
      if (start[row] > map.to) break;
      const begin = start[row];
      let end = begin + duration[row];
      const kind = phase[row];
      for (++k; k < lane.rows.length; ++k) {
        const next = lane.rows[k];
        const joins = start[next] - end < 0.25 * pixel && phase[next] === kind;
        if (!joins && start[next] - begin >= pixel) break;
        end = Math.max(end, start[next] + duration[next]);
      }
      this.put(found, kind, map, begin, end, y, height);
    }
    return found;
  }

  stallBlocks(map, y, height) {
    const found = new Map();
    const {stallBegin, stallDuration, stallCause} = this.step;
    const pixel = 1 / map.perTime;
    for (let k = Math.max(0, lastNotAbove(stallBegin, map.from)); k < stallBegin.length;) {
      const begin = stallBegin[k];
      if (begin > map.to) break;
      const cause = stallCause[k];
      let end = begin + stallDuration[k];
      for (++k; k < stallBegin.length && stallBegin[k] - end < 0.25 * pixel && stallCause[k] === cause; ++k) {
        end = stallBegin[k] + stallDuration[k];
      }
      this.put(found, cause, map, begin, end, y, height);
    }
    return found;
  }

  put(found, key, map, begin, end, y, height) {
    if (!found.has(key)) found.set(key, []);
    const left = Math.max(map.box.x, map.x(begin));
    const right = Math.min(map.box.x + map.box.width, map.x(end));
    if (right >= left) found.get(key).push(left, y, Math.max(0.5, right - left), height);
  }

  listen() {
    const zr = this.chart.getZr();
    zr.on("mousemove", (event) => this.pointAt(event.offsetX, event.offsetY));
    zr.on("click", (event) => this.pointAt(event.offsetX, event.offsetY));
    this.chart.on("datazoom", (event) => {
      const zoom = event.batch ? event.batch[0] : event;
      const end = this.step.end;
      this.from = zoom.startValue ?? end * zoom.start / 100;
      this.to = zoom.endValue ?? end * zoom.end / 100;
      this.placeCursor();
    });
    this.container.addEventListener("keydown", (event) => this.key(event));
  }

  pointAt(x, y) {
    if (!this.step || y > this.sliderTop || x < this.left) return;
    const time = this.chart.convertFromPixel({xAxisIndex: 0}, x);
    this.setCursor(Math.min(this.step.end, Math.max(0, time)));
  }

  setCursor(time) {
    this.cursor = time;
    this.placeCursor();
    this.onCursor(time);
  }

  placeCursor() {
    const x = this.chart.convertToPixel({xAxisIndex: 0}, this.cursor);
    const last = this.boxes.at(-1);
    const inside = x >= this.left - 1 && x <= this.container.clientWidth - this.right + 1;
    this.cursorLine.attr({invisible: !inside,
      shape: {x1: x, x2: x, y1: this.boxes[0].top, y2: last.top + last.height},
      style: {stroke: this.colors.text, lineWidth: 1, lineDash: [3, 3]}});
  }

  zoomTo(from, to) {
    const width = Math.min(this.step.end, Math.max(to - from, this.step.end * 1e-7, 1));
    const begin = Math.min(Math.max(0, from), this.step.end - width);
    this.chart.dispatchAction({type: "dataZoom", batch: [0, 1].map((dataZoomIndex) =>
      ({dataZoomIndex, startValue: begin, endValue: begin + width}))});
  }

  // Around the cursor; factor below 1: nearer.
  zoomBy(factor) {
    const share = Math.min(1, Math.max(0, (this.cursor - this.from) / (this.to - this.from)));
    const width = (this.to - this.from) * factor;
    const begin = this.cursor - share * width;
    this.zoomTo(begin, begin + width);
  }

  goTo(time) {
    const width = this.to - this.from;
    if (time < this.from || time > this.to) this.zoomTo(time - width / 2, time + width / 2);
    this.setCursor(time);
  }

  key(event) {
    const step = (this.to - this.from) / 100;
    const keys = {
      ArrowLeft: () => this.goTo(Math.max(0, event.shiftKey ? this.eventBeside(-1) : this.cursor - step)),
      ArrowRight: () => this.goTo(Math.min(this.step.end, event.shiftKey ? this.eventBeside(1) : this.cursor + step)),
      "+": () => this.zoomBy(0.5),
      "=": () => this.zoomBy(0.5),
      "-": () => this.zoomBy(2),
      0: () => this.zoomTo(0, this.step.end),
      p: () => this.goTo(this.run.tiers[0].peak_time),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.step.end),
    };
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  // The time of the next memory event after the cursor, or of the one before it.
  eventBeside(direction) {
    const times = this.step.eventTime;
    let row = lastNotAbove(times, this.cursor);
    if (direction > 0) return times[Math.min(times.length - 1, row + 1)];
    while (row > 0 && times[row] >= this.cursor) --row;
    return times[Math.max(0, row)];
  }

  spoken() {
    return this.used.map((t) => {
      const tier = this.run.tiers[t];
      return `${this.step.words.tiers[t]}: peak ${bytesText(tier.peak)}, ${tier.peak_at}.`;
    }).join(" ");
  }
}
