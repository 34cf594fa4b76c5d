// Checking texts in tests: a root file, further files and a small library.

#ifndef LINNET_TESTS_SUPPORT_CHECKED_H_
#define LINNET_TESTS_SUPPORT_CHECKED_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/embedded.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"

namespace linnet::lang {

// Stands in for the standard library.
inline constexpr EmbeddedFile kTestLibrary[] = {
    {"nn/linear.linnet", R"(module std.nn.linear

pub op linear<*S: Shape, In: Dim, Out: Dim, T: Float>(
    x: Tensor[*S, In; T],
    weight: Tensor[Out, In; T],
    bias: Tensor[Out; T]? = none,
) -> Tensor[*S, Out; T] {
    let y[*s, o] = sum[i] x[*s, i] * weight[o, i]
    return match bias { some(b) => y + b none => y }
}

pub block Linear<In: Dim, Out: Dim, T: Float = bf16> {
    param weight: Tensor[Out, In; T]
    param bias: Tensor[Out; T]? = none

    pub fn forward<*S: Shape>(x: Tensor[*S, In; T]) -> Tensor[*S, Out; T] {
        return linear(x, weight, bias)
    }
    fn secret() -> Tensor[Out, In; T] { return weight }
}
)"},
    {"random.linnet", R"(module std.random

pub fn uniform<N: Dim, T: Float>(key: Tensor[2; i64]) -> Tensor[N; T] {
    return cast<T>(iota<f32>(N) + cast<f32>(key[0]))
}
fn hidden() -> f32 { return 1.0 }
)"},
};

struct NamedFile {
  std::string path;
  std::string content;
};

// Checks `files[0]`, with the test library behind `std`.
inline CheckResult CheckFiles(const std::vector<NamedFile>& files) {
  MemoryFiles memory;
  for (const NamedFile& file : files) memory.Add(file.path, file.content);
  CheckInput input;
  input.root_path = files[0].path;
  input.files = &memory;
  input.standard_library = kTestLibrary;
  absl::StatusOr<CheckResult> result = Check(input);
  LINNET_CHECK(result.ok()) << result.status();
  return *std::move(result);
}

// Checks one file whose `module` line is added.
inline CheckResult CheckText(absl::string_view text) {
  return CheckFiles({{"test.linnet", absl::StrCat("module t\n", text)}});
}

// The codes of the errors (of the warnings when there is none), in order:
// "E2103 E1201".
inline std::string CodesOf(const CheckResult& result) {
  std::string codes;
  for (const Diagnostic& diagnostic : result.diagnostics.all()) {
    absl::StrAppend(&codes, codes.empty() ? "" : " ",
                    CodeName(diagnostic.code));
  }
  return codes;
}

}  // namespace linnet::lang

#endif  // LINNET_TESTS_SUPPORT_CHECKED_H_
