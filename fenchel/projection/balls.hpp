// Euclidean projections onto the sets of the constrained penalties, and their support functions sigma(u) = max <u, w> with
// a maximiser, each in linear time:
//
//     simplex           w >= 0, sum_j w_j = r
//     l1 ball           ||w||_1 <= r
//     l2 ball           ||w||_2 <= r
//     elastic-net ball  rho ||w||_1 + (1 - rho)/2 ||w||^2 <= r,  0 <= rho <= 1
//
// The multiplier theta of the elastic-net ball is a root of clipped lines (piecewise_root.hpp). With kappa = 1 - rho the
// projection of p is w_j = sgn(p_j) [|p_j| - theta rho]_+ / (1 + theta kappa), and tau = theta (2 + theta kappa) solves
//
//     sum_j [|p_j| (2 rho + kappa |p_j|) - rho^2 tau]_+ = 2r (1 + kappa tau),
//
// a form without the cancellation of (1 + theta kappa)^2 - 1, and valid from rho = 0 to rho = 1. The support function is
// attained at w_j = sgn(u_j) [|u_j| - theta rho]_+ / (theta kappa), where sum_j [u_j^2 - rho^2 theta^2]_+ = 2r kappa theta^2.
// (Zhang, Saha and Vishwanathan, section 5, print another condition, which ends on a sphere of the wrong radius.)
//
// Radii are finite and >= 0, points finite; else Error(Fault::usage). `result` may be the point itself.
#pragma once

#include <span>

namespace fenchel::projection {

void project_simplex(std::span<const double> point, double radius, std::span<double> result);
void project_l1_ball(std::span<const double> point, double radius, std::span<double> result);
void project_l2_ball(std::span<const double> point, double radius, std::span<double> result);
void project_elastic_net_ball(std::span<const double> point, double rho, double radius, std::span<double> result);

// r max_j u_j; the set is empty where there is no coordinate.
double support_simplex(std::span<const double> u, double radius);
// r max_j |u_j|
double support_l1_ball(std::span<const double> u, double radius);
// r ||u||
double support_l2_ball(std::span<const double> u, double radius);
double support_elastic_net_ball(std::span<const double> u, double rho, double radius);

// A w of the set with <u, w> = sigma(u): the first corner that has it, or 0 in a ball for u = 0.
void maximize_simplex(std::span<const double> u, double radius, std::span<double> result);
void maximize_l1_ball(std::span<const double> u, double radius, std::span<double> result);
void maximize_l2_ball(std::span<const double> u, double radius, std::span<double> result);
void maximize_elastic_net_ball(std::span<const double> u, double rho, double radius, std::span<double> result);

// rho ||w||_1 + (1 - rho)/2 ||w||^2
double elastic_net_size(std::span<const double> w, double rho);

}  // namespace fenchel::projection
