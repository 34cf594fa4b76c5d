#include "core/library/native_kernel.h"

#include "absl/container/flat_hash_map.h"

namespace linnet::library {
namespace {

constexpr NativeImplementation kImplementations[] = {
#define LINNET_NATIVE(op, rank, kernel, implementation) \
  {op, NativeRank::rank, NativeKernel::kernel, implementation},
#include "core/library/native_kernel.def"
};

NativeRank HighestAdmitted(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact:
      return NativeRank::kExact;
    case Numerics::kEquivalent:
      return NativeRank::kNumericallyEquivalent;
    case Numerics::kFast:
      break;
  }
  return NativeRank::kApproximate;
}

using ByText =
    absl::flat_hash_map<absl::string_view, const NativeImplementation*>;

// Per policy, from op to what it runs with.
const ByText& Selection(Numerics numerics) {
  static const auto* const kSelections = [] {
    auto* selections = new ByText[3];
    for (int policy = 0; policy < 3; ++policy) {
      const NativeRank highest = HighestAdmitted(static_cast<Numerics>(policy));
      for (const NativeImplementation& each : kImplementations) {
        if (each.rank <= highest) selections[policy][each.op] = &each;
      }
    }
    return selections;
  }();
  return kSelections[static_cast<int>(numerics)];
}

}  // namespace

absl::string_view NumericsName(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact:
      return "exact";
    case Numerics::kEquivalent:
      return "equivalent";
    case Numerics::kFast:
      break;
  }
  return "fast";
}

std::optional<Numerics> ParseNumerics(absl::string_view name) {
  for (Numerics numerics :
       {Numerics::kExact, Numerics::kEquivalent, Numerics::kFast}) {
    if (NumericsName(numerics) == name) return numerics;
  }
  return std::nullopt;
}

absl::Span<const NativeImplementation> NativeImplementations() {
  return kImplementations;
}

const NativeImplementation* SelectNative(absl::string_view op,
                                         Numerics numerics) {
  const ByText& selection = Selection(numerics);
  const auto it = selection.find(op);
  return it == selection.end() ? nullptr : it->second;
}

const NativeImplementation* FindNative(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* by_name = new ByText;
    for (const NativeImplementation& each : kImplementations) {
      by_name->emplace(each.name, &each);
    }
    return by_name;
  }();
  const auto it = kByName->find(name);
  return it == kByName->end() ? nullptr : it->second;
}

}  // namespace linnet::library
