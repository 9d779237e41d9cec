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
