#include "tools/text_table.hpp"

#include "tests/support/catch.hpp"

using tidemark::tools::Align;
using tidemark::tools::text_width;
using tidemark::tools::TextTable;
using tidemark::tools::wrap;

TEST_CASE("text is as wide as it has characters, not bytes") {
  CHECK(text_width("") == 0);
  CHECK(text_width("7B") == 2);
  CHECK(text_width("größer") == 6);
}

TEST_CASE("text breaks at blanks, and only where it would be too wide") {
  CHECK(wrap("one two", 7) == std::vector<std::string>{"one two"});
  CHECK(wrap("one two", 6) == std::vector<std::string>{"one", "two"});
  CHECK(wrap("one unbreakable two", 5) == std::vector<std::string>{"one", "unbreakable", "two"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
}

TEST_CASE("a number stays with its unit") {
  CHECK(wrap("waits 33.3 % of", 12) == std::vector<std::string>{"waits 33.3 %", "of"});
  CHECK(wrap("waits 33.3 % of", 11) == std::vector<std::string>{"waits", "33.3 % of"});
}

TEST_CASE("columns are as wide as their widest cell, numbers stand at the right") {
  TextTable table({{"name", Align::kLeft}, {"GB"}});
  table.add_row({"a", "142.6"});
  table.add_row({"longer", "0.5"});
  CHECK(table.render(100) ==
        "name       GB\n"
        "a       142.6\n"
        "longer    0.5\n");
}

TEST_CASE("a cell that is too wide continues on the next line, details are indented") {
  TextTable table({{"strategy", Align::kLeft, 10}, {"fits"}});
  table.add_row({"checkpoint every block", "no"});
  table.add_detail("short by 62 GB");
  CHECK(table.render(16) ==
        "strategy    fits\n"
        "checkpoint    no\n"
        "every\n"
        "block\n"
        "    short by\n"
        "    62 GB\n");
}
