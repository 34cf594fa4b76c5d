#include "core/device/profile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace linnet::device {
namespace {

using nlohmann::json;

constexpr std::array<absl::string_view, kNumHostCalls> kHostCalls = {
    "view",     "elementwise",     "product",
    "batched",  "attention",       "normalization",
    "write",    "gather",          "join",
    "cast",     "reduction",       "mask",
    "backward", "product_backward"};

constexpr JsonLimits kLimits = {int64_t{1} << 20, 8};
constexpr int64_t kVersion = 1;
constexpr size_t kMaxRates = 4096;  // Of a grid, or of attention.

struct RateRow {
  const char* name;
  double Profile::*rate;
};
constexpr RateRow kRates[] = {{"bandwidth", &Profile::bandwidth},
                              {"elementwise", &Profile::elementwise},
                              {"broadcast", &Profile::broadcast},
                              {"skinny", &Profile::skinny},
                              {"decode", &Profile::decode},
                              {"link", &Profile::link},
                              {"latency", &Profile::latency},
                              {"reduce", &Profile::reduce},
                              {"kernel", &Profile::kernel},
                              {"strided_kernel", &Profile::strided_kernel},
                              {"dispatch", &Profile::dispatch}};
constexpr RateRow kPeaks[] = {{"bf16", &Profile::peak_bf16},
                              {"f16", &Profile::peak_f16},
                              {"f32", &Profile::peak_f32}};

class Reader {
 public:
  Reader(const json& top, absl::string_view path) : top_(top), path_(path) {}

  absl::StatusOr<Profile> Read() {
    LINNET_RETURN_IF_ERROR(CheckVersion());
    LINNET_RETURN_IF_ERROR(ReadText("name", &profile_.name));
    LINNET_RETURN_IF_ERROR(ReadText("source", &profile_.source));
    LINNET_RETURN_IF_ERROR(ReadMemory());
    for (const RateRow& row : kRates) {
      LINNET_ASSIGN_OR_RETURN(profile_.*row.rate, Rate(top_, "", row.name));
    }
    LINNET_ASSIGN_OR_RETURN(const json* flops, Object("flops"));
    for (const RateRow& row : kPeaks) {
      LINNET_ASSIGN_OR_RETURN(profile_.*row.rate,
                              Rate(*flops, "flops.", row.name));
    }
    LINNET_ASSIGN_OR_RETURN(const json* products, Object("products"));
    LINNET_RETURN_IF_ERROR(
        ReadGrid(*products, "products.", "bf16", &profile_.products_bf16));
    LINNET_RETURN_IF_ERROR(
        ReadGrid(*products, "products.", "f32", &profile_.products_f32));
    if (top_.contains("transposed")) {
      LINNET_ASSIGN_OR_RETURN(const json* of, Object("transposed"));
      for (const auto& [dtype, grid] :
           {std::pair{"bf16", &profile_.transposed_bf16},
            std::pair{"f32", &profile_.transposed_f32}}) {
        if (!of->contains(dtype)) continue;
        LINNET_RETURN_IF_ERROR(ReadGrid(*of, "transposed.", dtype, grid));
      }
    }
    LINNET_RETURN_IF_ERROR(ReadAttention());
    LINNET_ASSIGN_OR_RETURN(const json* host, Object("host"));
    for (size_t i = 0; i < kNumHostCalls; ++i) {
      LINNET_ASSIGN_OR_RETURN(profile_.host[i],
                              Rate(*host, "host.", kHostCalls[i]));
    }
    return ReadScaled();
  }

