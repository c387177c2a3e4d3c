#pragma once
// The most heap that a piece of work has at once. To be included by one file of an executable, for
// it replaces the global operators new and delete. Of one thread.

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tidemark::bench {

inline std::int64_t heap_now = 0, heap_most = 0;

// Bytes beside what was there before `work`.
template <class Work>
double heap_peak(const Work& work) {
  const std::int64_t before = heap_now;
  heap_most = heap_now;
  work();
  return static_cast<double>(heap_most - before);
}

}  // namespace tidemark::bench

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  tidemark::bench::heap_now += static_cast<std::int64_t>(malloc_usable_size(block));
  tidemark::bench::heap_most = std::max(tidemark::bench::heap_most, tidemark::bench::heap_now);
  return block;
}

void operator delete(void* block) noexcept {
  if (block != nullptr) {
    tidemark::bench::heap_now -= static_cast<std::int64_t>(malloc_usable_size(block));
  }
  std::free(block);
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
