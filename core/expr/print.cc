#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/expr/expr.h"

namespace linnet::expr {
namespace {

// Writes until it is full; from then on every call returns at once, so shared
// subexpressions cannot make it run away.
class Printer {
 public:
  explicit Printer(size_t max_bytes) : max_bytes_(max_bytes) {}

  void Sum(absl::Span<const Term> terms) {
    if (terms.empty()) return Text("0");
    for (size_t i = 0; i < terms.size() && !full_; ++i) {
      const bool minus = terms[i].coefficient < 0;
      if (i > 0) Text(minus ? " - " : " + ");
      Product(terms[i], /*minus_written=*/i > 0 && minus);
    }
  }

  std::string Take() && { return std::move(text_); }

 private:
  void Text(absl::string_view text) {
    if (full_) return;
    if (text_.size() + text.size() <= max_bytes_) {
      text_.append(text.data(), text.size());
      return;
    }
    text_.append(text.data(), max_bytes_ - text_.size());
    text_ += "...";
    full_ = true;
  }

  void Product(const Term& term, bool minus_written) {
    // Unsigned, so that the smallest coefficient has a magnitude.
    const auto bits = static_cast<uint64_t>(term.coefficient);
    const uint64_t magnitude = term.coefficient < 0 ? uint64_t{0} - bits : bits;
    const size_t degree = term.monomial->degree();
    if (term.coefficient < 0 && !minus_written) Text("-");
    const bool number = magnitude != 1 || degree == 0;
    if (number) Text(absl::StrCat(magnitude));
    // A quotient stands alone without parentheses, but not after a sign that
    // binds to its numerator.
    const bool alone =
        degree == 1 && !number && (term.coefficient > 0 || minus_written);
    for (size_t i = 0; i < degree && !full_; ++i) {
      if (number || i > 0) Text(" * ");
      Factor(*term.factors()[i], alone);
    }
  }

  void Factor(const Atom& atom, bool alone) {
    switch (atom.kind) {
      case AtomKind::kSymbol:
        return Text(atom.name);
      case AtomKind::kFloorDiv:
        return Quotient(atom, " / ", alone);
      case AtomKind::kMod:
        return Quotient(atom, " % ", alone);
      case AtomKind::kCeilDiv:
        Text("ceil(");
        Quotient(atom, " / ", /*alone=*/true);
        return Text(")");
      case AtomKind::kMin:
      case AtomKind::kMax:
        Text(atom.kind == AtomKind::kMin ? "min(" : "max(");
        Sum(atom.a.terms());
        Text(", ");
        Sum(atom.b.terms());
        return Text(")");
    }
  }

  void Quotient(const Atom& atom, absl::string_view sign, bool alone) {
    if (!alone) Text("(");
    Operand(atom.a, /*left=*/true);
    Text(sign);
    Operand(atom.b, /*left=*/false);
    if (!alone) Text(")");
  }

  // Without parentheses when they would change nothing: a name, a call, a
  // number that is not negative; on the left a product of such things too.
  void Operand(Expr e, bool left) {
    const absl::Span<const Term> terms = e.terms();
    bool bare = terms.empty();
    if (terms.size() == 1) {
      const Term& term = terms[0];
      const size_t parts =
          term.monomial->degree() + (term.coefficient != 1 ? 1 : 0);
      bare = term.coefficient > 0 && (left || parts <= 1);
      if (const Atom* atom = e.atom()) {
        bare =
            atom->kind != AtomKind::kFloorDiv && atom->kind != AtomKind::kMod;
      }
    }
    if (!bare) Text("(");
    Sum(terms);
    if (!bare) Text(")");
  }

  const size_t max_bytes_;
  std::string text_;
  bool full_ = false;
};

}  // namespace

std::string ToText(absl::Span<const Term> terms, size_t max_bytes) {
  Printer printer(max_bytes);
  printer.Sum(terms);
  return std::move(printer).Take();
}

std::string Expr::ToString() const {
  if (!valid()) return absl::StrCat("<", ErrorText(error()), ">");
  return ToText(terms());
}

}  // namespace linnet::expr
