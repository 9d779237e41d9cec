// Checks claims again from the data: the claim of a model file, and weights that come without one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fenchel/data/dataset.hpp"
#include "fenchel/model/foreign.hpp"
#include "fenchel/model/model.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/registry/plan.hpp"

namespace fenchel::model {

struct Audit {
  std::vector<problem::Certificate> outputs;  // recomputed; empty where the data are not those of the model
  problem::Certificate total;                 // sums over the outputs
  bool certified = false;
  std::string reason;  // why not; empty if certified
};

// Recomputes primal, dual and gap from the data and what the model stores. Certified if and only if the data have the
// stored fingerprint, settings and stored strengths agree, every stored dual point is feasible as it stands, every gap is at
// most the claimed one plus the rounding part of the new one, and primal and dual agree up to rounding. Read the data with the
// model's precision and index base.
Audit audit(const Model& model, const data::Dataset& dataset);

// The same data with at least that many columns; the new ones are empty.
data::Dataset with_columns(data::Dataset dataset, std::size_t columns);

// A primal point without a claim. Dual candidates may be given in either form; the certificate also tries its own.
struct Point {
  std::vector<double> w;      // one a coordinate of the problem, with the constant's where the plan has one
  double b = 0.0;             // the free bias
  std::vector<double> alpha;  // made feasible; may be empty
  std::vector<double> beta;   // weighted duals, taken as they are (such as Output::beta of a fit); may be empty
};

// The foreign weights of one output as a point of the plan's problem. Throws Error where classes, bias or size do not fit; data
// with fewer columns than the weights go through with_columns first.
Point point_of(const Foreign& foreign, const registry::Plan& plan, std::size_t output);

// The certificate of the point with the best dual point that can be made of it.
problem::Certificate audit_point(const registry::Plan& plan, std::size_t output, const Point& point);
// The same under a multiclass loss, for the points of all outputs; only `beta` of their duals is looked at.
problem::Certificate audit_jointly(const registry::Plan& plan, std::span<const Point> points);

// Sums over outputs that stay bounds.
problem::Certificate total_of(const std::vector<problem::Certificate>& outputs);

}  // namespace fenchel::model
