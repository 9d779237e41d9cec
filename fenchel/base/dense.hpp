// Factorisations and products of dense matrices, by Eigen. Its blocked kernels take long to compile, so that they are
// instantiated in one file for all who use them.
#pragma once

#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace fenchel::dense {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using MatrixView = Eigen::Ref<const Matrix>;

// Of a symmetric matrix, of which the lower triangle is read.
class Cholesky {
 public:
  // Whether all pivots are positive; where one is not, there is nothing to solve with.
  bool factorize(Matrix lower);
  // The memory of a factor that is not needed any more.
  Matrix take() { return std::move(factor_); }
  void solve_in_place(Eigen::Ref<Vector> x) const;
  [[nodiscard]] Matrix solve(const Matrix& columns) const;

 private:
  Matrix factor_;  // the lower triangle
};

// Of a symmetric matrix that is positive semidefinite up to rounding, by pivoting.
Vector solve_semidefinite(const Matrix& lower, const Vector& rhs);
// Of any square matrix, in the least-squares sense where it is singular.
Vector solve_general(const Matrix& matrix, const Vector& rhs);
double smallest_eigenvalue(const Matrix& lower);

Matrix inner_product(MatrixView a, MatrixView b);  // A'B
Matrix outer_product(MatrixView a, MatrixView b);  // AB'
// lower += scale AA', the lower triangle of a matrix that lies column by column.
void add_outer_square(double* lower, MatrixView a, double scale);

}  // namespace fenchel::dense
