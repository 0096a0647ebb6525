// LRN, BatchNorm and MVN.

#include "common.cuh"

// s^−β; the usual β by square roots, which is faster than a power
__device__ inline Real lrn_power(Real s, Real beta) {
  if (beta != Real(0.75)) return pow(s, -beta);
  const Real root = sqrt(s);
  return 1 / (root * sqrt(root));
}

// Σ v over the `size` channels around element i, zeros beyond the edges.  `value` gives v at a place.
template <class Value>
__device__ Real sum_across(int i, int channels, int inner, int size, Value value) {
  const int c = i / inner % channels;
  const int first = c > size / 2 ? c - size / 2 : 0;
  const int last = c + size / 2 < channels - 1 ? c + size / 2 : channels - 1;
  Real sum = 0;
  for (int k = first; k <= last; ++k) sum += value(i + (k - c) * inner);
  return sum;
}

// Σ v over the size × size pixels around element i of its channel
template <class Value>
__device__ Real sum_within(int i, int height, int width, int size, Value value) {
  const int h = i / width % height, w = i % width, reach = size / 2;
  Real sum = 0;
  for (int dh = h < reach ? -h : -reach; dh <= reach && h + dh < height; ++dh)
    for (int dw = w < reach ? -w : -reach; dw <= reach && w + dw < width; ++dw) sum += value(i + dh * width + dw);
  return sum;
}

// s = k + α/n Σx²
KERNEL lrn_across_scale(int n, int channels, int inner, int size, Real alpha_over_n, Real k, const Real *x,
                        Real *scale) {
  for (int i : Grid(n))
    scale[i] = k + alpha_over_n * sum_across(i, channels, inner, size, [=](int j) { return x[j] * x[j]; });
}

KERNEL lrn_within_scale(int n, int height, int width, int size, Real alpha_over_n, const Real *x, Real *scale) {
  for (int i : Grid(n))
    scale[i] = 1 + alpha_over_n * sum_within(i, height, width, size, [=](int j) { return x[j] * x[j]; });
}

// y = x·s^−β
KERNEL lrn_forward(int n, Real beta, const Real *x, const Real *scale, Real *y) {
  for (int i : Grid(n)) y[i] = x[i] * lrn_power(scale[i], beta);
}

// ∂y·y/s, which backward sums around each element
KERNEL lrn_ratio(int n, const Real *gy, const Real *y, const Real *scale, Real *ratio) {
  for (int i : Grid(n)) ratio[i] = gy[i] * y[i] / scale[i];
}

// ∂x = ∂y·s^−β − factor·x·Σ ratio, factor = 2αβ/n.  In place x is y, from which x is found again.
__device__ inline Real lrn_gradient(int i, Real factor, Real beta, int in_place, const Real *x, const Real *gy,
                                    const Real *scale, Real sum) {
  const Real power = lrn_power(scale[i], beta);
  return gy[i] * power - factor * (in_place ? x[i] / power : x[i]) * sum;
}

KERNEL lrn_across_backward(int n, int channels, int inner, int size, Real factor, Real beta, int in_place,
                           const Real *x, const Real *gy, const Real *scale, const Real *ratio, Real *gx) {
  for (int i : Grid(n)) {
    const Real sum = sum_across(i, channels, inner, size, [=](int j) { return ratio[j]; });
    gx[i] = lrn_gradient(i, factor, beta, in_place, x, gy, scale, sum);
  }
}

KERNEL lrn_within_backward(int n, int height, int width, int size, Real factor, Real beta, int in_place,
                           const Real *x, const Real *gy, const Real *scale, const Real *ratio, Real *gx) {
  for (int i : Grid(n)) {
    const Real sum = sum_within(i, height, width, size, [=](int j) { return ratio[j]; });
    gx[i] = lrn_gradient(i, factor, beta, in_place, x, gy, scale, sum);
  }
}

