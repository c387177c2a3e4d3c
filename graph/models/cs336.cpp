#include "graph/models/architectures.hpp"
#include "hardware/ensure.hpp"
namespace tidemark {
std::unique_ptr<Script> make_cs336(Tape&, const LoweringInput&) { throw InternalError("cs336"); }
}  // namespace tidemark
