"""Runs Tidemark's benchmarks and the rivals in turn and prints medians and ratios.

Usage: compare.py FOLDER_OF_EXECUTABLES [ROUNDS]

Each measurement is a process of its own and counts its processor time; every round runs all of them
in another order, because the machine may be shared. The ratio is that of the medians; its range is that of the rounds' own ratios.
"""

import csv
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FOLDER = pathlib.Path(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7


def ours(program, name):
    """Items per second of processor time of one benchmark."""
    command = [FOLDER / program, f"--benchmark_filter=^{name}$", "--benchmark_min_time=0.2",
               "--benchmark_format=csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    row = next(csv.DictReader(text[text.index("name,"):].splitlines()))
    return float(row["items_per_second"])


def rival(*command):
    text = subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout
    return float(text)


MEASUREMENTS = {
    "queue, 1e3": lambda: ours("event_queue_bench", "hold/1000"),
    "queue, 1e5": lambda: ours("event_queue_bench", "hold/100000"),
    "SimGrid timers, 1e3": lambda: rival(FOLDER / "simgrid_timers", 1000, 300000),
    "SimGrid timers, 1e5": lambda: rival(FOLDER / "simgrid_timers", 100000, 200000),
    "SimPy, 1e3": lambda: rival("/usr/bin/python3", HERE / "simpy_hold.py", 1000, 100000),
    "link, K = 4": lambda: ours("links_bench", "one_link/4"),
    "link, K = 100": lambda: ours("links_bench", "one_link/100"),
    "link, K = 1000": lambda: ours("links_bench", "one_link/1000"),
    "five links, K = 4": lambda: ours("links_bench", "five_links/4"),
    "five links, K = 100": lambda: ours("links_bench", "five_links/100"),
    "five links, K = 1000": lambda: ours("links_bench", "five_links/1000"),
    "SimGrid link, K = 4": lambda: rival(FOLDER / "simgrid_links", 4, 30000),
    "SimGrid link, K = 100": lambda: rival(FOLDER / "simgrid_links", 100, 10000),
    "executor, 20 000": lambda: ours("executor_bench", "run_step/20000"),
    "executor, 1 000 000": lambda: ours("executor_bench", "run_step/1000000"),
}

# What should be how many times what: (name, faster, slower, aim, at least or at most).
RATIOS = [
    ("queue to SimGrid timers, 1e3 pending", "queue, 1e3", "SimGrid timers, 1e3", 6, "at least"),
    ("queue to SimGrid timers, 1e5 pending", "queue, 1e5", "SimGrid timers, 1e5", 0, "at least"),
    ("queue to SimPy, 1e3 pending", "queue, 1e3", "SimPy, 1e3", 20, "at least"),
    ("link to SimGrid, K = 4", "link, K = 4", "SimGrid link, K = 4", 0, "at least"),
    ("link to SimGrid, K = 100", "link, K = 100", "SimGrid link, K = 100", 100, "at least"),
    ("one completion, K = 1000 to K = 4", "link, K = 4", "link, K = 1000", 4, "at most"),
    ("the same with five links", "five links, K = 4", "five links, K = 1000", 4, "at most"),
]


def main():
    found = {name: [] for name in MEASUREMENTS}
    order = list(MEASUREMENTS)
    shuffle = random.Random(1).shuffle
    for _ in range(ROUNDS):
        shuffle(order)
        for name in order:
            found[name].append(MEASUREMENTS[name]())
    print(f"| what | M/s, median of {ROUNDS} | lowest | highest |\n|---|---:|---:|---:|")
    for name, rates in found.items():
        figures = [statistics.median(rates), min(rates), max(rates)]
        print(f"| {name} | " + " | ".join(f"{rate / 1e6:.3g}" for rate in figures) + " |")
    print("\n| ratio | median | range | aim |\n|---|---:|---:|---:|")
    missed = False
    for name, above, below, aim, sense in RATIOS:
        each = [a / b for a, b in zip(found[above], found[below])]
        ratio = statistics.median(found[above]) / statistics.median(found[below])
        met = ratio >= aim if sense == "at least" else ratio <= aim
        missed = missed or not met
        goal = f"{sense} {aim}" + ("" if met else ", MISSED") if aim else "-"
        print(f"| {name} | {ratio:.3g} | {min(each):.3g} to {max(each):.3g} | {goal} |")
    sys.exit(1 if missed else 0)


main()
