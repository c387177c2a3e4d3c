// What a tier holds at one moment as an icicle: categories, their layers, their tensors, each as
// wide as its bytes.

const ICICLE_ROWS = ["category", "layer", "tensor"];

// Blocks of three rows: {row, begin, end, name, category, detail}, from the left in bytes.
function icicleOf(step, tier, event) {
  const byCategory = new Map();
  for (const b of step.alive(tier, event)) {
    const c = step.categoryOf(b);
    if (!byCategory.has(c)) byCategory.set(c, new Map());
    const layers = byCategory.get(c);
    const layer = step.bufferLayer[b];
    if (!layers.has(layer)) layers.set(layer, []);
    layers.get(layer).push(b);
  }
  const sum = (buffers) => buffers.reduce((bytes, b) => bytes + step.bufferBytes[b], 0);
  const categories = [...byCategory].map(([c, layers]) => ({c,
    layers: [...layers].sort((a, b) => a[0] - b[0]).map(([layer, buffers]) => ({layer, buffers, bytes: sum(buffers)}))}))
    .map((each) => ({...each, bytes: each.layers.reduce((bytes, layer) => bytes + layer.bytes, 0)}))
    .sort((a, b) => b.bytes - a.bytes);
  const blocks = [];
  let at = 0;
  for (const {c, layers, bytes} of categories) {
    blocks.push({row: 0, begin: at, end: at + bytes, name: step.words.categories[c], category: c, detail: ""});
    for (const {layer, buffers, bytes: inLayer} of layers) {
      const name = layer < 0 ? "outside the layers" : `layer ${layer}`;
      blocks.push({row: 1, begin: at, end: at + inLayer, name, short: layer < 0 ? "–" : String(layer), category: c, detail: step.words.categories[c]});
      for (const b of buffers.sort((x, y) => step.bufferBytes[y] - step.bufferBytes[x] || x - y)) {
        blocks.push({row: 2, begin: at, end: at + step.bufferBytes[b], name: step.names[step.bufferName[b]], category: c,
          detail: step.madeBy[b] < 0 ? "there before the step" : `made by ${step.describe(step.madeBy[b])}`});
        at += step.bufferBytes[b];
      }
    }
  }
  return {blocks, total: at};
}

class Icicle {
  constructor(container, path, told) {
    Object.assign(this, {container, path, told, chosen: null, zoomed: null});
    this.chart = echarts.init(container, null, {renderer: "canvas"});
    this.chart.on("click", ({data}) => data && this.zoomTo(this.icicle.blocks[data[2]]));
    container.addEventListener("keydown", (event) => this.key(event));
    container.addEventListener("blur", () => this.choose(null));
  }

