#!/usr/bin/python3
"""Random configurations through Tidemark and through PyTorch's autograd: equal to the byte?

usage: differential.py --tidemark BUILD/tidemark [--seed N] [--count N] [--architectures gpt,llama]
           compares the configurations of seeds N, N+1, ..., shrinks what differs; exit 1 if any
           does
       differential.py --record FILE [--seed N] [--count N]
           writes autograd's own results for these seeds (tests/data/autograd/drawn.csv)

Needs Debian's python3-torch; README.md says what it takes on 2.x.
"""
import argparse
import csv
import sys

import torch

import compare
import config
import draw
import framework
import measure
import rows
import tidemark

BATCH = 50  # configurations in one scenario


def differing(command, documents):
    """What differs in each configuration; the text of a refusal differs too."""
    expected = [measure.measure(config.parse(d)) for d in documents]
    try:
        results = tidemark.run(command, documents)
    except tidemark.Failed as failure:
        if len(documents) == 1:
            return [{"Tidemark refuses": (str(failure), "")}]
        return [differing(command, [d])[0] for d in documents]
    return [compare.differences(r, e) for r, e in zip(results, expected)]


def shrink(command, document, first):
    """The smallest configuration found in which one of the same quantities still differs."""
    wanted = set(first)
    found = first
    progress = True
    while progress:
        progress = False
        candidates = list(draw.smaller(document))
        for candidate, difference in zip(candidates, differing(command, candidates)):
            if wanted & set(difference):
                document, found, progress = candidate, difference, True
                break
    return document, found


def describe(document):
    model, training, kernels = document["model"], document["training"], document["kernels"]
    checkpoint = document["checkpoint"]
    changed = [f"{key}={kernels[key]}" for key, values in draw.options(
        model["architecture"]).items() if kernels[key] != values[0]]
    if checkpoint["policy"] != "none":
        what = (f"keep {checkpoint['keep']}" if checkpoint["policy"] == "ops"
                else f"every {checkpoint['n']}")
        changed.append(what + (" every second" if checkpoint.get("every_second") else "")
                       + ("" if checkpoint.get("reentrant", True) else " again")
                       + (" early stop" if checkpoint.get("early_stop") else ""))
    return (f"{model['architecture']:5} L{model['layers']} h{model['hidden']} a{model['heads']} "
            f"s{training['sequence']} b{training['micro_batch']}x{training['micro_batches']} "
            f"{training['precision']} {' '.join(changed)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tidemark", default="build/tidemark")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--architectures", default="gpt,gpt2,llama")
    parser.add_argument("--selective", action="store_true",
                        help="each block under a selective checkpoint (2.4 and later)")
    parser.add_argument("--record")
    parser.add_argument("--no-shrink", action="store_true")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    drawn = [draw.draw(seed, arguments.architectures.split(",")) for seed in seeds]
    if framework.LATER:
        drawn = [draw.for_later(seed, document) for seed, document in zip(seeds, drawn)]
    if arguments.selective:
        drawn = [draw.selectively(seed, document) for seed, document in zip(seeds, drawn)]
    if arguments.record:
        with open(arguments.record, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows.columns(arguments.selective), lineterminator="\n")
            writer.writeheader()
            for seed, document in zip(seeds, drawn):
                writer.writerow(rows.row(f"seed-{seed}", f"PyTorch {torch.__version__}", document,
                                         measure.measure(config.parse(document))))
        return 0
    failures = 0
    for begin in range(0, len(drawn), BATCH):
        batch = drawn[begin:begin + BATCH]
        for seed, document, found in zip(seeds[begin:], batch,
                                         differing(arguments.tidemark, batch)):
            print(f"{seed:6} {'equal  ' if not found else 'DIFFERS'} {describe(document)}")
            if found:
                failures += 1
                report(found)
                if not arguments.no_shrink:
                    document, found = shrink(arguments.tidemark, document, found)
                    print("   smallest: " + describe(document))
                    report(found)
                    print(tidemark.scenario([document], ["smallest"]), flush=True)
    print(f"{len(drawn) - failures} of {len(drawn)} agree to the byte")
    return 1 if failures else 0


def report(found):
    for quantity, (ours, theirs) in found.items():
        gap = f" ({ours - theirs:+})" if isinstance(ours, int) and isinstance(theirs, int) else ""
        print(f"       {quantity}: Tidemark {ours}, autograd {theirs}{gap}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
