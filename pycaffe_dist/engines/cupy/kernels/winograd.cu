// Winograd's convolution of 3 × 3 kernels: between images and planes, and between kernels and planes.  Plane p of an
// array (places, channels, tiles) has the p-th value of every transformed tile; tiles are counted image by image, row
// by row.  What is between is a product of matrices for each plane.

#include "common.cuh"
#include "squares.cuh"

// Row i of a matrix times a vector
template <class Matrix>
__device__ Real weighted(int i, const Real *values) {
  Real sum = 0;
#pragma unroll
  for (int j = 0; j < Matrix::FROM; ++j)
    if (Matrix::at(i, j) != 0) sum += Matrix::at(i, j) * values[j];
  return sum;
}

// T d Tᵀ of a square d
template <class Matrix, class Read, class Write>
__device__ void transform(Read read, Write write) {
  Real half[Matrix::TO][Matrix::FROM];
#pragma unroll
  for (int s = 0; s < Matrix::FROM; ++s) {
    Real column[Matrix::FROM];
#pragma unroll
    for (int r = 0; r < Matrix::FROM; ++r) column[r] = read(r, s);
#pragma unroll
    for (int r = 0; r < Matrix::TO; ++r) half[r][s] = weighted<Matrix>(r, column);
  }
#pragma unroll
  for (int r = 0; r < Matrix::TO; ++r)
#pragma unroll
    for (int s = 0; s < Matrix::TO; ++s) write(r, s, weighted<Matrix>(s, half[r]));
}

// The i-th of the tiles of all channels: where it begins in an image, and how far its pixel (r, s) is in the array.
template <int STEP>
struct Place {
  int channel, h, w, height, width;
  long long first;
  __device__ Place(int i, int n, int channels, int height_, int width_, int top, int left, int down, int across)
      : height(height_), width(width_) {
    const int tiles = n / channels, tile = i % tiles;
    channel = i / tiles;
    h = tile / across % down * STEP + top;
    w = tile % across * STEP + left;
    first = (long long)(tile / across / down * channels + channel) * height * width;
  }
  __device__ bool inside(int r, int s) const { return h + r >= 0 && h + r < height && w + s >= 0 && w + s < width; }
  __device__ long long pixel(int r, int s) const { return first + (h + r) * width + w + s; }
};

// A thread cuts a tile out of a channel; what is outside of the image is 0.
template <class Matrix, int STEP>
__device__ void cut(int n, int channels, int height, int width, int top, int left, int down, int across, const Real *x,
                    Real *planes) {
  for (int i : Grid(n)) {
    const Place<STEP> at(i, n, channels, height, width, top, left, down, across);
    transform<Matrix>([&](int r, int s) { return at.inside(r, s) ? x[at.pixel(r, s)] : Real(0); },
                      [&](int r, int s, Real value) { planes[(long long)(r * Matrix::TO + s) * n + i] = value; });
  }
}

// A thread puts a tile into a channel.
template <class Matrix, int STEP>
__device__ void put(int n, int channels, int height, int width, int down, int across, int has_bias, int rectify,
                    const Real *planes, const Real *bias, Real *y) {
  for (int i : Grid(n)) {
    const Place<STEP> at(i, n, channels, height, width, 0, 0, down, across);
    const Real add = has_bias ? bias[at.channel] : Real(0);
    transform<Matrix>([&](int r, int s) { return planes[(long long)(r * Matrix::FROM + s) * n + i]; },
                      [&](int r, int s, Real value) {
                        if (at.inside(r, s)) y[at.pixel(r, s)] = rectified(value + add, rectify);
                      });
  }
}

// A thread has a kernel; turned round if `turned` is 1.
template <class Matrix>
__device__ void cut_kernels(int n, int turned, const Real *weights, Real *planes) {
  for (int i : Grid(n)) {
    const Real *kernel = weights + (long long)i * 9;
    transform<Matrix>([&](int r, int s) { return kernel[turned ? 8 - r * 3 - s : r * 3 + s]; },
                      [&](int r, int s, Real value) { planes[(long long)(r * Matrix::TO + s) * n + i] = value; });
  }
}

template <class Matrix>
__device__ void add_kernels(int n, const Real *planes, Real *weights) {
  for (int i : Grid(n)) {
    Real *kernel = weights + (long long)i * 9;
    transform<Matrix>([&](int r, int s) { return planes[(long long)(r * Matrix::FROM + s) * n + i]; },
                      [&](int r, int s, Real value) { kernel[r * 3 + s] += value; });
  }
}

KERNEL winograd_image_2(int n, int channels, int height, int width, int top, int left, int down, int across,
                        const Real *x, Real *planes) {
  cut<Image2, 2>(n, channels, height, width, top, left, down, across, x, planes);
}

KERNEL winograd_image_4(int n, int channels, int height, int width, int top, int left, int down, int across,
                        const Real *x, Real *planes) {
  cut<Image4, 4>(n, channels, height, width, top, left, down, across, x, planes);
}

// y = Aᵀ z A + b, rectified if asked for
KERNEL winograd_out_2(int n, int channels, int height, int width, int down, int across, int has_bias,
                      int rectify, const Real *planes, const Real *bias, Real *y) {
  put<Out2, 2>(n, channels, height, width, down, across, has_bias, rectify, planes, bias, y);
}

KERNEL winograd_out_4(int n, int channels, int height, int width, int down, int across, int has_bias,
                      int rectify, const Real *planes, const Real *bias, Real *y) {
  put<Out4, 4>(n, channels, height, width, down, across, has_bias, rectify, planes, bias, y);
}

// A ∂y Aᵀ
KERNEL winograd_gradient_2(int n, int channels, int height, int width, int top, int left, int down, int across,
                           const Real *gy, Real *planes) {
  cut<Transposed<Out2>, 2>(n, channels, height, width, top, left, down, across, gy, planes);
}

KERNEL winograd_gradient_4(int n, int channels, int height, int width, int top, int left, int down, int across,
                           const Real *gy, Real *planes) {
  cut<Transposed<Out4>, 4>(n, channels, height, width, top, left, down, across, gy, planes);
}

// G g Gᵀ
KERNEL winograd_kernels_2(int n, int turned, const Real *weights, Real *planes) {
  cut_kernels<Kernel2>(n, turned, weights, planes);
}

KERNEL winograd_kernels_4(int n, int turned, const Real *weights, Real *planes) {
  cut_kernels<Kernel4>(n, turned, weights, planes);
}

// ∂g += Gᵀ z G
KERNEL winograd_kernel_gradient_2(int n, const Real *planes, Real *weights) {
  add_kernels<Transposed<Kernel2>>(n, planes, weights);
}

KERNEL winograd_kernel_gradient_4(int n, const Real *planes, Real *weights) {
  add_kernels<Transposed<Kernel4>>(n, planes, weights);
}
