#include "sim/allocators/table.hpp"

#include <array>

#include "sim/allocators/ideal.hpp"

namespace tidemark::sim {
namespace {

std::optional<std::string> check_ideal(std::string_view settings) {
  if (settings.empty()) return std::nullopt;
  return "the ideal allocator has no settings";
}

std::unique_ptr<Allocator> make_ideal(Bytes capacity, std::string_view) {
  return std::make_unique<IdealAllocator>(capacity);
}

constexpr auto kKinds = std::to_array<AllocatorKind>({
    {"ideal", "live bytes only: no rounding, no fragmentation", {}, check_ideal, make_ideal},
});

}  // namespace

std::span<const AllocatorKind> allocator_kinds() { return kKinds; }

const AllocatorKind* find_allocator(std::string_view name) {
  for (const AllocatorKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace tidemark::sim
