#include <cstdio>

#include "graph/lower.hpp"
#include "graph/plan.hpp"
#include "scenarios/load.hpp"
#include "sim/executor.hpp"

int main() { return 0; }
