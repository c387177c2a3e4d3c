#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

enum class DType : std::uint8_t { kF32, kBf16, kI64, kBool, kU8 };

constexpr std::int64_t size_of(DType type) {  // bytes an element
  switch (type) {
    case DType::kF32:
      return 4;
    case DType::kBf16:
      return 2;
    case DType::kI64:
      return 8;
    case DType::kBool:
      return 1;
    case DType::kU8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType type) {
  switch (type) {
    case DType::kF32:
      return "fp32";
    case DType::kBf16:
      return "bf16";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kU8:
      return "uint8";
  }
  return "";
}

}  // namespace tidemark
