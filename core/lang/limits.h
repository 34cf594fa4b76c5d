// What source text may ask of the frontend.

#ifndef LINNET_CORE_LANG_LIMITS_H_
#define LINNET_CORE_LANG_LIMITS_H_

#include <cstdint>

namespace linnet::lang {

// Passing a limit is a diagnostic like any other mistake in the source; none
// ends the process or changes the meaning of a file below it.
struct Limits {
  // The largest source file, in bytes. A larger one is E1101 and is not read
  // any further. Must be below 2^31.
  int64_t max_file_bytes = int64_t{16} << 20;

  // The most tokens of one file; E1101 past it. A token takes about 16 bytes
  // of memory while the file is read.
  int64_t max_tokens = int64_t{4} << 20;

  // How deep expressions, types, patterns, statements and items may nest,
  // counting every link of an operator or suffix chain; E1101 past it. The
  // language fixes 256. No node of a tree lies deeper than this, so a
  // recursion over a tree is bounded. Raising it needs a larger stack.
  int32_t max_depth = 256;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_LIMITS_H_
