// What forward keeps for backward, by layer and by the part of the layer that made it.

class LayerMap {
  constructor(container, note, words) {
    Object.assign(this, {container, note, words});
    this.chart = echarts.init(container, null, {renderer: "canvas"});
  }

  show(run) {
    this.run = run;
    this.draw();
  }

  draw() {
    if (!this.run) return;
    const {saved} = this.run;
    this.container.hidden = saved.length === 0;
    const total = saved.reduce((bytes, cell) => bytes + cell[2], 0);
    this.note.textContent = saved.length === 0 ? "Forward keeps nothing for backward." :
      `${bytesText(total)} in all, of the first micro-batch; numbers are ${unitFor(Math.max(...saved.map((cell) => cell[2])), BYTE_UNITS)[1]}. ${isDark() ? "Lighter" : "Darker"} is more; “–” is outside the layers.`;
    if (saved.length === 0) return;
    const {text, faint, line, panel} = pageColors();
    const layers = [...new Set(saved.map((cell) => cell[0]))].sort((a, b) => a - b);
    const modules = [...new Set(saved.map((cell) => cell[1]))].sort((a, b) => a - b);
    const most = Math.max(...saved.map((cell) => cell[2]));
    const narrow = this.container.clientWidth < 560;
    this.container.style.height = `${64 + 28 * modules.length}px`;
    fit(this.chart);
    const font = {color: faint, fontFamily: chartFont, fontSize: 12};
    const left = narrow ? 76 : 96;
    const cell = (this.container.clientWidth - left - 14) / layers.length;
    const inGb = unitFor(most, BYTE_UNITS);
    this.chart.setOption({
      animation: false, textStyle: {fontFamily: chartFont}, aria: {enabled: true},
      grid: {left, right: 14, top: 6, bottom: 44},
      tooltip: {trigger: "item", confine: true, backgroundColor: panel, borderColor: line, textStyle: {color: text, fontSize: 12},
        formatter: ({value}) => `<b>${value[3] < 0 ? "outside the layers" : `layer ${value[3]}`}, ` +
          `${escapeText(modules.length > value[1] ? this.words.modules[modules[value[1]]] : "")}</b><br>${bytesText(value[2])}`},
      visualMap: {show: false, min: 0, max: most, dimension: 2, inRange: {color: isDark()
        ? ["#1f2b38", "#2f6f9f", "#9fd4f5"] : ["#eef4f9", "#7fb4d8", "#00507d"]}},
      xAxis: {type: "category", data: layers.map((layer) => layer < 0 ? "–" : String(layer)), name: "layer", nameLocation: "middle", nameGap: 26,
        nameTextStyle: font, axisLabel: {...font, hideOverlap: true}, axisTick: {show: false}, axisLine: {show: false}},
      yAxis: {type: "category", inverse: true, data: modules.map((m) => m === 0 ? "other" : this.words.modules[m]),
        axisLabel: {...font, interval: 0}, axisTick: {show: false}, axisLine: {show: false}},
      series: [{type: "heatmap", itemStyle: {borderColor: panel, borderWidth: 1},
        data: saved.map(([layer, module, bytes]) => [layers.indexOf(layer), modules.indexOf(module), bytes, layer]),
        label: {show: cell > 30, fontSize: 10, fontFamily: chartFont, formatter: ({value}) => digits(value[2] / inGb[0], 3).slice(0, 4)}}],
    }, {notMerge: true});
  }
}
