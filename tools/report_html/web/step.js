// One step in full: which instance ran when on which stream, which bytes lived when in which tier.
// Read from the packed columns of tools/report_html/step_columns.cpp.

const TIERS = 3;

// The last index whose value is not above `value`; -1 where all are.
function lastNotAbove(sorted, value) {
  let low = -1;
  let high = sorted.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

class Step {
  constructor(run, words) {
    const columns = new PackedColumns(run.columns);
    this.end = run.step;
    this.words = words;
    this.stream = columns.column();
    this.phase = columns.column();
    this.name = columns.column();
    this.layer = columns.sums();
    this.start = columns.sums();
    this.duration = columns.column();

    this.bufferKind = columns.column();
    this.bufferName = columns.column();
    this.bufferLayer = columns.sums();
    this.bufferBytes = columns.column();
    const what = columns.column();
    const time = columns.sums();
    const instance = columns.sums();

    this.stallBegin = columns.sums();
    this.stallDuration = columns.column();
    this.stallCause = columns.column();
    this.stallWaiting = columns.sums();
    this.stallBlocker = columns.sums();
    this.names = columns.text().split("\n");

    this.reserved = run.tiers.map(({reserved_levels: packed}) => {
      if (packed === null) return null;  // what is reserved is what is allocated
      const levels = new PackedColumns(packed);
      return {time: levels.sums(), bytes: levels.sums()};
    });
    this.readEvents(what, time, instance);
    this.readLanes();
    this.readPhases();
  }

  // For each tier: the events that concern it, and the level of each category after each of them.
  readEvents(what, time, instance) {
    const buffers = this.bufferBytes.length;
    this.eventTime = time;
    this.allocatedAt = new Float64Array(buffers);             // rows of events
    this.freedAt = new Float64Array(buffers).fill(Infinity);  // Infinity: alive at the end
    this.madeBy = new Float64Array(buffers);                  // rows of instances; -1: none
    this.freedBy = new Float64Array(buffers).fill(-1);
    const counts = new Array(TIERS).fill(0);
    const tierOf = (buffer) => this.bufferKind[buffer] % TIERS;
    const bufferOf = new Float64Array(what.length);
    for (let e = 0, next = 0; e < what.length; ++e) {
      const buffer = what[e] === 0 ? next++ : next - what[e];
      bufferOf[e] = buffer;
      ++counts[tierOf(buffer)];
      if (what[e] === 0) {
        this.allocatedAt[buffer] = e;
        this.madeBy[buffer] = instance[e] - 1;
      } else {
        this.freedAt[buffer] = e;
        this.freedBy[buffer] = instance[e] - 1;
      }
    }
    const categories = this.words.categories.length;
    this.tiers = counts.map((count) => ({
      time: new Float64Array(count),
      event: new Float64Array(count),
      total: new Float64Array(count),
      levels: new Array(categories).fill(null),  // by category; null: has none here
    }));
    for (let b = 0; b < buffers; ++b) {
      const tier = this.tiers[tierOf(b)];
      const category = Math.floor(this.bufferKind[b] / TIERS);
      tier.levels[category] ??= new Float64Array(tier.time.length);
    }
    const rows = new Array(TIERS).fill(0);
    const now = this.tiers.map(() => new Float64Array(categories));
    for (let e = 0; e < what.length; ++e) {
      const buffer = bufferOf[e];
      const t = tierOf(buffer);
      const tier = this.tiers[t];
      const change = what[e] === 0 ? this.bufferBytes[buffer] : -this.bufferBytes[buffer];
      now[t][Math.floor(this.bufferKind[buffer] / TIERS)] += change;
      const row = rows[t]++;
      tier.time[row] = time[e];
      tier.event[row] = e;
      tier.total[row] = change + (row > 0 ? tier.total[row - 1] : 0);
      for (let c = 0; c < categories; ++c) {
        if (tier.levels[c] !== null) tier.levels[c][row] = now[t][c];
      }
    }
  }

  // For each stream that is used: its instances in order of time.
  readLanes() {
    const rows = this.words.streams.map(() => []);
    for (let i = 0; i < this.stream.length; ++i) rows[this.stream[i]].push(i);
    this.lanes = rows.map((list, stream) => ({
      name: this.words.streams[stream].replaceAll("_", " "),
      rows: list,
      start: Float64Array.from(list, (i) => this.start[i]),
    })).map((lane, stream) => ({...lane, stream})).filter((lane) => lane.rows.length > 0);
  }

  // Spans of the step by what the compute stream works on; recompute belongs to backward.
  readPhases() {
    const part = this.words.phases.map((name) => name === "recompute" ? "backward" : name);
    this.spans = [];
    const compute = this.lanes.find((lane) => lane.stream === 0);
    for (const i of compute ? compute.rows : []) {
      const name = part[this.phase[i]];
      const finish = this.start[i] + this.duration[i];
      const last = this.spans.at(-1);
      if (last && (last.name === name || name === "transfer" || name === "communication")) {
        last.end = finish;
      } else {
        this.spans.push({name, begin: this.start[i], end: finish});
      }
    }
  }

  tierOf(buffer) {
    return this.bufferKind[buffer] % TIERS;
  }

  categoryOf(buffer) {
    return Math.floor(this.bufferKind[buffer] / TIERS);
  }

  // "mm, backward of layer 3"; `row` -1: there before the step.
  describe(row) {
    if (row < 0) return "there before the step";
    const layer = this.layer[row] < 0 ? "" : ` of layer ${this.layer[row]}`;
    const phase = this.words.phases[this.phase[row]].replaceAll("_", " ");
    return `${this.names[this.name[row]]}, ${phase}${layer}`;
  }

  // The row of the instance that runs on a lane at a time; -1: none.
  running(lane, time) {
    const at = lastNotAbove(lane.start, time);
    if (at < 0) return -1;
    const row = lane.rows[at];
    return time < this.start[row] + this.duration[row] ? row : -1;
  }

  // Why the compute stream stands still at a time: a row of stalls; -1: it does not.
  stallAt(time) {
    const at = lastNotAbove(this.stallBegin, time);
    return at >= 0 && time < this.stallBegin[at] + this.stallDuration[at] ? at : -1;
  }

  // The largest buffers alive in a tier after an event, by size.
  largest(tier, event, count) {
    const found = [];
    for (let b = 0; b < this.bufferBytes.length; ++b) {
      if (this.allocatedAt[b] > event) break;  // they stand in this order
      if (this.freedAt[b] <= event || this.tierOf(b) !== tier) continue;
      const bytes = this.bufferBytes[b];
      if (found.length === count && bytes <= this.bufferBytes[found[count - 1]]) continue;
      let at = found.length;
      while (at > 0 && this.bufferBytes[found[at - 1]] < bytes) --at;
      found.splice(at, 0, b);
      if (found.length > count) found.pop();
    }
    return found;
  }

  // All buffers alive in a tier after an event.
  alive(tier, event) {
    const found = [];
    for (let b = 0; b < this.bufferBytes.length && this.allocatedAt[b] <= event; ++b) {
      if (this.freedAt[b] > event && this.tierOf(b) === tier) found.push(b);
    }
    return found;
  }

  // The row of a tier's events after which it held the most, the first of them; -1: none.
  peakRow(tier) {
    const {total} = this.tiers[tier];
    let best = total.length > 0 ? 0 : -1;
    for (let i = 1; i < total.length; ++i) {
      if (total[i] > total[best]) best = i;
    }
    return best;
  }
}

// Rows of a tier's events to draw between two times with `buckets` equal parts: of each part the
// first lowest, the first highest and the last row, so that no peak is lost; and the row before.
function rowsToDraw(times, totals, from, to, buckets) {
  const rows = [];
  let first = Math.max(0, lastNotAbove(times, from));
  const end = lastNotAbove(times, to) + 1;
  if (end - first <= 3 * buckets) {
    for (let i = first; i < end; ++i) rows.push(i);
    return rows;
  }
  const width = (to - from) / buckets;
  while (first < end) {
    const bucket = Math.floor((times[first] - from) / width);
    let lowest = first;
    let highest = first;
    let last = first;
    for (let i = first; i < end && Math.floor((times[i] - from) / width) === bucket; ++i) {
      if (totals[i] < totals[lowest]) lowest = i;
      if (totals[i] > totals[highest]) highest = i;
      last = i;
    }
    const [a, b] = lowest < highest ? [lowest, highest] : [highest, lowest];
    rows.push(a);
    if (b !== a) rows.push(b);
    if (last !== b) rows.push(last);
    first = last + 1;
  }
  return rows;
}
