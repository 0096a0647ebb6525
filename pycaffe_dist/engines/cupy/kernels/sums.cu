// Sums over parts of an array, always in the same order; what is made of them.

#include "common.cuh"

// y ← keep·y + scale·Σ term.  A block sums one split of a channel into partial[row]; the last of a channel's adds them up.
template <class Term>
__device__ void sum_splits(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep,
                           Real *partial, unsigned int *tickets, Real *y, Term term) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, outer * inner);
    Real sum = 0;
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x)
      sum += term(place(k, split.channel, channels, inner), split.channel);
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) partial[row] = sum;
    finish_sums(split.channel, splits, scale, keep, partial, tickets, y, room);
  }
}

// Σ x
KERNEL channel_sums(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep, const Real *x,
                    Real *partial, unsigned int *tickets, Real *y) {
  sum_splits(rows, splits, outer, channels, inner, scale, keep, partial, tickets, y,
             [=](long long i, int) { return x[i]; });
}

// Σ |x|
KERNEL channel_abs_sums(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep, const Real *x,
                        Real *partial, unsigned int *tickets, Real *y) {
  sum_splits(rows, splits, outer, channels, inner, scale, keep, partial, tickets, y,
             [=](long long i, int) { return fabs(x[i]); });
}

// Σ a·b
KERNEL channel_dots(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep, const Real *a,
                    const Real *b, Real *partial, unsigned int *tickets, Real *y) {
  sum_splits(rows, splits, outer, channels, inner, scale, keep, partial, tickets, y,
             [=](long long i, int) { return a[i] * b[i]; });
}

// Σ (x − mean)²
KERNEL channel_deviations(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep,
                          const Real *x, const Real *mean, Real *partial, unsigned int *tickets, Real *y) {
  sum_splits(rows, splits, outer, channels, inner, scale, keep, partial, tickets, y, [=](long long i, int c) {
    const Real d = x[i] - mean[c];
    return d * d;
  });
}

// PReLU's slopes: Σ ∂y·x·[x ≤ 0]; 0·∞ is NaN
KERNEL prelu_slope_sums(int rows, int splits, int outer, int channels, int inner, Real scale, Real keep, const Real *x,
                        const Real *gy, Real *partial, unsigned int *tickets, Real *y) {
  sum_splits(rows, splits, outer, channels, inner, scale, keep, partial, tickets, y,
             [=](long long i, int) { return gy[i] * (x[i] * Real(x[i] <= 0)); });
}

// ∂x = c·∂y, c·∂y·sign(x) for ASUM (2), 2c·∂y·x for SUMSQ (3)
KERNEL reduction_backward(int n, int size, int operation, Real coeff, const Real *gy, const Real *x, Real *gx) {
  for (int i : Grid(n)) {
    const Real g = gy[i / size] * coeff;
    gx[i] = operation == 2 ? sign_of(x[i]) * g : operation == 3 ? x[i] * (g * 2) : g;
  }
}

// Whether (a, i) stands before (b, j): larger values first, NaN before all, of equals the last.
__device__ inline bool before(Real a, int i, Real b, int j) {
  const bool nan_a = a != a, nan_b = b != b;
  if (nan_a != nan_b) return nan_a;
  return a > b || (!(a < b) && i > j);
}

// The top_k largest along an axis of `size`, largest first: each is the next behind the one before it.
KERNEL argmax(int n, int size, int inner, int top_k, int outer_step, int index_at, int value_at, const Real *x,
              Real *y) {
  for (int i : Grid(n)) {
    const Real *values = x + (long long)(i / inner) * size * inner + i % inner;
    Real *out = y + (long long)(i / inner) * outer_step + i % inner;
    int last = -1;
    for (int rank = 0; rank < top_k; ++rank) {
      int best = -1;
      for (int k = 0; k < size; ++k) {
        const Real v = values[(long long)k * inner];
        if (last >= 0 && !before(values[(long long)last * inner], last, v, k)) continue;
        if (best < 0 || before(v, k, values[(long long)best * inner], best)) best = k;
      }
      if (index_at >= 0) out[index_at + rank * inner] = (Real)best;
      if (value_at >= 0) out[value_at + rank * inner] = values[(long long)best * inner];
      last = best;
    }
  }
}
