// Source files and places in them.
//
// Offsets are in bytes from 0; ranges are half-open. Lines and columns count
// from 1, columns in Unicode code points.

#ifndef LINNET_CORE_LANG_SOURCE_H_
#define LINNET_CORE_LANG_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/id.h"

namespace linnet::lang {

struct FileTag;
using FileId = Id<FileTag>;

// The bytes [begin, end) of a file. A default span is no place at all.
struct Span {
  FileId file;
  int32_t begin = 0;
  int32_t end = 0;

  constexpr bool valid() const { return file.valid(); }
  friend constexpr bool operator==(Span, Span) = default;
};
static_assert(sizeof(Span) == 12);

// From the beginning of `first` to the end of `last`, both of one file.
constexpr Span Join(Span first, Span last) {
  return {first.file, first.begin, last.end};
}

struct LineColumn {
  int32_t line = 1;
  int32_t column = 1;

  friend constexpr bool operator==(LineColumn, LineColumn) = default;
};

// One file. Immutable.
class Source {
 public:
  // `path` is only shown. A text past 2^31 - 1 bytes is cut there, which is
  // above every limit that ParseFile() can be given.
  Source(FileId id, std::string path, std::string text);

  FileId id() const { return id_; }
  const std::string& path() const { return path_; }
  absl::string_view text() const { return text_; }

  // The text of a span of this file.
  absl::string_view text(Span span) const;

  // The place of an offset in [0, text().size()]. An ill-formed byte counts as
  // one code point; a leading byte-order mark counts as none. Logarithmic in
  // the number of lines, then linear in the line.
  LineColumn Locate(int32_t offset) const;

  // The text of a line, from 1, without its end ("\n" or "\r\n").
  absl::string_view Line(int32_t line) const;
  int32_t LineStart(int32_t line) const {
    return line_starts_[static_cast<size_t>(line) - 1];
  }
  int32_t num_lines() const {
    return static_cast<int32_t>(line_starts_.size());
  }

 private:
  FileId id_;
  std::string path_;
  std::string text_;
  std::vector<int32_t> line_starts_;
};

// The files of one check. Sources keep their addresses. Not thread-safe while
// files are added; reading is.
class SourceSet {
 public:
  SourceSet() = default;
  SourceSet(const SourceSet&) = delete;
  SourceSet& operator=(const SourceSet&) = delete;

  const Source& Add(std::string path, std::string text);

  const Source& get(FileId id) const { return *sources_[id]; }
  int32_t size() const { return sources_.size(); }

  // The text of a span; "" for an invalid one.
  absl::string_view text(Span span) const {
    return span.valid() ? get(span.file).text(span) : absl::string_view();
  }

 private:
  IdMap<FileId, std::unique_ptr<const Source>> sources_;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_SOURCE_H_
