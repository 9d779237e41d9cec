// Factorisations and products of dense matrices, by Eigen. Its blocked kernels take long to compile, so that they are
// instantiated in one file for all who use them.
#pragma once

#include <cstddef>
#include <span>

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
  void solve_in_place(Eigen::Ref<Vector> x) const;
  [[nodiscard]] Matrix solve(const Matrix& columns) const;

 private:
  Matrix factor_;  // the lower triangle
};

// A symmetric matrix A that is kept up to date, and a factorisation of scale A + diag(ridge): one square holds both, A below its
// diagonal and the factor above.
class FactoredSquare {
 public:
  [[nodiscard]] bool empty() const { return square_.size() == 0; }
  void clear(std::size_t size);  // A = 0
  // A's lower triangle, column by column, to add to; what is added above the diagonal is lost.
  [[nodiscard]] std::span<double> lower() { return {square_.data(), static_cast<std::size_t>(square_.size())}; }

  // Where the diagonal is raised by a factor 1 + lift. Whether all pivots are positive; where one is not, there is nothing to solve with.
  bool factorize(double scale, const Eigen::Ref<const Vector>& ridge, double lift);
  void solve_in_place(Eigen::Ref<Vector> x) const;
  void multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> product) const;  // A x

 private:
  Matrix square_;  // above the diagonal R, with R_ii = 1 in scale A + diag(ridge) = R' diag(pivots) R
  Vector pivots_;
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
