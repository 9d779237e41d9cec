#include "fenchel/base/dense.hpp"

#include <gtest/gtest.h>

#include "fenchel/base/random.hpp"

namespace fenchel::dense {
namespace {

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, Random& random) {
  return Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

void add(const Matrix& matrix, FactoredSquare& square) {
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    for (Eigen::Index i = j; i < matrix.rows(); ++i)
      square.lower()[static_cast<std::size_t>(j * matrix.rows() + i)] += matrix(i, j);
  }
}

void expect_solves(const FactoredSquare& square, const Matrix& matrix, Random& random) {
  const Vector truth = random_matrix(matrix.rows(), 1, random);
  Vector x = matrix * truth;
  square.solve_in_place(x);
  EXPECT_LT((x - truth).norm(), 1e-9 * truth.norm());
}

TEST(FactoredSquare, SolvesAndKeepsWhatItFactorized) {
  Random random(3);
  for (const Eigen::Index d : {1, 2, 7, 64, 150}) {
    const Matrix wide = random_matrix(d, 2 * d, random);
    Matrix matrix = wide * wide.transpose();
    const Vector ridge = random_matrix(d, 1, random).cwiseAbs();
    FactoredSquare square;
    EXPECT_TRUE(square.empty());
    square.clear(static_cast<std::size_t>(d));
    EXPECT_FALSE(square.empty());
    add(matrix, square);
    for (const double scale : {1.0, 0.01, 30.0}) {
      ASSERT_TRUE(square.factorize(scale, ridge, 0.0));
      expect_solves(square, scale * matrix + Matrix(ridge.asDiagonal()), random);
      // The matrix is still there, to the bit, and may be added to.
      const Vector x = Vector::Unit(d, d / 2);
      Vector product(d);
      square.multiply(x, product);
      for (Eigen::Index i = d / 2; i < d; ++i) EXPECT_EQ(product[i], matrix(i, d / 2));
      const Vector more = random_matrix(d, 1, random);
      add(more * more.transpose(), square);
      matrix += more * more.transpose();
    }
  }
}

TEST(FactoredSquare, SaysWhereThereIsNoFactorAndGoesOn) {
  Random random(5);
  const Vector column = random_matrix(20, 1, random);
  FactoredSquare square;
  square.clear(20);
  add(column * column.transpose() - 2.0 * Matrix::Identity(20, 20), square);
  EXPECT_FALSE(square.factorize(1.0, Vector::Zero(20), 0.0));
  ASSERT_TRUE(square.factorize(1.0, Vector::Constant(20, 3.0), 0.0));
  expect_solves(square, column * column.transpose() + Matrix::Identity(20, 20), random);
  // A lift raises the whole diagonal.
  ASSERT_TRUE(square.factorize(1.0, Vector::Constant(20, 3.0), 0.5));
  Matrix lifted = column * column.transpose() + Matrix::Identity(20, 20);
  lifted.diagonal() *= 1.5;
  expect_solves(square, lifted, random);
}

}  // namespace
}  // namespace fenchel::dense
