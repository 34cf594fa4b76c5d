// Functions with their generics bound: each is made once per trace, with the
// concrete type of every value it has met.

#ifndef LINNET_CORE_TRACE_INSTANCE_H_
#define LINNET_CORE_TRACE_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/expr/pool.h"
#include "core/ir/ir.h"
#include "core/ir/state_use.h"
#include "core/lang/program.h"
#include "core/library/native_kernel.h"
#include "core/trace/concrete.h"

namespace linnet::trace {

class Instances;

class Instance {
 public:
  const lang::Function& decl() const { return *decl_; }
  const ir::Function& body() const { return *body_; }
  const Environment& environment() const { return environment_; }
  // What it runs with under the policy of the trace; null: its body. Only for
  // an `op`.
  const library::NativeImplementation* native() const { return native_; }

  // The concrete type of a value of the function.
  const ConcreteType& type(ir::ValueId value);

  // The instance a call operation of this function calls.
  Instance& Callee(ir::OpId call, const ir::Operation& op);

  // FLOPs of the body with every call inlined and optional arguments absent;
  // not valid until the tracer has counted them.
  expr::Expr flops;
  // How often each value is an operand in the program text.
  int32_t UseCount(ir::ValueId value);

 private:
  friend class Instances;
  Instance(Instances* all, const lang::Function& decl, const ir::Function& body,
           ConcreteArgs args, expr::Pool* pool,
           const library::NativeImplementation* native);

  Instances* const all_;
  const lang::Function* const decl_;
  const ir::Function* const body_;
  const Environment environment_;
  const library::NativeImplementation* const native_;
  // Null until asked for; by value and by operation.
  std::vector<std::unique_ptr<ConcreteType>> types_;
  std::vector<Instance*> callees_;
  std::unique_ptr<ir::UseCounts> uses_;
};

class Instances {
 public:
  Instances(const ir::Program& program, library::Numerics numerics,
            expr::Pool* pool)
      : program_(program), numerics_(numerics), pool_(pool) {}

  Instance& Get(lang::FunctionId function, ConcreteArgs args);
  const ir::Program& program() const { return program_; }

 private:
  friend class Instance;
  const ir::Program& program_;
  const library::Numerics numerics_;
  expr::Pool* const pool_;
  absl::flat_hash_map<std::pair<lang::FunctionId, ConcreteArgs>,
                      std::unique_ptr<Instance>>
      instances_;
};

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_INSTANCE_H_
