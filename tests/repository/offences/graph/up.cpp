#include "graph/ids.hpp"
#include "sim/result.hpp"
#include <yaml-cpp/yaml.h>
#include "result.hpp"
