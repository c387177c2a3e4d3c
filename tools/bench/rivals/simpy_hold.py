"""The hold model in SimPy, old (2.x) or new. Usage: simpy_hold.py PENDING EVENTS.

Prints events per second of processor time.
"""

import math
import sys
import time


def exponential(count, mean):
    """The draws of tools/bench/random_sizes.hpp."""
    state, drawn = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        u = ((state >> 33) + 1) / 2147483649.0
        drawn.append(1 + int(-mean * math.log(u)))
    return drawn


def hold_with_simpy_2(pending, events, delays):
    from SimPy.Simulation import Process, Simulation, hold

    simulation = Simulation()
    left = [events]

    class Timer(Process):
        def live(self, i):
            while left[0] > 0:
                left[0] -= 1
                i = (i + pending) % len(delays)
                yield hold, self, delays[i]
            self.sim.stopSimulation()

    simulation.initialize()
    for i in range(pending):
        timer = Timer(sim=simulation)
        simulation.activate(timer, timer.live(i))
    simulation.simulate(until=1e300)


def hold_with_simpy_3(pending, events, delays):
    import simpy

    environment = simpy.Environment()
    left = [events]
    over = environment.event()

    def live(i):
        while left[0] > 0:
            left[0] -= 1
            i = (i + pending) % len(delays)
            yield environment.timeout(delays[i])
        if not over.triggered:
            over.succeed()

    for i in range(pending):
        environment.process(live(i))
    environment.run(until=over)


def main():
    pending, events = int(sys.argv[1]), int(sys.argv[2])
    delays = exponential(1 << 16, 1e6)
    try:
        import simpy  # noqa: F401

        run = hold_with_simpy_3
    except ImportError:
        run = hold_with_simpy_2
    begin = time.process_time()
    run(pending, events, delays)
    print(round(events / (time.process_time() - begin)))


main()
