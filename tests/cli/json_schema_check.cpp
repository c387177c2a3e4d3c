// json_schema_check SCHEMA FILE...: exit status 0 if each file is JSON that the schema accepts,
// with no name beyond those that it lists.

#include <fstream>
#include <iostream>

#include "tests/support/json_schema.hpp"

int main(int argc, char** argv) {
  bool accepted = argc > 2;
  try {
    const auto read = [](const char* path) {
      std::ifstream file(path);
      return nlohmann::json::parse(file);
    };
    const tidemark::test::JsonSchema schema(tidemark::test::closed(read(argv[1])));
    for (int i = 2; i < argc; ++i) {
      for (const std::string& fault : schema.faults(read(argv[i]))) {
        std::cerr << argv[i] << fault << '\n';
        accepted = false;
      }
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return accepted ? 0 : 1;
}
