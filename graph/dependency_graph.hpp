#pragma once
// What has to come before what in a step. Apart from step_graph.hpp, so that only who walks the
// graph pays for Boost's headers.

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>

#include "graph/step_graph.hpp"

namespace tidemark {

using DependencyGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, std::uint32_t, std::uint32_t>;

// Vertices are ops; an edge leads from the op that made (or last updated) a storage to each op that
// reads or updates it, and from its readers to the op that updates it next.
DependencyGraph dependency_graph(const StepGraph& graph);

}  // namespace tidemark