  // Arrows go to the block beside, to its parent and to its first child; Enter shows it alone.
  key(event) {
    if (!this.icicle || event.ctrlKey || event.metaKey || event.altKey) return;
    const {blocks} = this.icicle;
    const at = this.chosen;
    const inside = (block, other) => other.begin <= block.begin && block.end <= other.end;
    const beside = (step) => {
      const row = blocks.filter((block) => block.row === at.row);
      return row[row.indexOf(at) + step];
    };
    const keys = {
      ArrowLeft: () => at && beside(-1),
      ArrowRight: () => at && beside(1),
      ArrowUp: () => at && blocks.find((block) => block.row === at.row - 1 && inside(at, block)),
      ArrowDown: () => at && blocks.find((block) => block.row === at.row + 1 && inside(block, at)),
      Home: () => at && blocks.find((block) => block.row === at.row),
      End: () => at && blocks.findLast((block) => block.row === at.row),
    };
    if (Object.hasOwn(keys, event.key)) {
      this.choose(at ? keys[event.key]() ?? at : blocks[0]);
    } else if (event.key === "Enter" && at) {
      this.zoomTo(at);
    } else if (event.key === "Escape" || event.key === "0") {
      this.zoomTo(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  // Outlined in the chart, and told below its title.
  choose(block) {
    if (block === this.chosen) return;
    this.chosen = block;
    if (block && this.zoomed && (block.end <= this.zoomed.begin || block.begin >= this.zoomed.end)) this.zoomTo(null);
    this.draw();
    this.told.textContent = block ? this.describe(block).replaceAll("<br>", ", ").replaceAll(/<[^>]*>/g, "") : "";
  }

  show(step, tier, event, title) {
    this.title = title;
    this.icicle = icicleOf(step, tier, event);
    this.chosen = null;
    this.told.textContent = "";
    this.draw();
    this.zoomTo(null);
  }

  draw() {
    if (!this.icicle) return;
    const {text, faint, line, panel} = pageColors();
    const {blocks, total} = this.icicle;
    const shown = this.zoomed ?? {begin: 0, end: total};
    fit(this.chart);
    const [size, unit] = unitFor(total, BYTE_UNITS);
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont}, aria: {enabled: true, label: {description: this.title}},
      grid: {left: 64, right: 14, top: 4, bottom: 44},
      tooltip: {trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: ({data}) => this.describe(blocks[data[2]])},
      xAxis: {type: "value", min: 0, max: total, name: `bytes alive (${unit})`, nameLocation: "middle", nameGap: 26, nameTextStyle: font,
        axisLabel: {...font, hideOverlap: true, formatter: (value) => String(Number((value / size).toPrecision(4)))}, splitLine: {show: false}},
      yAxis: {type: "category", inverse: true, data: ICICLE_ROWS, axisTick: {show: false}, axisLine: {show: false}, axisLabel: font},
      dataZoom: [{type: "inside", xAxisIndex: 0, startValue: shown.begin, endValue: shown.end, filterMode: "none", zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false}],
      series: [{type: "custom", clip: true, encode: {x: [0, 1], y: 3}, data: blocks.map((block, i) => [block.begin, block.end, i, block.row]),
        renderItem: (params, api) => this.block(blocks[params.dataIndex], params, api, panel, text)}],
    }, {notMerge: true});
  }

  block(block, params, api, border, ink) {
    const [x, y] = api.coord([block.begin, block.row]);
    const end = api.coord([block.end, block.row])[0];
    const box = params.coordSys;
    const left = Math.max(box.x, x);
    const right = Math.min(box.x + box.width, end);
    const chosen = block === this.chosen;
    if (right - left < 0.4 && !chosen) return null;  // too thin to see: its parent is wider
    const height = api.size([0, 1])[1];
    const thin = right - left <= 5;
    const rect = {x: left, y: y - height / 2, width: right - left + (thin ? 0.6 : 0), height};
    const shape = {type: "rect", shape: rect, style: {fill: fillOf(LOOKS.categories[block.category]),
      stroke: chosen ? ink : thin ? null : border, lineWidth: chosen ? 3 : 1}, z2: chosen ? 2 : 0};
    const text = right - left < 60 && block.row === 1 ? block.short : block.name;
    if (right - left < (block.row === 1 ? 22 : 40)) return {type: "group", children: [shape]};
    const label = {type: "text", silent: true, style: {text, x: left + 5, y, width: right - left - 8, overflow: "truncate",
      fontFamily: chartFont, fontSize: 12, fontWeight: block.row === 0 ? 600 : 400, verticalAlign: "middle", fill: "#10161d",
      stroke: "rgba(255, 255, 255, 0.9)", lineWidth: 3}};
    return {type: "group", children: [shape, label]};
  }

  describe(block) {
    const share = percentText((block.end - block.begin) / this.icicle.total);
    return `<b>${escapeText(block.name)}</b><br>${bytesText(block.end - block.begin)}, ${share}` +
      (block.detail ? `<br>${escapeText(block.detail)}` : "");
  }

  zoomTo(block) {
    const {total} = this.icicle;
    const again = block !== null && this.zoomed === block;
    this.zoomed = again ? null : block;
    const [begin, end] = this.zoomed ? [block.begin, block.end] : [0, total];
    this.chart.dispatchAction({type: "dataZoom", dataZoomIndex: 0, startValue: begin, endValue: end});
    this.path.textContent = this.title + (this.zoomed ? `: ${block.detail ? `${block.detail}, ` : ""}${block.name} (click again or Esc: all)` : "");
  }
}
