#include "tools/terminal.hpp"

#include "tests/support/catch.hpp"
#include "tools/progress.hpp"
#include "tools/text_table.hpp"

using namespace tidemark::tools;

namespace {

constexpr TerminalFacts kTerminal{true, false, true};
constexpr TerminalFacts kPipe{false, false, true};

}  // namespace

TEST_CASE("colours are for terminals, unless somebody says otherwise") {
  CHECK(shows_colors({"auto", false}, kTerminal));
  CHECK_FALSE(shows_colors({"auto", false}, kPipe));
  CHECK_FALSE(shows_colors({"auto", false}, {true, true, true}));  // NO_COLOR
  CHECK(shows_colors({"always", false}, {false, true, true}));     // the option is nearer
  CHECK_FALSE(shows_colors({"never", false}, kTerminal));
}

TEST_CASE("a terminal of another charset gets ASCII, a file gets UTF-8 whatever the locale") {
  CHECK(shows_unicode({"auto", false}, kTerminal));
  CHECK_FALSE(shows_unicode({"auto", false}, {true, false, false}));
  CHECK(shows_unicode({"auto", false}, {false, false, false}));
  CHECK_FALSE(shows_unicode({"auto", true}, kPipe));
}

TEST_CASE("escape sequences stand around the text of a cell and move no column") {
  TextTable table({{"name", Align::kLeft}, {"fits", Align::kLeft}, {"GB"}});
  table.add_row({"two words", "no", "7"});
  table.set_ink(0, Ink::kStrong);
  table.set_ink(1, Ink::kBad);
  table.add_detail("more");
  const std::string plain = table.render(40);
  CHECK(plain ==
        "name       fits  GB\n"
        "two words  no     7\n"
        "    more\n");
  CHECK(table.render(40, true) ==
        "name       fits  GB\n"
        "\x1b[1mtwo words\x1b[0m  \x1b[31mno\x1b[0m     7\n"
        "    \x1b[2mmore\x1b[0m\n");
}

TEST_CASE("a cell that continues on the next line has its ink on both") {
  TextTable table({{"name", Align::kLeft, 4}});
  table.add_row({"one two"});
  table.set_ink(0, Ink::kGood);
  CHECK(table.render(40, true) == "name\n\x1b[32mone\x1b[0m\n\x1b[32mtwo\x1b[0m\n");
}

TEST_CASE("the bar says what is done and what is left at the same pace") {
  // 3 s for 10 runs are 0.3 s each: 9 s for 30.
  CHECK(progress_line(10, 40, "runs simulated", 3.0) ==
        "[#####---------------] 10 of 40 runs simulated, 9 s left");
  CHECK(progress_line(0, 40, "runs simulated", 2.0) ==
        "[--------------------] 0 of 40 runs simulated, 2 s so far");
  CHECK(progress_line(40, 40, "runs simulated", 12.0) ==
        "[####################] 40 of 40 runs simulated, 0 s left");
  CHECK(progress_line(39, 40, "runs simulated", 39.0) ==
        "[###################-] 39 of 40 runs simulated, 1 s left");
  CHECK(progress_line(12, 0, "steps", 9.0) == "12 steps, 9 s so far");
}
