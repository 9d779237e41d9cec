#include "fenchel/base/dense.hpp"

#include <utility>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace fenchel::dense {

bool Cholesky::factorize(Matrix lower) {
  factor_ = std::move(lower);
  return Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower>(factor_).info() == Eigen::Success;
}

void Cholesky::solve_in_place(Eigen::Ref<Vector> x) const {
  factor_.triangularView<Eigen::Lower>().solveInPlace(x);
  factor_.triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
}

Matrix Cholesky::solve(const Matrix& columns) const {
  Matrix x = columns;
  factor_.triangularView<Eigen::Lower>().solveInPlace(x);
  factor_.triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
  return x;
}

void FactoredSquare::clear(std::size_t size) {
  const auto d = static_cast<Eigen::Index>(size);
  square_.setZero(d, d);
}

bool FactoredSquare::factorize(double scale, const Eigen::Ref<const Vector>& ridge, double lift) {
  const Vector diagonal = square_.diagonal();
  for (Eigen::Index j = 0; j < square_.cols(); ++j) {
    square_.row(j).tail(square_.cols() - j - 1) = scale * square_.col(j).tail(square_.cols() - j - 1).transpose();
  }
  square_.diagonal() = (scale * diagonal + ridge) * (1.0 + lift);
  const bool positive = Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Upper>(square_).info() == Eigen::Success;
  pivots_ = square_.diagonal();
  for (Eigen::Index j = 1; j < square_.cols(); ++j) square_.col(j).head(j).array() /= pivots_.head(j).array();
  pivots_ = pivots_.cwiseAbs2();
  square_.diagonal() = diagonal;
  return positive;
}

void FactoredSquare::solve_in_place(Eigen::Ref<Vector> x) const {
  const auto factor = square_.triangularView<Eigen::UnitUpper>();
  factor.transpose().solveInPlace(x);
  x.array() /= pivots_.array();
  factor.solveInPlace(x);
}

void FactoredSquare::multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> product) const {
  product.noalias() = square_.selfadjointView<Eigen::Lower>() * x;
}

Vector solve_semidefinite(const Matrix& lower, const Vector& rhs) { return lower.ldlt().solve(rhs); }

Vector solve_general(const Matrix& matrix, const Vector& rhs) { return matrix.colPivHouseholderQr().solve(rhs); }

double smallest_eigenvalue(const Matrix& lower) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(lower, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

Matrix inner_product(MatrixView a, MatrixView b) { return a.transpose() * b; }

Matrix outer_product(MatrixView a, MatrixView b) { return a * b.transpose(); }

void add_outer_square(double* lower, MatrixView a, double scale) {
  Eigen::Map<Matrix>(lower, a.rows(), a.rows()).selfadjointView<Eigen::Lower>().rankUpdate(a, scale);
}

}  // namespace fenchel::dense
