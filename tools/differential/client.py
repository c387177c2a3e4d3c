#!/usr/bin/python3
"""What PyTorch's own autograd allocates in a training step, for one configuration or a list.

usage: client.py CONFIG.json|-        prints one JSON result (a list for a list)
       client.py --ops CONFIG.json    prints the second step op by op

Needs Debian's python3-torch (README.md: what else on 2.x); no tensor has memory, so that sizes cost
neither memory nor time. config.py says what a configuration looks like.
"""
import json
import sys

import config
import measure


def print_ops(watch, step):
    for number in range(step["first_op"], step["end_op"]):
        op = watch.ops[number]
        made = " ".join(f"+[{s.size},{s.dtype},{'x'.join(map(str, s.shape))}]" for s in op.made)
        freed = " ".join(f"-[{s.size}]" for s in sorted(
            (s for s in watch.storages if s.died == number), key=lambda s: -s.size))
        print(number - step["first_op"], measure.short(op.name), op.phase, op.place or "-", op.live,
              made, freed)


def main(arguments):
    with_ops = "--ops" in arguments
    names = [a for a in arguments if a != "--ops"]
    if len(names) != 1:
        sys.exit(__doc__)
    with (sys.stdin if names[0] == "-" else open(names[0], encoding="utf-8")) as file:
        document = json.load(file)
    if with_ops:
        watch, steps, _ = measure.record(config.parse(document))
        print_ops(watch, steps[1])
    elif isinstance(document, list):
        print(json.dumps([measure.measure(config.parse(d)) for d in document]))
    else:
        print(json.dumps(measure.measure(config.parse(document)), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
