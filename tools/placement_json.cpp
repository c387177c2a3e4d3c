#include "tools/placement_json.hpp"

namespace tidemark::tools {

nlohmann::ordered_json placement_json(const PlacementNote& note) {
  using Json = nlohmann::ordered_json;
  const auto gap = note.gap();
  return {{"budget_bytes", note.budget.count},
          {"peak_bytes", note.peak.count},
          {"met", note.met},
          {"simulations", note.simulations},
          {"planned_for_bytes", note.proxy.count},
          {"method", note.method.empty() ? Json(nullptr) : Json(note.method)},
          {"recompute_s", seconds(note.recompute)},
          {"cost_s", note.cost ? Json(seconds(*note.cost)) : Json(nullptr)},
          {"bound_s", note.bound ? Json(seconds(*note.bound)) : Json(nullptr)},
          {"gap", gap ? Json(*gap) : Json(nullptr)},
          {"moved_to_host_bytes", note.to_host.count},
          {"moved_to_ssd_bytes", note.to_ssd.count}};
}

}  // namespace tidemark::tools