 private:
  absl::Status Error(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": `", field, "` ", what));
  }

  absl::Status CheckVersion() const {
    if (!top_.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": a device profile is a JSON object"));
    }
    const auto it = top_.find("version");
    if (it == top_.end()) return absl::OkStatus();
    if (it->is_number_integer() && it->get<int64_t>() == kVersion) {
      return absl::OkStatus();
    }
    return Error("version",
                 absl::StrCat("is not ", kVersion,
                              ", the version of profiles that is read here; "
                              "measure the device again with this version"));
  }

  absl::StatusOr<const json*> Field(const json& of, absl::string_view prefix,
                                    absl::string_view name) const {
    const auto it = of.find(std::string(name));
    if (it != of.end()) return &*it;
    return Error(absl::StrCat(prefix, name), "is missing");
  }

  absl::StatusOr<const json*> Object(absl::string_view name) const {
    LINNET_ASSIGN_OR_RETURN(const json* of, Field(top_, "", name));
    if (of->is_object()) return of;
    return Error(name, "must be an object");
  }

  absl::Status ReadText(absl::string_view name, std::string* text) const {
    LINNET_ASSIGN_OR_RETURN(const json* of, Field(top_, "", name));
    if (!of->is_string() || of->get_ref<const std::string&>().empty()) {
      return Error(name, "must be a text");
    }
    *text = of->get<std::string>();
    return absl::OkStatus();
  }

  absl::Status ReadMemory() {
    LINNET_ASSIGN_OR_RETURN(const json* of, Field(top_, "", "memory"));
    if (!of->is_number_integer() || of->get<int64_t>() < 1) {
      return Error("memory", "must be a number of bytes, at least 1");
    }
    profile_.memory_bytes = of->get<int64_t>();
    return absl::OkStatus();
  }

  absl::StatusOr<double> Positive(const json& of,
                                  absl::string_view name) const {
    const double value = of.is_number() ? of.get<double>() : 0.0;
    if (std::isfinite(value) && value > 0.0) return value;
    return Error(name, "must be a number above 0");
  }

  absl::StatusOr<double> Rate(const json& of, absl::string_view prefix,
                              absl::string_view name) const {
    LINNET_ASSIGN_OR_RETURN(const json* field, Field(of, prefix, name));
    return Positive(*field, absl::StrCat(prefix, name));
  }

  absl::Status ReadGrid(const json& of, absl::string_view prefix,
                        absl::string_view dtype,
                        std::vector<ProductRate>* rates) const {
    const std::string name = absl::StrCat(prefix, dtype);
    LINNET_ASSIGN_OR_RETURN(const json* list, Field(of, prefix, dtype));
    if (!list->is_array() || list->empty() || list->size() > kMaxRates) {
      return Error(name, absl::StrCat("must be a list of 1 to ", kMaxRates,
                                      " rates [n, k, FLOP/s]"));
    }
    std::set<double> ns, ks;
    for (const json& each : *list) {
      if (!each.is_array() || each.size() != 3) {
        return Error(name, "must be a list of rates [n, k, FLOP/s]");
      }
      ProductRate rate;
      LINNET_ASSIGN_OR_RETURN(rate.n, Positive(each[0], name));
      LINNET_ASSIGN_OR_RETURN(rate.k, Positive(each[1], name));
      LINNET_ASSIGN_OR_RETURN(rate.flops, Positive(each[2], name));
      ns.insert(rate.n);
      ks.insert(rate.k);
      rates->push_back(rate);
    }
    std::sort(rates->begin(), rates->end(),
              [](const ProductRate& a, const ProductRate& b) {
                return std::pair(a.n, a.k) < std::pair(b.n, b.k);
              });
    const auto same = [](const ProductRate& a, const ProductRate& b) {
      return a.n == b.n && a.k == b.k;
    };
    const bool twice =
        std::adjacent_find(rates->begin(), rates->end(), same) != rates->end();
    if (!twice && rates->size() == ns.size() * ks.size()) {
      return absl::OkStatus();
    }
    return Error(name, "must have each n with each k, once");
  }

  // `masked_backward/128/f32`.
  absl::Status ReadAttention() {
    LINNET_ASSIGN_OR_RETURN(const json* of, Object("attention"));
    if (of->size() > kMaxRates) return Error("attention", "has too many rates");
    for (const auto& [key, value] : of->items()) {
      const std::string name = absl::StrCat("attention.", key);
      const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
      AttentionRate rate;
      const auto kind = parts[0];
      rate.causal = kind == "causal" || kind == "causal_backward";
      rate.backward = kind == "causal_backward" || kind == "masked_backward";
      const bool known = rate.causal || rate.backward || kind == "masked";
      rate.f32 = parts.size() == 3 && parts[2] == "f32";
      if (!known || parts.size() < 2 || parts.size() > 3 ||
          rate.f32 != (parts.size() == 3) ||
          !absl::SimpleAtoi(parts[1], &rate.width) || rate.width < 1) {
        return Error(name,
                     "is no kind of attention; those are causal/WIDTH, "
                     "masked/WIDTH, with _backward behind the kind, and /f32 "
                     "at the end");
      }
      LINNET_ASSIGN_OR_RETURN(rate.flops, Positive(value, name));
      profile_.attention.push_back(rate);
    }
    std::sort(profile_.attention.begin(), profile_.attention.end(),
              [](const AttentionRate& a, const AttentionRate& b) {
                return a.width < b.width;
              });
    for (const bool causal : {true, false}) {
      for (const bool backward : {false, true}) {
        for (const bool f32 : {false, true}) {
          if (profile_.AttentionFlops(causal, backward, f32, 1) > 0) continue;
          return Error("attention", absl::StrCat("has no rate ",
                                                 causal ? "causal" : "masked",
                                                 backward ? "_backward" : "",
                                                 "/WIDTH", f32 ? "/f32" : ""));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Profile> ReadScaled() {
    const auto it = top_.find("scaled");
    if (it == top_.end()) return std::move(profile_);
    if (!it->is_array() || it->size() > kMaxRates) {
      return Error("scaled", "must be a list of names of rates");
    }
    for (const json& each : *it) {
      if (!each.is_string()) {
        return Error("scaled", "must be a list of names of rates");
      }
      profile_.scaled.push_back(each.get<std::string>());
    }
    return std::move(profile_);
  }

  const json& top_;
  const absl::string_view path_;
  Profile profile_;
};

// Where a value lies among `count` sorted ones: between `low` and `high`,
// `part` of the way in log2. Beyond the last it is held; below the first,
// `below` says how far in proportion.
struct Place {
  size_t low = 0, high = 0;
  double part = 0.0, below = 1.0;
};

template <typename At>
Place Find(size_t count, double value, At at) {
  Place place;
  if (value <= at(0)) {
    place.below = value / at(0);
    return place;
  }
  while (place.high < count && at(place.high) <= value) ++place.high;
  if (place.high == count) {
    place.low = place.high = count - 1;
    return place;
  }
  place.low = place.high - 1;
  const double low = at(place.low);
  place.part = std::log2(value / low) / std::log2(at(place.high) / low);
  return place;
}

bool IsF32(DType dtype) {
  return dtype != DType::kBF16 && dtype != DType::kF16;
}

double Mix(double a, double b, double part) { return a + (b - a) * part; }

}  // namespace

absl::string_view HostCallName(HostCall call) {
  return kHostCalls[static_cast<size_t>(call)];
}

double Profile::peak(DType dtype) const {
  if (dtype == DType::kBF16) return peak_bf16;
  if (dtype == DType::kF16) return peak_f16;
  return peak_f32;
}

bool Profile::HasTransposed(DType dtype) const {
  return !(IsF32(dtype) ? transposed_f32 : transposed_bf16).empty();
}

double Profile::ProductFlops(DType dtype, double n, double k,
                             bool transposed) const {
  const bool f32 = IsF32(dtype);
  const std::vector<ProductRate>& rates =
      transposed && HasTransposed(dtype)
          ? (f32 ? transposed_f32 : transposed_bf16)
          : (f32 ? products_f32 : products_bf16);
  if (rates.empty()) return peak(dtype);
  // A grid: each n with each k.
  size_t ks = 1;
  while (ks < rates.size() && rates[ks].n == rates[0].n) ++ks;
  const Place in_n =
      Find(rates.size() / ks, n, [&](size_t i) { return rates[i * ks].n; });
  const Place in_k = Find(ks, k, [&](size_t i) { return rates[i].k; });
  const auto at = [&](size_t i, size_t j) { return rates[i * ks + j].flops; };
  const double flops =
      Mix(Mix(at(in_n.low, in_k.low), at(in_n.low, in_k.high), in_k.part),
          Mix(at(in_n.high, in_k.low), at(in_n.high, in_k.high), in_k.part),
          in_n.part) *
      in_n.below * in_k.below;
  return std::min(flops, peak(dtype));
}

double Profile::AttentionFlops(bool causal, bool backward, bool f32,
                               int64_t width) const {
  const AttentionRate* nearest = nullptr;
  for (const AttentionRate& rate : attention) {
    if (rate.causal != causal || rate.backward != backward || rate.f32 != f32) {
      continue;
    }
    const auto off = [&](const AttentionRate& of) {
      return std::abs(int64_t{of.width} - width);
    };
    if (nearest == nullptr || off(rate) < off(*nearest)) nearest = &rate;
  }
  return nearest == nullptr ? 0.0 : nearest->flops;
}

absl::StatusOr<Profile> ParseProfile(absl::string_view text,
                                     absl::string_view path) {
  LINNET_ASSIGN_OR_RETURN(const json top, ParseJson(text, path, kLimits));
  return Reader(top, path).Read();
}

Profile Scale(const Profile& measured, const Sheet& from, const Sheet& to) {
  const double bf16 = to.bf16 / from.bf16, f32 = to.f32 / from.f32;
  const double bandwidth = to.bandwidth / from.bandwidth;
  Profile scaled = measured;
  scaled.peak_bf16 *= bf16;
  scaled.peak_f16 *= bf16;
  scaled.peak_f32 *= f32;
  for (auto* rates : {&scaled.products_bf16, &scaled.transposed_bf16}) {
    for (ProductRate& rate : *rates) rate.flops *= bf16;
  }
  for (auto* rates : {&scaled.products_f32, &scaled.transposed_f32}) {
    for (ProductRate& rate : *rates) rate.flops *= f32;
  }
  for (AttentionRate& rate : scaled.attention) {
    rate.flops *= rate.f32 ? f32 : bf16;
  }
  for (double Profile::*rate :
       {&Profile::bandwidth, &Profile::elementwise, &Profile::broadcast,
        &Profile::skinny, &Profile::decode}) {
    scaled.*rate *= bandwidth;
  }
  scaled.link *= to.link / from.link;
  scaled.scaled = {"flops",     "products",    "attention",
                   "bandwidth", "elementwise", "broadcast",
                   "skinny",    "decode",      "link"};
  return scaled;
}

}  // namespace linnet::device
