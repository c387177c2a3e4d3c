#pragma once
// Names as people say them, for sentences. Quantities: hardware/quantity.hpp.

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/category.hpp"
#include "graph/op.hpp"
#include "hardware/machine.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

// "backward of layer 3, softmax_backward"; parts that are not there are left out.
std::string place(std::string_view phase, std::int16_t layer, std::string_view op);

// "HBM", "host memory", "the SSD"
std::string_view spoken(Tier tier);
// "PCIe to the GPU", "the CPU's optimizer step", …
std::string_view spoken(sim::StallCause cause);
// "attention", "projection"; "-" outside of all parts.
std::string_view spoken(Module module);
// "optimizer states"
std::string spoken(Category category);

}  // namespace tidemark::tools
