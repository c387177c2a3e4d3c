// The hold model with SimGrid's kernel timers, the cheapest way it has to make something happen
// later. Usage: simgrid_timers PENDING EVENTS. Prints events per second of processor time.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "tools/bench/random_sizes.hpp"

namespace {

struct Hold {
  std::vector<std::int64_t> delays = tidemark::bench::exponential(1 << 16, 1e6);
  std::size_t next = 0;
  long left = 0;

  double delay() { return static_cast<double>(delays[next++ & 0xffff]) * 1e-6; }
  void fire() {
    if (--left > 0) again(simgrid::s4u::Engine::get_clock());
  }
  void again(double now) {
    simgrid::kernel::timer::Timer::set(now + delay(), [this] { fire(); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  simgrid::s4u::Engine engine(&argc, argv);
  const long pending = std::atol(argv[1]);
  Hold hold;
  hold.left = std::atol(argv[2]);
  auto* zone = simgrid::s4u::create_full_zone("root");
  auto* host = zone->create_host("host", 1e9);
  zone->seal();
  for (long i = 0; i < pending; ++i) hold.again(0);
  const std::clock_t begin = std::clock();
  // The engine runs as long as an actor lives; this one only looks whether all is done.
  simgrid::s4u::Actor::create("watch", host, [&] {
    while (hold.left > 0) simgrid::s4u::this_actor::sleep_for(100);
    std::printf("%.0f\n", static_cast<double>(std::atol(argv[2])) * CLOCKS_PER_SEC /
                              static_cast<double>(std::clock() - begin));
    std::fflush(stdout);
    std::_Exit(0);
  });
  engine.run();
}
