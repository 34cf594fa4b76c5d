#include "server/rpc/status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/planner/planner.h"
#include "grpcpp/support/status.h"
#include "linnet/v1/error.pb.h"
#include "server/cache/trace_cache.h"
#include "server/rpc/diagnostics.h"

namespace linnet::server {
namespace {

constexpr absl::string_view kFieldPayload = "linnet/field";

// Clients refuse trailers past 8 KiB unless told otherwise, so all of one stays
// below that.
constexpr size_t kMaxMessageBytes = 1024;
constexpr size_t kMaxDiagnosticsBytes = 2560;
constexpr size_t kMaxRenderedBytes = 3072;
constexpr int kMaxSuggestions = 5;

std::optional<std::string> Payload(const absl::Status& status,
                                   absl::string_view url) {
  std::optional<std::string> text;
  if (const auto cord = status.GetPayload(url)) text = std::string(*cord);
  return text;
}

// At most `max` bytes of `text`, not cutting a UTF-8 sequence.
std::string CutBytes(absl::string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  return absl::StrCat(text.substr(0, end), "…");
}

// Whole reports of `text`, which blank lines separate, and how many were left.
std::string CutReports(absl::string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  const size_t end = text.substr(0, max).rfind("\n\n");
  return end == absl::string_view::npos ? CutBytes(text, max)
                                        : std::string(text.substr(0, end + 1));
}

void FillDiagnostics(const std::string& text, v1::ErrorDetail& detail) {
  size_t used = 0;
  // `rendered` still tells what is wrong when this gives nothing.
  for (v1::Diagnostic& diagnostic : ParseDiagnostics(text)) {
    used += diagnostic.ByteSizeLong();
    if (used > kMaxDiagnosticsBytes) {
      detail.set_omitted_diagnostics(detail.omitted_diagnostics() + 1);
    } else {
      *detail.add_diagnostics() = std::move(diagnostic);
    }
  }
}

void FillLimit(const std::string& text, v1::ErrorDetail& detail) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  int64_t value = 0;
  if (!absl::SimpleAtoi(parts.second, &value)) return;
  detail.mutable_limit()->set_name(absl::StrCat("limits.", parts.first));
  detail.mutable_limit()->set_value(value);
}

}  // namespace

absl::Status FieldError(absl::string_view field, absl::string_view message) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat("`", field, "` ", message));
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

v1::ErrorDetail MakeErrorDetail(const absl::Status& status) {
  v1::ErrorDetail detail;
  if (const auto text = Payload(status, planner::kDiagnosticsPayload)) {
    FillDiagnostics(*text, detail);
  }
  if (const auto text = Payload(status, planner::kRenderedPayload)) {
    detail.set_rendered(CutReports(*text, kMaxRenderedBytes));
  }
  if (const auto text = Payload(status, planner::kSuggestionsPayload)) {
    for (absl::string_view name :
         absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
      if (detail.suggestions_size() == kMaxSuggestions) break;
      detail.add_suggestions(CutBytes(name, 64));
    }
  }
  if (const auto text = Payload(status, planner::kLimitPayload)) {
    FillLimit(*text, detail);
  }
  if (const auto text = Payload(status, kFieldPayload)) {
    detail.set_field(CutBytes(*text, 128));
  }
  detail.set_model_at_fault(
      status.GetPayload(planner::kModelPayload).has_value() ||
      status.GetPayload(planner::kDiagnosticsPayload).has_value());
  int64_t milliseconds = 0;
  if (const auto text = Payload(status, kRetryPayload);
      text.has_value() && absl::SimpleAtoi(*text, &milliseconds)) {
    auto& delay = *detail.mutable_retry_delay();
    delay.set_seconds(milliseconds / 1000);
    delay.set_nanos(static_cast<int32_t>(milliseconds % 1000 * 1'000'000));
  }
  return detail;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message = CutBytes(status.message(), kMaxMessageBytes);
  v1::StatusTrailer trailer;
  trailer.set_code(static_cast<int32_t>(code));
  // The message is in its own trailer already; here it would count twice.
  trailer.add_details()->PackFrom(MakeErrorDetail(status));
  return grpc::Status(code, message, trailer.SerializeAsString());
}

}  // namespace linnet::server
