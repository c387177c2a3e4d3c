#include "scenarios/parse.hpp"

#include <string>

#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

Value parse_whole(const std::string& text) {
  Diagnostics diagnostics;
  Value value = parse(source_of(text), diagnostics);
  diagnostics.throw_if_any();
  return value;
}

std::string first_error(const std::string& text) {
  Diagnostics diagnostics;
  parse(source_of(text), diagnostics);
  try {
    diagnostics.throw_if_any();
  } catch (const ScenarioError& error) {
    return error.diagnostics()[0].message;
  }
  return "none";
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST_CASE("values know their place, their text and whether it was in quotes") {
  const Value root = parse_whole("a: 1\nb:\n  - x\n  - \"2\"\n");
  REQUIRE(root.entries.size() == 2);
  const Value& one = root.entries[0].value;
  CHECK(one.text == "1");
  CHECK_FALSE(one.quoted);
  CHECK((one.mark.line == 1 && one.mark.column == 4));
  CHECK((root.entries[1].mark.line == 2 && root.entries[1].mark.column == 1));
  const Value& two = root.entries[1].value.items[1];
  CHECK(two.text == "2");
  CHECK(two.quoted);
  CHECK((two.mark.line == 4 && two.mark.column == 5));
}

TEST_CASE("a copy that an alias brings in knows both places") {
  const Value root = parse_whole("a: &x {k: 1}\nb: *x\n");
  const Mark& direct = root.entries[0].value.find("k")->mark;
  const Mark& copied = root.entries[1].value.find("k")->mark;
  CHECK((direct.line == 1 && direct.column == 11 && direct.alias_line == 0));
  CHECK((copied.line == 1 && copied.column == 11));
  CHECK((copied.alias_line == 2 && copied.alias_column == 4));
}

TEST_CASE("a value that is not there stands at its key") {
  const Value root = parse_whole("a:\nb: 1\n");
  CHECK(root.entries[0].value.kind == Value::Kind::kNull);
  CHECK((root.entries[0].value.mark.line == 1 && root.entries[0].value.mark.column == 1));
}

TEST_CASE("16 levels of nesting are read, 17 are refused, and so are 200,000") {
  CHECK(first_error(nested(16)) == "none");
  const std::string too_deep =
      "nested too deeply: more than 16 lists and mappings inside one another";
  CHECK(first_error(nested(17)) == too_deep);
  CHECK(first_error(nested(200'000)) == too_deep);
  std::string mappings;
  for (int i = 0; i < 5000; ++i) mappings += "{a: ";
  CHECK(first_error(mappings + "1" + std::string(5000, '}')) == too_deep);
  CHECK(first_error(std::string(200'000, '[')) != "none");  // never closed
}

TEST_CASE("aliases of aliases cannot blow up: their values are counted") {
  // Ten lists, each of ten aliases to the one before: 10^10 values written out.
  std::string text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    text += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + below;
    for (int j = 1; j < 10; ++j) text += ", " + below;
    text += "]\n";
  }
  CHECK(first_error(text) == "too many values: more than 50000");
}

TEST_CASE("aliases cannot nest deeper than written text") {
  std::string text = "- &a0 [x]\n";
  for (int i = 1; i < 20; ++i) {
    text += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  CHECK(first_error(text) ==
        "nested too deeply: more than 16 lists and mappings inside one another");
}

TEST_CASE("an empty text, blanks and a lone comment are an empty scenario") {
  CHECK(first_error("") == "the file is empty");
  CHECK(first_error("  \n\n") == "the file is empty");
  CHECK(first_error("# only this\n") == "the file is empty");
  CHECK(first_error("---\n") == "the file is empty");
  CHECK(first_error("null\n") == "the file is empty");
}

TEST_CASE("the places of bytes that are no text are found") {
  CHECK(first_error(std::string("a: \0", 4)) == "not a text file: it contains the byte 0x00");
  CHECK(first_error("a: \x7f") == "not a text file: it contains the byte 0x7f");
  CHECK(first_error("a: \xC3\xA9") == "none");
  CHECK(first_error("a: \xC3") == "not a text file in UTF-8: the byte 0xc3");
  CHECK(first_error("a: \xC0\xAF") == "not a text file in UTF-8: the byte 0xc0");
  CHECK(first_error("a: \xF4\x8F\xBF\xBF") == "none");  // U+10FFFF, the last one
  CHECK(first_error("a: \xF5\x80\x80\x80") == "not a text file in UTF-8: the byte 0xf5");
}

TEST_CASE("line ends of Windows and a byte order mark do no harm") {
  const Value root = parse_whole(
      "\xEF\xBB\xBF"
      "a: \"x\"\r\nb: 'y'\r\n");
  CHECK(root.find("a")->text == "x");
  CHECK(root.find("b")->text == "y");
  CHECK(root.entries[1].mark.line == 2);
}

TEST_CASE("quotes that close are told from those that do not") {
  CHECK(first_error(R"(a: "x \" y")") == "none");
  CHECK(first_error(R"(a: "x \\")") == "none");
  CHECK(first_error("a: 'it''s'") == "none");
  CHECK(first_error("a: \"x\n") != "none");
  CHECK(first_error("a: 'it''\n") != "none");
  CHECK(first_error("a: |\n  \"not quotes\n") == "none");  // a block of text
  CHECK(first_error("a: &x \"y\"") == "none");
}

}  // namespace
}  // namespace tidemark::scenarios
