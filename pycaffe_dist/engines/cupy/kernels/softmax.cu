// Softmax: by rows where the classes are next to each other, else by positions.

#include "common.cuh"

// y = exp(x − max x) / Σ exp(x − max x)
KERNEL softmax_rows_forward(int rows, int classes, const Real *x, Real *y) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Real *from = x + (long long)row * classes;
    Real *to = y + (long long)row * classes;
    Real most = from[0];
    for (int k = threadIdx.x; k < classes; k += blockDim.x)
      if (!(most >= from[k])) most = from[k];
    most = block_max(most, room);
    Real sum = 0;
    for (int k = threadIdx.x; k < classes; k += blockDim.x) {
      const Real e = exp(from[k] - most);
      to[k] = e;
      sum += e;
    }
    sum = block_sum(sum, room);
    for (int k = threadIdx.x; k < classes; k += blockDim.x) to[k] /= sum;
  }
}

// ∂x = (∂y − Σ ∂y·y)·y
KERNEL softmax_rows_backward(int rows, int classes, const Real *y, const Real *gy, Real *gx) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long first = (long long)row * classes;
    Real dot = 0;
    for (int k = threadIdx.x; k < classes; k += blockDim.x) dot += gy[first + k] * y[first + k];
    dot = block_sum(dot, room);
    for (int k = threadIdx.x; k < classes; k += blockDim.x) gx[first + k] = (gy[first + k] - dot) * y[first + k];
  }
}

// The same, a thread for each position of (outer, inner)
KERNEL softmax_forward(int n, int classes, int inner, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const long long first = (long long)(i / inner) * classes * inner + i % inner;
    Real most = x[first];
    for (int k = 1; k < classes; ++k) {
      const Real v = x[first + (long long)k * inner];
      if (!(most >= v)) most = v;
    }
    Real sum = 0;
    for (int k = 0; k < classes; ++k) {
      const Real e = exp(x[first + (long long)k * inner] - most);
      y[first + (long long)k * inner] = e;
      sum += e;
    }
    for (int k = 0; k < classes; ++k) y[first + (long long)k * inner] /= sum;
  }
}

KERNEL softmax_backward(int n, int classes, int inner, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) {
    const long long first = (long long)(i / inner) * classes * inner + i % inner;
    Real dot = 0;
    for (int k = 0; k < classes; ++k) dot += gy[first + (long long)k * inner] * y[first + (long long)k * inner];
    for (int k = 0; k < classes; ++k) {
      const long long at = first + (long long)k * inner;
      gx[at] = (gy[at] - dot) * y[at];
    }
  }
}
