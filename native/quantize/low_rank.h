// W ~ Up Down of a given rank, with the least output error for inputs of a given covariance.
#pragma once

#include <cstdint>
#include <vector>

namespace longhand {

struct LowRank {
  std::vector<double> up;    // [rows, rank]
  std::vector<double> down;  // [rank, columns]
  double error = 0;          // |W - Up Down| / |W|, Frobenius
  // [rows]: output energies of the directions, largest first. What rank r loses is the sum of those from r on.
  std::vector<double> energies;
};

// `covariance` [columns, columns], empty: as it is, and Down has orthonormal rows (the truncated singular value
// decomposition with all singular values in Up, arXiv 2502.14837). A rank above min(rows, columns) is filled with
// zeros.
LowRank low_rank(const std::vector<double>& matrix, int64_t rows, int64_t columns, int64_t rank,
                 const std::vector<double>& covariance);

// Eigenvalues, largest first, and eigenvectors as columns of a symmetric matrix [size, size], which is overwritten by
// them.
std::vector<double> symmetric_eigen(std::vector<double>& matrix, int64_t size);

}  // namespace longhand
