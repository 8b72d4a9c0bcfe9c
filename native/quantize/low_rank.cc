#include "quantize/low_rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace longhand {

namespace {

// Householder's reduction to a tridiagonal matrix, accumulating the rotation in `a` (EISPACK tred2).
void tridiagonal(std::vector<double>& a, int64_t n, std::vector<double>& d, std::vector<double>& e) {
  const auto at = [&](int64_t i, int64_t j) -> double& { return a[static_cast<size_t>(i * n + j)]; };
  const auto D = [&](int64_t i) -> double& { return d[static_cast<size_t>(i)]; };
  const auto E = [&](int64_t i) -> double& { return e[static_cast<size_t>(i)]; };
  for (int64_t i = n - 1; i > 0; --i) {
    const int64_t l = i - 1;
    double h = 0, scale = 0;
    for (int64_t k = 0; k <= l; ++k) scale += std::abs(at(i, k));
    if (l == 0 || scale == 0) {
      E(i) = at(i, l);
      D(i) = 0;
      continue;
    }
    for (int64_t k = 0; k <= l; ++k) {
      at(i, k) /= scale;
      h += at(i, k) * at(i, k);
    }
    const double f = at(i, l), g = f >= 0 ? -std::sqrt(h) : std::sqrt(h);
    E(i) = scale * g;
    h -= f * g;
    at(i, l) = f - g;
    double sum = 0;
    for (int64_t j = 0; j <= l; ++j) {
      at(j, i) = at(i, j) / h;
      double product = 0;
      for (int64_t k = 0; k <= j; ++k) product += at(j, k) * at(i, k);
      for (int64_t k = j + 1; k <= l; ++k) product += at(k, j) * at(i, k);
      E(j) = product / h;
      sum += E(j) * at(i, j);
    }
    const double half = sum / (h + h);
    for (int64_t j = 0; j <= l; ++j) {
      const double fj = at(i, j), gj = E(j) - half * fj;
      E(j) = gj;
      for (int64_t k = 0; k <= j; ++k) at(j, k) -= fj * E(k) + gj * at(i, k);
    }
    D(i) = h;
  }
  D(0) = 0;
  E(0) = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (D(i) != 0) {
      std::vector<double> g(static_cast<size_t>(i), 0.0);
      for (int64_t k = 0; k < i; ++k)
        for (int64_t j = 0; j < i; ++j) g[static_cast<size_t>(j)] += at(i, k) * at(k, j);
      for (int64_t k = 0; k < i; ++k)
        for (int64_t j = 0; j < i; ++j) at(k, j) -= g[static_cast<size_t>(j)] * at(k, i);
    }
    D(i) = at(i, i);
    at(i, i) = 1;
    for (int64_t j = 0; j < i; ++j) at(j, i) = at(i, j) = 0;
  }
}

// Implicit QL on the tridiagonal matrix (EISPACK tql2). `vectors` by rows, so that two neighbours are turned in place.
void diagonalise(std::vector<double>& d, std::vector<double>& e, std::vector<double>& vectors, int64_t n) {
  const auto D = [&](int64_t i) -> double& { return d[static_cast<size_t>(i)]; };
  const auto E = [&](int64_t i) -> double& { return e[static_cast<size_t>(i)]; };
  for (int64_t i = 1; i < n; ++i) E(i - 1) = E(i);
  E(n - 1) = 0;
  for (int64_t l = 0; l < n; ++l) {
    for (int steps = 0; steps < 200; ++steps) {
      int64_t m = l;
      for (; m < n - 1; ++m) {
        const double near = std::abs(D(m)) + std::abs(D(m + 1));
        if (std::abs(E(m)) + near == near) break;
      }
      if (m == l) break;
      double g = (D(l + 1) - D(l)) / (2.0 * E(l)), r = std::hypot(g, 1.0);
      g = D(m) - D(l) + E(l) / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        double f = s * E(i);
        const double b = c * E(i);
        r = std::hypot(f, g);
        E(i + 1) = r;
        if (r == 0) {
          D(i + 1) -= p;
          E(m) = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = D(i + 1) - p;
        r = (D(i) - g) * s + 2.0 * c * b;
        p = s * r;
        D(i + 1) = g + p;
        g = c * r - b;
        double* lower = vectors.data() + i * n;
        double* upper = lower + n;
        for (int64_t k = 0; k < n; ++k) {
          f = upper[k];
          upper[k] = s * lower[k] + c * f;
          lower[k] = c * lower[k] - s * f;
        }
      }
      if (r == 0 && i >= l) continue;
      D(l) -= p;
      E(l) = g;
      E(m) = 0;
    }
  }
}

