#include "graph/offload/pool.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {

Pool::Pool(Mover& mover, std::int64_t most, std::size_t turns, Bytes bytes, const std::string& name)
    : mover_(mover) {
  ensure(most > 0, "a pool has a buffer");
  const std::size_t count = std::min(static_cast<std::size_t>(most), turns);
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(
        {mover.keep_on_host(Category::kStaging, bytes, name + ' ' + std::to_string(i)), i, {}});
  }
}

void Pool::begin(std::size_t turn, InstanceId first) {
  Slot& taken = slot(turn);
  for (const InstanceId before : taken.free_after) mover_.depend(first, before);
  taken.free_after.clear();
  taken.turn = turn;
  mover_.use(first, taken.buffer);
}

void Pool::use(std::size_t turn, InstanceId instance) {
  ensure(slot(turn).turn == turn, "a buffer is used in its turn");
  mover_.use(instance, slot(turn).buffer);
}

void Pool::end(std::size_t turn, InstanceId last) {
  use(turn, last);
  slot(turn).free_after.push_back(last);
}

}  // namespace tidemark
