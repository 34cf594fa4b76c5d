#include "core/lang/type.h"

#include <string>
#include <vector>

#include "core/expr/pool.h"
#include "core/lang/binding.h"
#include "gtest/gtest.h"

namespace linnet::lang {
namespace {

const DTypeRef kBf16 = DTypeRef::Of(DType::kBF16);

class TypeTest : public testing::Test {
 protected:
  Unit Dim(expr::Expr dim) { return Unit{dim, {}}; }

  expr::Pool pool_;
  TypeTable types_;
  expr::Expr h_ = pool_.AddSymbol("H");
  expr::Expr n_ = pool_.AddSymbol("N");
  expr::Expr count_ = pool_.AddSymbol("S");
  PackId s_{0};
  DTypeVarId t_{0};
  Unit pack_{count_, s_};
};

TEST_F(TypeTest, EqualTypesAreOneId) {
  const TypeId a = types_.Tensor({pack_, Dim(pool_.Mul(h_, n_))}, kBf16);
  const TypeId b = types_.Tensor({pack_, Dim(pool_.Mul(n_, h_))}, kBf16);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, types_.Tensor({Dim(pool_.Mul(n_, h_)), pack_}, kBf16));
  EXPECT_NE(a, types_.Tensor({pack_, Dim(pool_.Mul(h_, n_))},
                             DTypeRef::Of(DType::kF32)));
  EXPECT_NE(a, types_.Tensor({Dim(count_), Dim(pool_.Mul(h_, n_))}, kBf16));
  EXPECT_EQ(types_.Optional(a), types_.Optional(b));
  EXPECT_NE(types_.Optional(a), a);
}

TEST_F(TypeTest, ATensorWithoutUnitsIsAScalar) {
  EXPECT_EQ(types_.Tensor({}, kBf16), types_.Scalar(kBf16));
}

TEST_F(TypeTest, ReferencesStayGood) {
  const TypeId first = types_.Scalar(kBf16);
  const Type* address = &types_.get(first);
  for (int i = 0; i < 10000; ++i) {
    types_.Tensor({Dim(pool_.Constant(i))}, kBf16);
  }
  EXPECT_EQ(&types_.get(first), address);
  EXPECT_EQ(types_.Scalar(kBf16), first);
}

TEST_F(TypeTest, ClosedTypesHaveNoGenerics) {
  const TypeId closed = types_.Tensor({Dim(pool_.Constant(4))}, kBf16);
  EXPECT_TRUE(types_.closed(closed));
  EXPECT_TRUE(types_.closed(types_.Optional(closed)));
  EXPECT_FALSE(types_.closed(types_.Tensor({Dim(h_)}, kBf16)));
  EXPECT_FALSE(types_.closed(types_.Tensor({pack_}, kBf16)));
  EXPECT_FALSE(types_.closed(types_.Scalar(DTypeRef::Of(t_))));
  EXPECT_FALSE(
      types_.closed(types_.Tuple({closed, types_.Tensor({Dim(h_)}, kBf16)})));
}

TEST_F(TypeTest, SubstitutesDimensionsAndDTypes) {
  Substitution substitution;
  substitution.dims[h_.symbol()] = pool_.Mul(n_, pool_.Constant(3));
  substitution.dtypes[t_] = kBf16;
  const TypeId from =
      types_.Tensor({Dim(pool_.Add(h_, n_)), Dim(h_)}, DTypeRef::Of(t_));
  const TypeId to = types_.Tensor({Dim(pool_.Mul(n_, pool_.Constant(4))),
                                   Dim(pool_.Mul(n_, pool_.Constant(3)))},
                                  kBf16);
  EXPECT_EQ(types_.Substitute(from, substitution, pool_), to);
  EXPECT_EQ(types_.Substitute(types_.Optional(from), substitution, pool_),
            types_.Optional(to));
  EXPECT_EQ(types_.Substitute(types_.Tuple({from, to}), substitution, pool_),
            types_.Tuple({to, to}));
}

TEST_F(TypeTest, APackBecomesItsUnits) {
  Substitution substitution;
  substitution.BindPack(s_, count_, {Dim(n_), Dim(pool_.Constant(2))}, pool_);
  const TypeId from = types_.Tensor({pack_, Dim(h_)}, kBf16);
  EXPECT_EQ(types_.Substitute(from, substitution, pool_),
            types_.Tensor({Dim(n_), Dim(pool_.Constant(2)), Dim(h_)}, kBf16));
  EXPECT_EQ(SubstituteDim(pool_.Mul(count_, h_), substitution, pool_),
            pool_.Mul(pool_.Mul(pool_.Constant(2), n_), h_));
}

TEST_F(TypeTest, AnEmptyPackLeavesTheOtherUnits) {
  Substitution substitution;
  substitution.BindPack(s_, count_, {}, pool_);
  EXPECT_EQ(types_.Substitute(types_.Tensor({pack_, Dim(h_)}, kBf16),
                              substitution, pool_),
            types_.Tensor({Dim(h_)}, kBf16));
  EXPECT_EQ(
      types_.Substitute(types_.Tensor({pack_}, kBf16), substitution, pool_),
      types_.Scalar(kBf16));
  EXPECT_EQ(SubstituteDim(count_, substitution, pool_), pool_.One());
}

TEST_F(TypeTest, SharedPartsAreSubstitutedOnce) {
  Substitution substitution;
  substitution.dims[h_.symbol()] = pool_.Constant(8);
  TypeId from = types_.Tensor({Dim(h_)}, kBf16);
  TypeId to = types_.Tensor({Dim(pool_.Constant(8))}, kBf16);
  for (int i = 0; i < 60; ++i) {
    from = types_.Tuple({from, from});
    to = types_.Tuple({to, to});
  }
  EXPECT_EQ(types_.Substitute(from, substitution, pool_), to);
}

TEST_F(TypeTest, SubstitutesArgumentsOfBlocks) {
  Type block;
  block.kind = TypeKind::kBlock;
  block.decl = 7;
  block.args = {GenericArg::Dim(h_), GenericArg::DTypeOf(DTypeRef::Of(t_)),
                GenericArg::ShapeOf({pack_})};
  Substitution substitution;
  substitution.dims[h_.symbol()] = pool_.Constant(8);
  substitution.dtypes[t_] = kBf16;
  substitution.BindPack(s_, count_, {Dim(n_)}, pool_);
  const Type& result =
      types_.get(types_.Substitute(types_.Intern(block), substitution, pool_));
  EXPECT_EQ(result.decl, 7);
  ASSERT_EQ(result.args.size(), 3u);
  EXPECT_EQ(result.args[0], GenericArg::Dim(pool_.Constant(8)));
  EXPECT_EQ(result.args[1], GenericArg::DTypeOf(kBf16));
  EXPECT_EQ(result.args[2], GenericArg::ShapeOf({Dim(n_)}));
}

TEST_F(TypeTest, BindsGenericsInOrder) {
  std::vector<Generic> generics(3);
  generics[0].kind = GenericKind::kShape;
  generics[0].dim = count_;
  generics[0].pack = s_;
  generics[1].kind = GenericKind::kDim;
  generics[1].dim = h_;
  generics[2].kind = GenericKind::kFloat;
  generics[2].dtype = t_;
  const std::vector<GenericArg> args = {GenericArg::ShapeOf({Dim(n_)}),
                                        GenericArg::Dim(pool_.Constant(16)),
                                        GenericArg::DTypeOf(kBf16)};
  const Substitution substitution = BindGenerics(generics, args, pool_);
  EXPECT_EQ(types_.Substitute(types_.Tensor({pack_, Dim(h_)}, DTypeRef::Of(t_)),
                              substitution, pool_),
            types_.Tensor({Dim(n_), Dim(pool_.Constant(16))}, kBf16));
  // What a generic is bound to in its own body changes nothing.
  std::vector<GenericArg> own;
  for (const Generic& generic : generics) own.push_back(generic.AsArg());
  const TypeId type = types_.Tensor({pack_, Dim(h_)}, DTypeRef::Of(t_));
  EXPECT_EQ(types_.Substitute(type, BindGenerics(generics, own, pool_), pool_),
            type);
}

}  // namespace
}  // namespace linnet::lang
