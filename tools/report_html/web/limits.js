// What the step waits for: its critical path by resource; and what a better machine would save.

class Limits {
  constructor(path, effects, note, words) {
    Object.assign(this, {path, effects, note, words});
  }

  show(run) {
    const path = run.critical_path.map((time, r) => ({name: this.words.resources[r], time}))
      .filter(({time}) => time > 0).sort((a, b) => b.time - a.time);
    this.path.replaceChildren(barsOf(run, path));
    const better = (run.effects ?? []).map(({figure, from, to, saves}) => ({name: figure, title: `${from} to ${to}`, time: saves}));
    this.effects.replaceChildren(...better.length > 0 ? [barsOf(run, better)] : []);
    this.note.textContent = run.effects === null ? "Not simulated for steps of this length: see tidemark sensitivity."
      : better.length === 0 ? "No figure of the machine alone changes the step."
      : "Time that one step saves with one figure of the machine 10 % better, each simulated. The others save nothing.";
  }
}

// Rows of a name, a bar, a share of the step and a time.
function barsOf(run, rows) {
  const most = Math.max(...rows.map(({time}) => Math.abs(time)));
  return make("table", {class: "bars"}, rows.map(({name, title, time}) =>
    make("tr", {title: title ?? null}, make("th", {scope: "row"}, capital(name), title ? make("small", {}, ` ${title}`) : ""),
      make("td", {class: "bar"}, make("span", {class: time < 0 ? "worse" : null, style: `width: ${100 * Math.abs(time) / most}%`})),
      make("td", {}, `${time < 0 ? "−" : ""}${percentText(Math.abs(time) / run.step)}`), make("td", {}, timeText(time)))));
}
