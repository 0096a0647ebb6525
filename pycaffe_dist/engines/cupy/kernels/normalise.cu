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

// s = k + α/n Σx²   y = x·s^−β.  Neighbours look at x: y is another array.
__device__ inline void lrn_scale(int i, Real s, Real beta, const Real *x, Real *scale, Real *y) {
  scale[i] = s;
  y[i] = x[i] * lrn_power(s, beta);
}

KERNEL lrn_across_forward(int n, int channels, int inner, int size, Real alpha_over_n, Real k, Real beta,
                          const Real *x, Real *scale, Real *y) {
  for (int i : Grid(n)) {
    const Real sum = sum_across(i, channels, inner, size, [=](int j) { return x[j] * x[j]; });
    lrn_scale(i, k + alpha_over_n * sum, beta, x, scale, y);
  }
}

KERNEL lrn_within_forward(int n, int height, int width, int size, Real alpha_over_n, Real k, Real beta,
                          const Real *x, Real *scale, Real *y) {
  for (int i : Grid(n)) {
    const Real sum = sum_within(i, height, width, size, [=](int j) { return x[j] * x[j]; });
    lrn_scale(i, k + alpha_over_n * sum, beta, x, scale, y);
  }
}

// ∂x = ∂y·s^−β − factor·x·Σ ∂y·y/s, factor = 2αβ/n.  In place x is y, from which x is found again; ∂x is another array
// than ∂y even then.
__device__ inline Real lrn_gradient(int i, Real factor, Real beta, int in_place, const Real *x, const Real *gy,
                                    const Real *scale, Real sum) {
  const Real power = lrn_power(scale[i], beta);
  return gy[i] * power - factor * (in_place ? x[i] / power : x[i]) * sum;
}

KERNEL lrn_across_backward(int n, int channels, int inner, int size, Real factor, Real beta, int in_place,
                           const Real *x, const Real *y, const Real *gy, const Real *scale, Real *gx) {
  for (int i : Grid(n)) {
    const Real sum = sum_across(i, channels, inner, size, [=](int j) { return gy[j] * y[j] / scale[j]; });
    gx[i] = lrn_gradient(i, factor, beta, in_place, x, gy, scale, sum);
  }
}

KERNEL lrn_within_backward(int n, int height, int width, int size, Real factor, Real beta, int in_place,
                           const Real *x, const Real *y, const Real *gy, const Real *scale, Real *gx) {
  for (int i : Grid(n)) {
    const Real sum = sum_within(i, height, width, size, [=](int j) { return gy[j] * y[j] / scale[j]; });
    gx[i] = lrn_gradient(i, factor, beta, in_place, x, gy, scale, sum);
  }
}

// -- BatchNorm, alone or with the Scale (s, b), the Eltwise and the ReLU behind it ----------------------------------------

// A channel's mean and variance become part of the stored ones, and what normalises it:
// means ← f·means + μ   variances ← f·variances + σ²·m/(m − 1)   total ← f·total + 1   inverse = 1 / √(σ² + eps)
// factor = s·inverse
struct Statistics {
  int values;
  Real fraction, eps;
  const Real *scale;
  Real *means, *variances, *total, *inverse, *factor;
  __device__ void take(int c, Real mean, Real variance) const {
    const Real unbiased = values > 1 ? Real(values) / Real(values - 1) : Real(1);
    means[c] = fraction * means[c] + mean;
    variances[c] = fraction * variances[c] + variance * unbiased;
    inverse[c] = 1 / sqrt(variance + eps);
    factor[c] = scale[c] * inverse[c];
    if (c == 0) total[0] = fraction * total[0] + 1;
  }
};

// Where several ranks have measured them together
KERNEL batch_norm_statistics(int n, int values, Real fraction, Real eps, const Real *mean, const Real *variance,
                             const Real *scale, Real *means, Real *variances, Real *total, Real *inverse,
                             Real *factor) {
  const Statistics kept{values, fraction, eps, scale, means, variances, total, inverse, factor};
  for (int c : Grid(n)) kept.take(c, mean[c], variance[c]);
}

