#!/usr/bin/env python3
"""Draws what HBM holds over one step, by category. Needs matplotlib.

    tools/python/plot_memory.py scenarios/7b-on-80gb.yaml 'checkpoint every block' memory.png
"""

import sys

import matplotlib
matplotlib.use("Agg")  # a file, no window
import matplotlib.pyplot as plt

import tidemark


def levels(records, tier):
    """Times, and for each category its level at each of them."""
    records = [record for record in records if record["tier"] == tier]
    categories = sorted({record["category"] for record in records})
    times = []
    by_category = {category: [] for category in categories}
    now = dict.fromkeys(categories, 0)
    for record in records:
        now[record["category"]] = record["bytes"]
        times.append(record["time_s"])
        for category in categories:
            by_category[category].append(now[category] / 1e9)
    return times, by_category


def main(scenario, strategy, target):
    times, by_category = levels(tidemark.timeline(scenario, strategy), "hbm")
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    colours = plt.get_cmap("tab20").colors
    axes.stackplot(times, by_category.values(), labels=by_category.keys(), colors=colours, step="post")
    axes.set(title=strategy, xlabel="time in the step, s", ylabel="HBM, GB")
    axes.margins(x=0)
    axes.legend(loc="upper left", fontsize="small")
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
