#include "sim/allocators/listed.hpp"
