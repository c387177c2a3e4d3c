#include "sim/allocators/out_of_memory.hpp"

#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

TEST_CASE("sizes are written as PyTorch writes them", "[caching]") {
  CHECK(pytorch_size(1024_B) == "1024 bytes");
  CHECK(pytorch_size(1025_B) == "1.00 KiB");
  CHECK(pytorch_size(1536_B) == "1.50 KiB");
  CHECK(pytorch_size(1_MiB) == "1024.00 KiB");
  CHECK(pytorch_size(20_MiB) == "20.00 MiB");
  CHECK(pytorch_size(1_GiB) == "1024.00 MiB");
  CHECK(pytorch_size(1_GiB + 1_B) == "1.00 GiB");
}

TEST_CASE("a refusal reads like PyTorch's", "[caching]") {
  AllocationFailure failure{3_MiB, 20_MiB, 80_GiB, 12_MiB, {}, 70_GiB, 8704_MiB};
  CHECK(pytorch_message(failure) ==
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 80.00 GiB "
        "of which 12.00 MiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, "
        "and 8.50 GiB is reserved by PyTorch but unallocated.");
  failure.allowed = 40_GiB;
  CHECK(pytorch_message(failure).find("is free. 40.00 GiB allowed; Of the") != std::string::npos);
}

}  // namespace
}  // namespace tidemark::sim
