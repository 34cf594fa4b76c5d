// Element types of tensors: their names in the language, sizes and classes.

#ifndef LINNET_CORE_BASE_DTYPE_H_
#define LINNET_CORE_BASE_DTYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>

#include "absl/strings/string_view.h"

namespace linnet {

enum class DType : uint8_t {
#define LINNET_DTYPE(enumerator, name, bytes, type_class) enumerator,
#include "core/base/dtype.def"
};

enum class DTypeClass : uint8_t { kBoolean, kSigned, kUnsigned, kFloat };

namespace internal {

struct DTypeRow {
  const char* name;
  int64_t bytes;
  DTypeClass type_class;
};
inline constexpr DTypeRow kDTypes[] = {
#define LINNET_DTYPE(enumerator, name, bytes, type_class) \
  {name, bytes, DTypeClass::type_class},
#include "core/base/dtype.def"
};
constexpr const DTypeRow& Row(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

}  // namespace internal

inline constexpr int kNumDTypes =
    static_cast<int>(sizeof(internal::kDTypes) / sizeof(internal::kDTypes[0]));

// Every dtype, in the order of the list above.
inline constexpr std::array<DType, kNumDTypes> kAllDTypes = [] {
  std::array<DType, kNumDTypes> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<DType>(i);
  return all;
}();

// Bytes of one element in memory.
constexpr int64_t DTypeBytes(DType dtype) { return internal::Row(dtype).bytes; }

// The language's name: "bf16".
inline absl::string_view DTypeName(DType dtype) {
  return internal::Row(dtype).name;
}

constexpr DTypeClass ClassOf(DType dtype) {
  return internal::Row(dtype).type_class;
}
constexpr bool IsFloat(DType dtype) {
  return ClassOf(dtype) == DTypeClass::kFloat;
}
constexpr bool IsInteger(DType dtype) {
  return ClassOf(dtype) == DTypeClass::kSigned ||
         ClassOf(dtype) == DTypeClass::kUnsigned;
}
// Integers and floats; not bool.
constexpr bool IsNumeric(DType dtype) {
  return ClassOf(dtype) != DTypeClass::kBoolean;
}

// The dtype named exactly `name`, or nothing.
inline std::optional<DType> ParseDType(absl::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (DTypeName(dtype) == name) return dtype;
  }
  return std::nullopt;
}

inline std::ostream& operator<<(std::ostream& os, DType dtype) {
  return os << DTypeName(dtype);
}

}  // namespace linnet

#endif  // LINNET_CORE_BASE_DTYPE_H_