// Mean μₛ and Qₛ = Σ(x − μₛ)² of each split of a channel, of nₛ values; the last of its blocks makes those of the channel:
// μ = Σ nₛμₛ / n   σ² = Σ (Qₛ + nₛ(μₛ − μ)²) / n
KERNEL batch_norm_measure(int rows, int splits, int outer, int channels, int inner, Real fraction, Real eps,
                          const Real *x, const Real *scale, Real *partial, unsigned int *tickets, Real *means,
                          Real *variances, Real *total, Real *mean, Real *inverse, Real *factor) {
  __shared__ Real room[MOST_THREADS];
  const int values = outer * inner;
  const Statistics kept{values, fraction, eps, scale, means, variances, total, inverse, factor};
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, values);
    const int c = split.channel;
    Real sum = 0, squares = 0;
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x) sum += x[place(k, c, channels, inner)];
    const Real own = block_sum(sum, room) / (split.end - split.begin);
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x) {
      const Real d = x[place(k, c, channels, inner)] - own;
      squares += d * d;
    }
    squares = block_sum(squares, room);
    if (threadIdx.x == 0) {
      partial[2 * row] = own;
      partial[2 * row + 1] = squares;
    }
    if (!is_last(tickets + c, splits)) continue;
    Real weighted = 0, whole = 0;
    for (int s = c * splits + threadIdx.x; s < (c + 1) * splits; s += blockDim.x) {
      const Split part(s, splits, values);
      weighted += (part.end - part.begin) * partial[2 * s];
    }
    const Real all = block_sum(weighted, room) / values;
    for (int s = c * splits + threadIdx.x; s < (c + 1) * splits; s += blockDim.x) {
      const Split part(s, splits, values);
      const Real d = partial[2 * s] - all;
      whole += partial[2 * s + 1] + (part.end - part.begin) * d * d;
    }
    const Real variance = block_sum(whole, room) / values;
    if (threadIdx.x == 0) {
      mean[c] = all;
      kept.take(c, all, variance);
    }
  }
}

// μ = means / total   inverse = 1 / √(variances / total + eps)   factor = s·inverse
KERNEL batch_norm_stored(int n, Real eps, const Real *means, const Real *variances, const Real *total,
                         const Real *scale, Real *mean, Real *inverse, Real *factor) {
  const Real share = total[0] != 0 ? 1 / total[0] : Real(0);
  for (int c : Grid(n)) {
    mean[c] = means[c] * share;
    inverse[c] = 1 / sqrt(variances[c] * share + eps);
    factor[c] = scale[c] * inverse[c];
  }
}


// y = (x − μ)·factor + b, then the ReLU
KERNEL batch_norm_forward(int n, int channels, int inner, int rectify, const Real *x, const Real *mean,
                          const Real *factor, const Real *shift, Real *y) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    y[i] = rectified((x[i] - mean[c]) * factor[c] + shift[c], rectify);
  }
}

// The same, and the Eltwise's other bottom added before the ReLU
KERNEL batch_norm_add_forward(int n, int channels, int inner, int rectify, const Real *x, const Real *mean,
                              const Real *factor, const Real *shift, const Real *other, Real *y) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    y[i] = rectified((x[i] - mean[c]) * factor[c] + shift[c] + other[i], rectify);
  }
}

// g = ∂y behind the ReLU's backward, which is left in `gated` if there is one; of a channel
// means = mean(g), behind those of all mean(g·(x − μ))   ∂s ← keep·∂s + Σ g·(x − μ)·inverse   ∂b ← keep·∂b + Σ g
KERNEL batch_norm_gradients(int rows, int splits, int outer, int channels, int inner, int rectify, int writes,
                            Real keep_scale, Real keep_shift, const Real *x, const Real *gy, const Real *y,
                            const Real *mean, const Real *inverse, Real *partial, unsigned int *tickets, Real *means,
                            Real *g_scale, Real *g_shift, Real *gated) {
  __shared__ Real room[MOST_THREADS];
  const int values = outer * inner;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, values);
    const int c = split.channel;
    Real sum = 0, dot = 0;
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x) {
      const long long i = place(k, c, channels, inner);
      const Real g = rectify ? gy[i] * slope_at(y[i], 0) : gy[i];
      if (writes) gated[i] = g;
      sum += g;
      dot += g * (x[i] - mean[c]);
    }
    sum = block_sum(sum, room);
    dot = block_sum(dot, room);
    if (threadIdx.x == 0) {
      partial[row] = sum;
      partial[rows + row] = dot;
    }
    if (!is_last(tickets + c, splits)) continue;
    sum = sum_of(partial + (long long)c * splits, splits, room);
    dot = sum_of(partial + rows + (long long)c * splits, splits, room);
    if (threadIdx.x == 0) {
      means[c] = sum / values;
      means[channels + c] = dot / values;
      g_scale[c] = dot * inverse[c] + (keep_scale != 0 ? keep_scale * g_scale[c] : Real(0));
      g_shift[c] = sum + (keep_shift != 0 ? keep_shift * g_shift[c] : Real(0));
    }
  }
}

// ∂x = (g − mean(g) − (x − μ)·mean(g·(x − μ))·inverse²)·factor
KERNEL batch_norm_backward(int n, int channels, int inner, const Real *x, const Real *g, const Real *mean,
                           const Real *inverse, const Real *factor, const Real *means, Real *gx) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    const Real slope = means[channels + c] * inverse[c] * inverse[c];
    gx[i] = (g[i] - ((x[i] - mean[c]) * slope + means[c])) * factor[c];
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
