#!/usr/bin/env python3
"""Replays logs of PyTorch's real CUDA caching allocator against Tidemark's model of it.

usage: replay_allocator_logs.py LOGS TESTS [WORK]

LOGS is a folder of *.jsonl.gz, TESTS the sim_tests executable. A log holds, as JSON lines,
  {"allocator_settings": ..., "end_segments": [{"addr", "size", "stream", "pool", "blocks":
      [[address, size, requested size, state], ...]}, ...]}
  [action, address, size, stream, microseconds] for each event, oldest first.
A log begins in the middle of a run. The state at its start follows from its end by going backwards:
what is in use is known at each step, and free neighbours are always merged, so that every gap is one
free block. Only the size of a block that is in use at the start and freed later has to be inferred. In
the large pool a block may be up to 1 MiB larger than its request, and is itself always larger than
1 MiB. So a gap of up to 1 MiB behind a block belongs to it, and in a larger gap the block ends where
the first allocation within that 1 MiB begins, as long as the block is in use. Each log becomes a plain text file in WORK (default: a temporary folder), and the test
"the model repeats the logs of real allocators" reads them all.
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
UNKNOWN = -1  # requested size of a block that was already free at the start


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


def start_state(end_segments, events):
    """Segments at the start: {address: (size, stream, pool, [(address, size, requested, state)])}."""
    segments = {s["addr"]: (s["size"], s["stream"], s["pool"]) for s in end_segments}
    live = {}  # address -> (requested, block size or None)
    for segment in end_segments:
        for address, size, requested, state in segment["blocks"]:
            if state == "active_allocated":
                live[address] = (requested, size)
            elif state != "inactive":
                raise SystemExit(f"a block that is {state} at the end is not supported")
    for action, address, size, stream, _ in reversed(events):
        if action == "alloc":
            del live[address]
        elif action == "free_completed":
            live[address] = (size, None)
        elif action == "segment_alloc":
            del segments[address]
        elif action == "segment_free":
            segments[address] = (size, stream, "small" if size == 2 * MIB else "large")
        elif action != "free_requested":
            raise SystemExit(f"action {action} is not supported")
    ends = {}  # where a block that is in use from the start ends, as later events show
    unseen = {a: a + rounded(r) for a, (r, size) in live.items() if size is None}
    for action, address, _, _, _ in events:
        if action == "free_requested":
            unseen.pop(address, None)
        elif action == "alloc":
            for below, end in unseen.items():
                if end <= address <= end + MIB:
                    ends.setdefault(below, address)
    result = {}
    addresses = sorted(live)
    for base in sorted(segments):
        size, stream, pool = segments[base]
        within = [a for a in addresses if base <= a < base + size]
        blocks, at = [], base
        for i, address in enumerate(within):
            if address > at:
                blocks.append((at, address - at, UNKNOWN, "inactive"))
            requested, block = live[address]
            following = within[i + 1] if i + 1 < len(within) else base + size
            if block is None:
                block = rounded(requested)
                gap = following - address - block
                if pool == "large" and gap <= MIB:
                    block += gap
                elif pool == "large" and address in ends:
                    block = ends[address] - address
            blocks.append((address, block, requested, "active_allocated"))
            at = address + block
        if at < base + size:
            blocks.append((at, base + size - at, UNKNOWN, "inactive"))
        result[base] = (size, stream, pool, blocks)
    return result


def write_replay(log, path):
    lines = [json.loads(line) for line in gzip.open(log, "rt")]
    head, events = lines[0], lines[1:]
    end = {s["addr"]: (s["size"], s["stream"], s["pool"], s["blocks"]) for s in head["end_segments"]}
    with open(path, "w") as out:
        print("settings", head["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"], file=out)
        for prefix, state in (("start", start_state(head["end_segments"], events)), ("end", end)):
            for base in sorted(state):
                size, stream, pool, blocks = state[base]
                if stream != 0:
                    raise SystemExit("only the default stream is supported")
                print(f"{prefix}_segment", base, size, pool, file=out)
                for block in blocks:
                    print(f"{prefix}_block", *block, file=out)
        for action, address, size, _, _ in events:
            print("event", action, address, size, file=out)


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(sys.argv[3] if len(sys.argv) == 4 else temporary)
        work.mkdir(parents=True, exist_ok=True)
        logs = sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl.gz"))
        if not logs:
            raise SystemExit(f"no *.jsonl.gz in {sys.argv[1]}")
        for log in logs:
            write_replay(log, work / (log.name.removesuffix(".jsonl.gz") + ".replay"))
        environment = dict(os.environ, TIDEMARK_ALLOCATOR_LOGS=str(work))
        return subprocess.run([sys.argv[2], "[allocator-logs]", "-s"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
