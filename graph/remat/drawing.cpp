#include "graph/remat/drawing.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <locale>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/quantity.hpp"

namespace tidemark::remat {

namespace {

struct Vertex {
  std::string label;
  const char* style = "";
};

// Both ways, whose list of edges g++ 12 does not take for uninitialized.
using Picture = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Vertex>;

const char* style_of(Drawn fate) {
  switch (fate) {
    case Drawn::kKept:
      return "shape=ellipse, style=filled, fillcolor=lightblue";
    case Drawn::kRecomputed:
      return "shape=ellipse, style=dashed";
    case Drawn::kMoved:
      return "shape=ellipse, style=filled, fillcolor=orange";
    case Drawn::kGone:
      return "shape=ellipse, color=gray";
  }
  return "";
}

// What the shapes and colours stand for, as a part of the picture.
std::string legend() {
  std::string text =
      "subgraph cluster_legend {\nlabel=\"what is what\";\n"
      "legend_op [label=\"an op of the block's forward\", shape=box];\n";
  const auto row = [&](const char* id, const char* words, Drawn fate) {
    text += std::string(id) + " [label=\"" + words + "\", " + style_of(fate) + "];\n";
  };
  row("legend_kept", "kept from forward to backward", Drawn::kKept);
  row("legend_again", "made again for backward", Drawn::kRecomputed);
  row("legend_moved", "off the GPU meanwhile", Drawn::kMoved);
  row("legend_gone", "backward does not need it", Drawn::kGone);
  return text + "}\n";
}

std::string short_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

}  // namespace

std::string drawn_block(const StepGraph& graph, int layer, std::span<const Drawn> fate) {
  Picture picture;
  std::map<std::uint32_t, Picture::vertex_descriptor> tensors;
  const auto vertex_of = [&](TensorId tensor) {
    const auto found = tensors.find(index(tensor));
    if (found != tensors.end()) return found->second;
    const Tensor& t = graph.tensor(tensor);
    const auto vertex =
        boost::add_vertex(Vertex{short_name(graph.name(t.name)) + "\\n" + format_bytes(t.bytes),
                                 style_of(fate[index(tensor)])},
                          picture);
    tensors.emplace(index(tensor), vertex);
    return vertex;
  };
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId id{i};
    const Op& op = graph.op(id);
    if (op.phase == Phase::kBackward) break;
    if (op.phase != Phase::kForward || op.layer != layer) continue;
    const auto box = boost::add_vertex(Vertex{std::string(name_of(op.kind)), "shape=box"}, picture);
    for (const TensorId input : graph.inputs_of(id)) {
      if (!graph.tensor(input).initial()) boost::add_edge(vertex_of(input), box, picture);
    }
    for (const TensorId output : graph.outputs_of(id)) {
      boost::add_edge(box, vertex_of(output), picture);
    }
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  boost::write_graphviz(out, picture, [&](std::ostream& to, Picture::vertex_descriptor vertex) {
    to << "[label=\"" << picture[vertex].label << "\", " << picture[vertex].style << "]";
  });
  std::string text = out.str();
  text.insert(text.rfind('}'), legend());
  return text;
}

}  // namespace tidemark::remat
