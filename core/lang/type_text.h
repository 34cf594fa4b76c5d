// Types as the language spells them, for messages and listings.

#ifndef LINNET_CORE_LANG_TYPE_TEXT_H_
#define LINNET_CORE_LANG_TYPE_TEXT_H_

#include <string>

#include "core/lang/program.h"
#include "core/lang/type.h"

namespace linnet::lang {

// `Tensor[*S, H / N; bf16]`, `Linear<H, 3 * H, T>?`, `[Layer<H>; Layers]`. The
// types without a spelling are described: `an integer literal`, `none`.
std::string TypeText(const Program& program, TypeId type);
// `bf16`, or the name of the generic.
std::string DTypeText(const Program& program, DTypeRef dtype);
// `[*S, H]`; without the brackets it is a list for a larger text.
std::string ShapeText(const Program& program, const Shape& shape);
std::string UnitText(const Program& program, const Unit& unit);
std::string ArgText(const Program& program, const GenericArg& arg);
// ` < `, without the blanks.
absl::string_view RelationText(Relation relation);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_TYPE_TEXT_H_