// means ← f·means + μ   variances ← f·variances + σ²·m/(m − 1)   total ← f·total + 1   inverse = 1 / √(σ² + eps)
KERNEL batch_norm_statistics(int n, int values, Real fraction, Real eps, const Real *mean, const Real *variance,
                             Real *means, Real *variances, Real *total, Real *inverse) {
  const Real unbiased = values > 1 ? Real(values) / Real(values - 1) : Real(1);
  for (int c : Grid(n)) {
    means[c] = fraction * means[c] + mean[c];
    variances[c] = fraction * variances[c] + variance[c] * unbiased;
    inverse[c] = 1 / sqrt(variance[c] + eps);
    if (c == 0) total[0] = fraction * total[0] + 1;
  }
}

// μ = means / total   inverse = 1 / √(variances / total + eps)
KERNEL batch_norm_stored(int n, Real eps, const Real *means, const Real *variances, const Real *total, Real *mean,
                         Real *inverse) {
  const Real factor = total[0] != 0 ? 1 / total[0] : Real(0);
  for (int c : Grid(n)) {
    mean[c] = means[c] * factor;
    inverse[c] = 1 / sqrt(variances[c] * factor + eps);
  }
}

// centred = x − μ, kept for backward;  y = centred·inverse
KERNEL batch_norm_forward(int n, int channels, int inner, const Real *x, const Real *mean, const Real *inverse,
                          Real *centred, Real *y) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    const Real d = x[i] - mean[c];
    centred[i] = d;
    y[i] = d * inverse[c];
  }
}

// The same with stored statistics, whose gradient needs nothing kept
KERNEL batch_norm_normalise(int n, int channels, int inner, const Real *x, const Real *mean, const Real *inverse,
                            Real *y) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    y[i] = (x[i] - mean[c]) * inverse[c];
  }
}

// Σ ∂y and Σ ∂y·centred of a channel, by splits
KERNEL batch_norm_sums(int rows, int splits, int outer, int channels, int inner, const Real *gy,
                       const Real *centred, Real *partial, Real *partial_dot) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, outer * inner);
    Real sum = 0, dot = 0;
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x) {
      const long long i = place(k, split.channel, channels, inner);
      sum += gy[i];
      dot += gy[i] * centred[i];
    }
    sum = block_sum(sum, room);
    dot = block_sum(dot, room);
    if (threadIdx.x == 0) {
      partial[row] = sum;
      partial_dot[row] = dot;
    }
  }
}

// ∂x = (∂y − mean(∂y) − centred·mean(∂y·centred)·inverse²)·inverse
KERNEL batch_norm_backward(int n, int channels, int inner, const Real *gy, const Real *centred,
                           const Real *mean_gy, const Real *mean_dot, const Real *inverse, Real *gx) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    const Real slope = mean_dot[c] * inverse[c] * inverse[c];
    gx[i] = (gy[i] - (centred[i] * slope + mean_gy[c])) * inverse[c];
  }
}

// y = (x − μ) / (σ + eps) of a row, or x − μ;  deviation = σ + eps
KERNEL mvn_forward(int rows, int size, int normalize, Real eps, const Real *x, Real *y, Real *deviation) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long first = (long long)row * size;
    Real sum = 0;
    for (int k = threadIdx.x; k < size; k += blockDim.x) sum += x[first + k];
    const Real mean = block_sum(sum, room) / size;
    Real squares = 0;
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      const Real d = x[first + k] - mean;
      y[first + k] = d;
      squares += d * d;
    }
    if (!normalize) continue;
    const Real sigma = sqrt(block_sum(squares, room) / size) + eps;
    for (int k = threadIdx.x; k < size; k += blockDim.x) y[first + k] /= sigma;
    if (threadIdx.x == 0) deviation[row] = sigma;
  }
}

// ∂x = (∂y − mean(∂y) − y·mean(∂y·y)) / (σ + eps), or ∂y − mean(∂y)
KERNEL mvn_backward(int rows, int size, int normalize, const Real *y, const Real *gy, const Real *deviation,
                    Real *gx) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long first = (long long)row * size;
    Real sum = 0, dot = 0;
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      sum += gy[first + k];
      dot += gy[first + k] * y[first + k];
    }
    const Real mean = block_sum(sum, room) / size;
    const Real slope = normalize ? block_sum(dot, room) / size : Real(0);
    const Real sigma = normalize ? deviation[row] : Real(1);
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      const Real flat = gy[first + k] - mean;
      gx[first + k] = normalize ? (flat - y[first + k] * slope) / sigma : flat;
    }
  }
}
