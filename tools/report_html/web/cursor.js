// What there is at the cursor: which op runs, how many bytes of each category, the ten largest
// tensors and who made them.

const LARGEST = 10;

class CursorPanel {
  constructor(container) {
    this.container = container;
    this.tier = 0;
  }

  show(run, step) {
    this.run = run;
    this.step = step;
    if (!(run.tiers[this.tier].peak > 0)) this.tier = 0;
  }

  at(time) {
    this.time = time;
    // Once a frame, however fast the pointer moves.
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.fill();
    });
  }

  fill() {
    const {run, step, time} = this;
    const tier = step.tiers[this.tier];
    const row = lastNotAbove(tier.time, time);
    const parts = [
      make("h3", {}, `At ${timeText(time)}`, make("small", {}, ` of ${timeText(step.end)}`)),
      this.running(),
      this.tabs(),
    ];
    if (row >= 0) parts.push(this.categories(tier, row), this.tensors(tier.event[row]));
    const focused = this.container.contains(document.activeElement);
    this.container.replaceChildren(...parts);
    if (focused) this.container.querySelector("[aria-pressed=true]")?.focus();
  }

  running() {
    const {step, time} = this;
    const lines = [];
    for (const lane of step.lanes) {
      const at = step.running(lane, time);
      let text = at >= 0 ? step.describe(at) : "";
      if (lane.stream === 0 && at < 0) {
        const stall = step.stallAt(time);
        text = stall < 0 ? "" : `waits for ${step.words.causes[step.stallCause[stall]]}`;
        if (stall >= 0 && step.stallBlocker[stall] > 0) {
          text += ` (${step.describe(step.stallBlocker[stall] - 1)})`;
        }
      }
      lines.push(make("dt", {}, lane.name), make("dd", {title: text}, text || "–"));
    }
    return make("dl", {class: "running"}, lines);
  }

  tabs() {
    const used = [0, 1, 2].filter((t) => this.run.tiers[t].peak > 0);
    return make("div", {class: "tabs", role: "group", "aria-label": "tier"}, used.map((t) => {
      const tier = this.step.tiers[t];
      const row = lastNotAbove(tier.time, this.time);
      const level = row < 0 ? 0 : tier.total[row];
      return make("button", {type: "button", "aria-pressed": String(t === this.tier), onclick: () => {
        this.tier = t;
        this.fill();
      }}, `${capital(this.step.words.tiers[t])} ${bytesText(level)}`);
    }));
  }

  categories(tier, row) {
    const rows = [];
    for (const c of [...STACK_ORDER].reverse()) {
      if (tier.levels[c] === null) continue;
      const bytes = tier.levels[c][row];
      rows.push(make("tr", {class: bytes === 0 ? "none" : null},
        make("th", {scope: "row"}, swatch(LOOKS.categories[c]), this.step.words.categories[c]),
        make("td", {}, bytesText(bytes)),
        make("td", {}, tier.total[row] > 0 ? percentText(bytes / tier.total[row]) : "–")));
    }
    const reserved = this.step.reserved[this.tier];
    if (reserved !== null) {
      const at = lastNotAbove(reserved.time, this.time);
      const bytes = at < 0 ? 0 : reserved.bytes[at];
      rows.push(make("tr", {}, make("th", {scope: "row"}, "allocated"), make("td", {}, bytesText(tier.total[row])), make("td", {})),
        make("tr", {}, make("th", {scope: "row"}, "reserved by the allocator"), make("td", {}, bytesText(bytes)), make("td", {})));
    }
    return make("table", {class: "categories"}, make("caption", {}, "Bytes by category"), rows);
  }

  tensors(event) {
    const {step} = this;
    const rows = step.largest(this.tier, event, LARGEST).map((b) => {
      const maker = step.describe(step.madeBy[b]);
      const layer = step.bufferLayer[b] < 0 || maker.endsWith(`layer ${step.bufferLayer[b]}`) ? ""
        : ` · layer ${step.bufferLayer[b]}`;
      return make("tr", {},
        make("td", {}, swatch(LOOKS.categories[step.categoryOf(b)]),
          make("b", {}, step.names[step.bufferName[b]]), make("br"),
          make("small", {}, `${step.madeBy[b] < 0 ? "" : "made by "}${maker}${layer}`)),
        make("td", {}, bytesText(step.bufferBytes[b])));
    });
    return make("table", {class: "tensors"}, make("caption", {}, "Largest tensors alive"), rows);
  }
}
