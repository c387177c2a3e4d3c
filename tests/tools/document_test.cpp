#include "tools/exports/document.hpp"

#include <limits>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/unpickle.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

// {"a": [1, "x"], "b": {}}
void small(Document& out) {
  out.dictionary();
  out.key("a");
  out.list();
  out.number(1);
  out.text("x");
  out.end();
  out.key("b");
  out.dictionary();
  out.end();
  out.end();
}

std::string json_of(std::int64_t number) {
  JsonDocument json;
  json.number(number);
  return json.finish();
}

std::string pickle_of(std::int64_t number) {
  PickleDocument pickle;
  pickle.number(number);
  return pickle.finish();
}

}  // namespace

TEST_CASE("a document is written as JSON without blanks") {
  JsonDocument json;
  small(json);
  CHECK(json.finish() == "{\"a\":[1,\"x\"],\"b\":{}}\n");
}

TEST_CASE("a document is written as a pickle of protocol 2, opcode by opcode") {
  PickleDocument pickle;
  small(pickle);
  const std::string expected = std::string("\x80\x02") +         // PROTO 2
                               "}(" +                            // EMPTY_DICT MARK
                               std::string("X\x01\0\0\0a", 6) +  // BINUNICODE "a"
                               std::string("q\0", 2) +           // BINPUT 0
                               "](" + "K\x01" +                  // EMPTY_LIST MARK BININT1 1
                               std::string("X\x01\0\0\0x", 6) +  // BINUNICODE "x"
                               "q\x01" + "e" +                   // BINPUT 1 APPENDS
                               std::string("X\x01\0\0\0b", 6) +
                               "q\x02" +      // BINUNICODE "b" BINPUT 2
                               "}(u" + "u.";  // EMPTY_DICT MARK SETITEMS SETITEMS STOP
  CHECK(pickle.finish() == expected);
}

TEST_CASE("what was written before is fetched again, by a byte or by four") {
  PickleDocument pickle;
  pickle.list();
  for (int i = 0; i < 300; ++i) pickle.text("text " + std::to_string(i));
  pickle.text("text 7");    // BINGET 7
  pickle.text("text 299");  // LONG_BINGET 299
  CHECK(!pickle.repeat(5));
  pickle.list();
  pickle.end();
  pickle.remember(5);
  CHECK(pickle.repeat(5));
  pickle.end();
  const std::string text = pickle.finish();
  CHECK(text.find("h\x07") != std::string::npos);
  CHECK(text.find(std::string("j\x2b\x01\0\0", 5)) != std::string::npos);
  const auto read = test::Unpickler(text).read();
  REQUIRE(read.size() == 304);
  CHECK(read[300] == "text 7");
  CHECK(read[301] == "text 299");
  CHECK(read[302].is_array());
  CHECK(read[303] == read[302]);
}

TEST_CASE("whole numbers of any size come back from both") {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, std::int64_t{65535},
        std::int64_t{65536}, std::int64_t{0x7fff'ffff}, std::int64_t{0x8000'0000}, std::int64_t{-1},
        std::int64_t{-0x8000'0000ll}, std::int64_t{-0x8000'0001ll}, std::int64_t{1} << 47,
        Limits::max(), Limits::min()}) {
    CHECK(json_of(number) == std::to_string(number) + "\n");
    CHECK(test::Unpickler(pickle_of(number)).read() == number);
  }
}

TEST_CASE("text is escaped in JSON and counted in bytes in a pickle") {
  const std::string awkward = "größer \"quoted\" \\ \n\x01:";
  JsonDocument json;
  json.list();
  json.text(awkward);
  json.text("next");
  json.end();
  CHECK(nlohmann::json::parse(json.finish()) == nlohmann::json({awkward, "next"}));
  PickleDocument pickle;
  pickle.text(awkward);
  CHECK(test::Unpickler(pickle.finish()).read() == awkward);
}