std::vector<double> transposed(const std::vector<double>& from, int64_t rows, int64_t columns) {
  std::vector<double> out(from.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[static_cast<size_t>(j * rows + i)] = from[static_cast<size_t>(i * columns + j)];
  return out;
}

// a [rows, inner] * b^T, b [columns, inner].
std::vector<double> times_transposed(const std::vector<double>& a, int64_t rows, const std::vector<double>& b,
                                     int64_t columns, int64_t inner) {
  std::vector<double> out(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[static_cast<size_t>(i * columns + j)] =
          std::inner_product(a.data() + i * inner, a.data() + (i + 1) * inner, b.data() + j * inner, 0.0);
  return out;
}

double squared(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

}  // namespace

std::vector<double> symmetric_eigen(std::vector<double>& matrix, int64_t size) {
  const auto n = static_cast<size_t>(size);
  std::vector<double> d(n), e(n);
  tridiagonal(matrix, size, d, e);
  std::vector<double> vectors = transposed(matrix, size, size);
  diagonalise(d, e, vectors, size);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return d[a] > d[b]; });
  std::vector<double> values(n);
  for (size_t k = 0; k < n; ++k) {
    values[k] = d[order[k]];
    for (size_t i = 0; i < n; ++i) matrix[i * n + k] = vectors[order[k] * n + i];
  }
  return values;
}

LowRank low_rank(const std::vector<double>& matrix, int64_t rows, int64_t columns, int64_t rank,
                 const std::vector<double>& covariance) {
  // The leading eigenvectors of W C W^T are the output directions that matter most: projecting W onto them is the best
  // approximation.
  const std::vector<double> weighed =
      covariance.empty() ? matrix : times_transposed(matrix, rows, covariance, columns, columns);
  std::vector<double> vectors = times_transposed(weighed, rows, matrix, rows, columns);
  if (rows == 0) return {{}, std::vector<double>(static_cast<size_t>(rank * columns)), 0, {}};
  LowRank out;
  out.energies = symmetric_eigen(vectors, rows);
  out.up.assign(static_cast<size_t>(rows * rank), 0.0);
  out.down.assign(static_cast<size_t>(rank * columns), 0.0);
  std::vector<double> left = matrix;
  for (int64_t k = 0; k < std::min(rank, rows); ++k) {
    double* down = out.down.data() + k * columns;
    for (int64_t i = 0; i < rows; ++i) {
      const double u = vectors[static_cast<size_t>(i * rows + k)];
      for (int64_t j = 0; j < columns; ++j) down[j] += u * matrix[static_cast<size_t>(i * columns + j)];
    }
    const double length = std::sqrt(std::inner_product(down, down + columns, down, 0.0));
    // This direction is nothing but rounding error.
    if (!(length > 1e-12 * std::sqrt(std::max(out.energies[0], 0.0)))) {
      std::fill(down, down + columns, 0.0);
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) down[j] /= length;
    for (int64_t i = 0; i < rows; ++i) {
      const double up = vectors[static_cast<size_t>(i * rows + k)] * length;
      out.up[static_cast<size_t>(i * rank + k)] = up;
      for (int64_t j = 0; j < columns; ++j) left[static_cast<size_t>(i * columns + j)] -= up * down[j];
    }
  }
  const double whole = squared(matrix);
  out.error = whole > 0 ? std::sqrt(squared(left) / whole) : 0;
  return out;
}

}  // namespace longhand
