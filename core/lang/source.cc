#include "core/lang/source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/lang/utf8.h"

namespace linnet::lang {

Source::Source(FileId id, std::string path, std::string text)
    : id_(id), path_(std::move(path)), text_(std::move(text)) {
  constexpr size_t kMaxBytes = std::numeric_limits<int32_t>::max();
  if (text_.size() > kMaxBytes) text_.resize(kMaxBytes);
  line_starts_.push_back(0);
  for (size_t newline = text_.find('\n'); newline != std::string::npos;
       newline = text_.find('\n', newline + 1)) {
    line_starts_.push_back(static_cast<int32_t>(newline) + 1);
  }
}

absl::string_view Source::text(Span span) const {
  return absl::string_view(text_).substr(
      static_cast<size_t>(span.begin),
      static_cast<size_t>(span.end - span.begin));
}

LineColumn Source::Locate(int32_t offset) const {
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  LineColumn place;
  place.line = static_cast<int32_t>(next - line_starts_.begin());
  auto position = static_cast<size_t>(LineStart(place.line));
  const absl::string_view text = text_;
  if (position == 0 &&
      text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    position = kByteOrderMark.size();
  }
  while (position < static_cast<size_t>(offset)) {
    position += static_cast<size_t>(DecodeUtf8(text, position).length);
    ++place.column;
  }
  return place;
}

absl::string_view Source::Line(int32_t line) const {
  const auto begin = static_cast<size_t>(LineStart(line));
  const auto end = line < num_lines() ? static_cast<size_t>(LineStart(line + 1))
                                      : text_.size();
  absl::string_view text = absl::string_view(text_).substr(begin, end - begin);
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

const Source& SourceSet::Add(std::string path, std::string text) {
  const FileId id{sources_.size()};
  sources_.push_back(
      std::make_unique<const Source>(id, std::move(path), std::move(text)));
  return *sources_[id];
}

}  // namespace linnet::lang
