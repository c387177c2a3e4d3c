#pragma once
// A step's memory as torch.cuda.memory._dump_snapshot() would have written it, for
// pytorch.org/memory_viz: segments with their blocks at the end of the step, and every event of the
// allocator before that, each with frames that name the tensor, the op with its layer, and the
// phase.

#include <string_view>

#include "tools/exports/document.hpp"
#include "tools/exports/memory_recording.hpp"

namespace tidemark::tools {

// `step.limited` is what was recorded. `settings` as in PYTORCH_CUDA_ALLOC_CONF.
void write_snapshot(const PlayedStep& step, const MemoryRecording& recording,
                    std::string_view settings, Document& out);

}  // namespace tidemark::tools
