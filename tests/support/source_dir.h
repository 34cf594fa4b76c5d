// Where the sources of this checkout are, for tests that read golden files.

#ifndef LINNET_TESTS_SUPPORT_SOURCE_DIR_H_
#define LINNET_TESTS_SUPPORT_SOURCE_DIR_H_

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace linnet::testing_support {

// The content of a file of the checkout, "tests/golden/…"; fails the test when
// it cannot be read.
inline std::string ReadSourceFile(const std::string& path) {
  std::ifstream file(std::string(LINNET_SOURCE_DIR) + "/" + path,
                     std::ios::binary);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace linnet::testing_support

#endif  // LINNET_TESTS_SUPPORT_SOURCE_DIR_H_
