#include "core/trace/instance.h"

#include <cstddef>

namespace linnet::trace {

Instance::Instance(Instances* all, const lang::Function& decl,
                   const ir::Function& body, ConcreteArgs args,
                   expr::Pool* pool,
                   const library::NativeImplementation* native)
    : all_(all),
      decl_(&decl),
      body_(&body),
      environment_(decl.generics, std::move(args), pool),
      native_(native),
      types_(static_cast<size_t>(body.value_types.size())),
      callees_(static_cast<size_t>(body.ops.size()), nullptr) {}

const ConcreteType& Instance::type(ir::ValueId value) {
  std::unique_ptr<ConcreteType>& type =
      types_[static_cast<size_t>(value.index)];
  if (type == nullptr) {
    const lang::TypeTable& table = *all_->program_.source->types;
    type = std::make_unique<ConcreteType>(
        environment_.Type(table.get(body_->value_types[value])));
  }
  return *type;
}

Instance& Instance::Callee(ir::OpId call, const ir::Operation& op) {
  Instance*& callee = callees_[static_cast<size_t>(call.index)];
  if (callee == nullptr) {
    const ir::OpData& data = body_->data_of(op);
    callee = &all_->Get(data.callee, environment_.Args(data.bindings));
  }
  return *callee;
}

int32_t Instance::UseCount(ir::ValueId value) {
  if (uses_ == nullptr) uses_ = std::make_unique<ir::UseCounts>(*body_);
  return uses_->Of(value);
}

Instance& Instances::Get(lang::FunctionId function, ConcreteArgs args) {
  std::unique_ptr<Instance>& instance = instances_[{function, args}];
  if (instance == nullptr) {
    const lang::Function& decl = program_.source->functions[function];
    const library::NativeImplementation* native =
        decl.kind == lang::FunctionKind::kOp
            ? library::SelectNative(decl.qualified_name, numerics_)
            : nullptr;
    instance.reset(new Instance(this, decl, program_.functions[function],
                                std::move(args), pool_, native));
  }
  return *instance;
}

}  // namespace linnet::trace
