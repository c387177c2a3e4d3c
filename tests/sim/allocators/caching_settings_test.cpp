#include "sim/allocators/caching_settings.hpp"

#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

CachingSettings good(std::string_view text) {
  const ParsedSettings parsed = parse_caching_settings(text);
  for (const SettingsError& error : parsed.errors) UNSCOPED_INFO(error.reason);
  REQUIRE(parsed.errors.empty());
  return parsed.settings;
}

// The only error, as "position: reason".
std::string bad(std::string_view text) {
  const ParsedSettings parsed = parse_caching_settings(text);
  REQUIRE(parsed.errors.size() == 1);
  return std::to_string(parsed.errors[0].position) + ": " + parsed.errors[0].reason;
}

TEST_CASE("settings are read as PYTORCH_CUDA_ALLOC_CONF is written", "[caching]") {
  const CachingSettings all = good(
      "expandable_segments:True,max_split_size_mb:128, garbage_collection_threshold : 0.8,"
      "max_non_split_rounding_mb:64,per_process_memory_fraction:0.5");
  CHECK(all.expandable_segments);
  CHECK(all.max_split_size == 128_MiB);
  CHECK(all.max_non_split_rounding == 64_MiB);
  CHECK(all.garbage_collection_threshold == 0.8);
  CHECK(all.memory_fraction == 0.5);
}

TEST_CASE("no settings are PyTorch's defaults", "[caching]") {
  const CachingSettings none = good("");
  CHECK_FALSE(none.expandable_segments);
  CHECK(none.max_split_size == kUnlimited);
  CHECK(none.max_non_split_rounding == 20_MiB);
  CHECK(none.garbage_collection_threshold == 0);
  CHECK_FALSE(none.memory_fraction.has_value());
  CHECK(none.roundup_power2_divisions == std::array<std::int64_t, 16>{});
}

TEST_CASE("divisions are one number or a list of intervals", "[caching]") {
  CHECK(good("roundup_power2_divisions:8").roundup_power2_divisions[15] == 8);
  const auto divisions =
      good("roundup_power2_divisions:[256:1,512:2,>:4],expandable_segments:False")
          .roundup_power2_divisions;
  CHECK(divisions[0] == 1);   // the first interval also stands for those below
  CHECK(divisions[8] == 1);   // 256 MiB
  CHECK(divisions[9] == 2);   // 512 MiB
  CHECK(divisions[10] == 4);  // 1 GiB
  CHECK(divisions[15] == 4);
  CHECK(good("roundup_power2_divisions:[131072:2]").roundup_power2_divisions[15] == 2);
}

TEST_CASE("the last word on a setting counts", "[caching]") {
  CHECK_FALSE(good("expandable_segments:True,expandable_segments:False").expandable_segments);
}

TEST_CASE("settings that move no bytes are accepted", "[caching]") {
  good(
      "backend:native,pinned_num_register_threads:8,pinned_use_cuda_host_register:True,"
      "release_lock_on_cudamalloc:True,pinned_use_background_threads:False,");
}

TEST_CASE("an unknown setting is named, with the nearest known one", "[caching]") {
  CHECK(bad("max_split_size:128") ==
        "0: unknown setting 'max_split_size', did you mean 'max_split_size_mb'?");
  CHECK(bad("expandable_segments:True,expandable_segment:True") ==
        "25: unknown setting 'expandable_segment', did you mean 'expandable_segments'?");
  CHECK(bad("colour:blue").find("0: unknown setting 'colour'; known: backend, expand") == 0);
}

TEST_CASE("values out of range are refused, the last one within is not", "[caching]") {
  CHECK(good("max_split_size_mb:20").max_split_size == 20_MiB);
  CHECK(bad("max_split_size_mb:19") == "18: max_split_size_mb: 19 is too small, the least is 20");
  CHECK(bad("max_split_size_mb:12x") ==
        "18: max_split_size_mb: '12x' is not a whole number of MiB");
  CHECK(bad("garbage_collection_threshold:1") ==
        "29: garbage_collection_threshold: 1 is out of range, it lies between 0 and 1, both "
        "excluded");
  CHECK(bad("garbage_collection_threshold:0").find("out of range") != std::string::npos);
  CHECK(good("garbage_collection_threshold:0.999").garbage_collection_threshold == 0.999);
  CHECK(good("per_process_memory_fraction:1").memory_fraction == 1);
  CHECK(bad("per_process_memory_fraction:1.01").find("from 0.001 to 1") != std::string::npos);
  CHECK(good("per_process_memory_fraction:0.001").memory_fraction == 0.001);
  CHECK(bad("per_process_memory_fraction:0").find("out of range") != std::string::npos);
  CHECK(bad("per_process_memory_fraction:1e-12").find("out of range") != std::string::npos);
  CHECK(bad("roundup_power2_divisions:4611686018427387904").find("more than 2^20") !=
        std::string::npos);
  CHECK(bad("roundup_power2_divisions:[>:2097152]").find("more than 2^20") != std::string::npos);
  good("roundup_power2_divisions:1048576");
  good("page_map_us:5000");
  CHECK(bad("page_map_us:5001").find("up to 5000") != std::string::npos);
  CHECK(bad("per_process_memory_fraction:nan").find("out of range") != std::string::npos);
  CHECK(bad("expandable_segments:true") ==
        "20: expandable_segments: 'true' is not one of True, False");
  CHECK(bad("roundup_power2_divisions:3").find("divisions '3' is not a power of two") !=
        std::string::npos);
  CHECK(bad("roundup_power2_divisions:[3:4]").find("interval '3' is not a power of two") !=
        std::string::npos);
  CHECK(good("roundup_power2_divisions:[4:0]").roundup_power2_divisions[2] == 0);
}

TEST_CASE("what is missing is said", "[caching]") {
  CHECK(bad("max_split_size_mb") == "17: max_split_size_mb: expected ':' and a value");
  CHECK(bad("max_split_size_mb:") == "18: max_split_size_mb: expected a value");
  CHECK(bad("roundup_power2_divisions:[4:2") ==
        "29: roundup_power2_divisions: expected ',' or ']'");
  CHECK(bad(",") == "0: expected the name of a setting");
  CHECK(bad("expandable_segments:True max_split_size_mb:128").find("'Truemax_split_size_mb'") !=
        std::string::npos);
}

TEST_CASE("what PyTorch has and Tidemark has not is refused", "[caching]") {
  CHECK(bad("backend:cudaMallocAsync") ==
        "8: backend: cudaMallocAsync is not modelled, only native is");
  CHECK(bad("large_segment_size_mb:200") == "0: large_segment_size_mb is not modelled");
}

TEST_CASE("all faults are found in one go", "[caching]") {
  const auto parsed =
      parse_caching_settings("colour:blue,max_split_size_mb:1,expandable_segments:True");
  REQUIRE(parsed.errors.size() == 2);
  CHECK(parsed.settings.expandable_segments);
}

}  // namespace
}  // namespace tidemark::sim
