// K transfers always in flight on one link of 26 GB/s, shared fairly by SimGrid's CM02 model with
// the effects of TCP switched off. Usage: simgrid_links K COMPLETIONS. Prints completions per
// second.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>

#include "tools/bench/random_sizes.hpp"

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/bandwidth-factor:1.0");
  sg4::Engine::set_config("network/latency-factor:1.0");
  sg4::Engine::set_config("network/weight-S:0.0");
  const long in_flight = std::atol(argv[1]);
  const long completions = std::atol(argv[2]);
  auto* zone = sg4::create_full_zone("root");
  auto* from = zone->create_host("from", 1e9);
  auto* to = zone->create_host("to", 1e9);
  auto* link = zone->create_link("link", 26e9)->set_latency(0)->seal();
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                  {sg4::LinkInRoute(link)}, true);
  zone->seal();

  const std::vector<std::int64_t> sizes = tidemark::bench::exponential(1 << 16, 64e6);
  std::size_t next = 0;
  long done = 0;
  const std::clock_t begin = std::clock();
  for (long k = 0; k < in_flight; ++k) {
    sg4::Actor::create("sender", from, [&] {
      for (;;) {
        sg4::Comm::sendto(from, to, static_cast<std::uint64_t>(sizes[next++ & 0xffff]));
        if (++done < completions) continue;
        std::printf("%.0f\n", static_cast<double>(completions) * CLOCKS_PER_SEC /
                                  static_cast<double>(std::clock() - begin));
        std::fflush(stdout);
        std::_Exit(0);
      }
    });
  }
  engine.run();
}
