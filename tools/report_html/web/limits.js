// What the step waits for: its critical path by resource.

class Limits {
  constructor(container, words) {
    Object.assign(this, {container, words});
  }

  show(run) {
    const rows = run.critical_path.map((time, r) => ({name: this.words.resources[r], time}))
      .filter(({time}) => time > 0).sort((a, b) => b.time - a.time);
    this.container.replaceChildren(make("table", {class: "bars"}, rows.map(({name, time}) =>
      make("tr", {}, make("th", {scope: "row"}, name),
        make("td", {class: "bar"}, make("span", {style: `width: ${100 * time / rows[0].time}%`})),
        make("td", {}, percentText(time / run.step)), make("td", {}, timeText(time))))));
  }
}
