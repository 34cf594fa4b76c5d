// For tests of lowering: the core IR of a source text over the standard
// library.

#ifndef LINNET_TESTS_CORE_IR_LOWERED_H_
#define LINNET_TESTS_CORE_IR_LOWERED_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/ir/ir.h"
#include "core/ir/lower.h"
#include "core/ir/text.h"
#include "core/ir/verify.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"
#include "gtest/gtest.h"

namespace linnet::ir {

// The checked program of `source` (module `demo`); null, after a test failure
// with the reports, when it has errors.
inline std::shared_ptr<const lang::Program> CheckSource(
    absl::string_view source) {
  lang::MemoryFiles files;
  files.Add("demo.linnet", std::string(source));
  lang::CheckInput input;
  input.root_path = "demo.linnet";
  input.files = &files;
  input.standard_library = library::StandardLibrary();
  auto result = lang::Check(input);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return nullptr;
  }
  if (result->program == nullptr) {
    ADD_FAILURE() << lang::FormatDiagnostics(result->diagnostics,
                                             *result->sources);
  }
  return result->program;
}

// `source` lowered and verified. Not usable (ok() is false, after a test
// failure) when that did not work.
class Lowered {
 public:
  explicit Lowered(absl::string_view source, LowerOptions options = {}) {
    const std::shared_ptr<const lang::Program> checked = CheckSource(source);
    if (checked == nullptr) return;
    auto program = Lower(checked, options);
    if (!program.ok()) {
      ADD_FAILURE() << program.status();
      return;
    }
    program_ = *std::move(program);
    for (const Function& function : program_->functions) {
      const absl::Status status = Verify(*program_->source, function);
      EXPECT_TRUE(status.ok()) << status << "\n"
                               << ToText(*program_->source, function);
    }
  }

  bool ok() const { return program_ != nullptr; }
  const Program& program() const { return *program_; }

  // The function with this qualified name, which must exist.
  const Function* Find(absl::string_view name) const {
    if (!ok()) return nullptr;
    for (const Function& function : program_->functions) {
      if (program_->source->functions[function.id].qualified_name == name) {
        return &function;
      }
    }
    ADD_FAILURE() << "no function " << name;
    return nullptr;
  }
  std::string Sketch(absl::string_view name) const {
    const Function* function = Find(name);
    return function == nullptr ? "" : ToSketch(*function);
  }
  std::string Text(absl::string_view name) const {
    const Function* function = Find(name);
    return function == nullptr ? "" : ToText(*program_->source, *function);
  }

 private:
  std::shared_ptr<const Program> program_;
};

}  // namespace linnet::ir

#endif  // LINNET_TESTS_CORE_IR_LOWERED_H_
