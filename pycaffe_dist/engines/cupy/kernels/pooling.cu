// Pooling.  x: (images·channels, height, width)  y: (images·channels, out_h, out_w)

#include "common.cuh"

#define LOWEST Real(-3.402823466e+38f)  // what a maximum begins from, −FLT_MAX for double too

// The pixels of x that a window sees.
struct Window {
  int top, left, bottom, right, start_h, start_w;
  const Real *pixels;
  __device__ Window(int i, const Real *x, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                    int stride_h, int stride_w, int out_h, int out_w) {
    start_h = i / out_w % out_h * stride_h - pad_h;
    start_w = i % out_w * stride_w - pad_w;
    top = start_h > 0 ? start_h : 0;
    left = start_w > 0 ? start_w : 0;
    bottom = start_h + kernel_h < height ? start_h + kernel_h : height;
    right = start_w + kernel_w < width ? start_w + kernel_w : width;
    pixels = x + (long long)(i / out_w / out_h) * height * width;
  }
};

// The windows that see a pixel.
struct Seeing {
  int top, left, bottom, right;
  long long first;
  __device__ Seeing(int i, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w, int stride_h,
                    int stride_w, int out_h, int out_w) {
    const int h = i / width % height + pad_h, w = i % width + pad_w;
    top = h < kernel_h ? 0 : (h - kernel_h) / stride_h + 1;
    left = w < kernel_w ? 0 : (w - kernel_w) / stride_w + 1;
    bottom = h / stride_h + 1 < out_h ? h / stride_h + 1 : out_h;
    right = w / stride_w + 1 < out_w ? w / stride_w + 1 : out_w;
    first = (long long)(i / width / height) * out_h * out_w;
  }
};

// Σ x, or Σ x² if asked
__device__ inline Real window_sum(const Window &s, int width, bool squares) {
  Real sum = 0;
  for (int h = s.top; h < s.bottom; ++h)
    for (int w = s.left; w < s.right; ++w) {
      const Real v = s.pixels[h * width + w];
      sum += squares ? v * v : v;
    }
  return sum;
}

// The area of a window with the padding, but not with what lies beyond it
__device__ inline Real window_area(int start_h, int start_w, int height, int width, int kernel_h, int kernel_w,
                                   int pad_h, int pad_w) {
  const int end_h = start_h + kernel_h < height + pad_h ? start_h + kernel_h : height + pad_h;
  const int end_w = start_w + kernel_w < width + pad_w ? start_w + kernel_w : width + pad_w;
  return (Real)((end_h - start_h) * (end_w - start_w));
}

// y = max x; NaN is never chosen, of equal values the first, row by row
KERNEL max_pool_forward(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                        int stride_h, int stride_w, int out_h, int out_w, const Real *x, Real *y, int *mask) {
  for (int i : Grid(n)) {
    const Window s(i, x, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    Real most = LOWEST;
    int at = -1;
    for (int h = s.top; h < s.bottom; ++h)
      for (int w = s.left; w < s.right; ++w)
        if (s.pixels[h * width + w] > most) {
          at = h * width + w;
          most = s.pixels[at];
        }
    y[i] = most;
    mask[i] = at;
  }
}

// y = Σx / area
KERNEL ave_pool_forward(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                        int stride_h, int stride_w, int out_h, int out_w, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const Window s(i, x, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    y[i] = window_sum(s, width, false) /
           window_area(s.start_h, s.start_w, height, width, kernel_h, kernel_w, pad_h, pad_w);
  }
}

// The first value, row by row, with which the sum reaches uniform·Σx
KERNEL stochastic_pool_forward(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                               int stride_h, int stride_w, int out_h, int out_w, const Real *uniform,
                               const Real *x, Real *y, int *mask) {
  for (int i : Grid(n)) {
    const Window s(i, x, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    const Real part = uniform[i] * window_sum(s, width, false);
    Real sum = 0;
    int at = -1;
    for (int h = s.top; h < s.bottom; ++h)
      for (int w = s.left; w < s.right; ++w) {
        sum += s.pixels[h * width + w];
        if (at < 0 && sum >= part) at = h * width + w;
      }
    y[i] = at < 0 ? Real(0) : s.pixels[at];
    mask[i] = at;
  }
}

// y = Σx² / Σx, 0 unless Σx is above 0
KERNEL stochastic_pool_test(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                            int stride_h, int stride_w, int out_h, int out_w, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const Window s(i, x, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    const Real sum = window_sum(s, width, false);
    y[i] = sum > 0 ? window_sum(s, width, true) / sum : Real(0);
  }
}

// ∂x = Σ ∂y of the windows that chose the pixel
KERNEL choice_pool_backward(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                            int stride_h, int stride_w, int out_h, int out_w, const Real *gy, const int *mask,
                            Real *gx) {
  for (int i : Grid(n)) {
    const Seeing s(i, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    Real sum = 0;
    for (int oh = s.top; oh < s.bottom; ++oh)
      for (int ow = s.left; ow < s.right; ++ow) {
        const long long o = s.first + oh * out_w + ow;
        if (mask[o] == i % (height * width)) sum += gy[o];
      }
    gx[i] = sum;
  }
}

// ∂x = Σ ∂y / area of the windows that see the pixel
KERNEL ave_pool_backward(int n, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                         int stride_h, int stride_w, int out_h, int out_w, const Real *gy, Real *gx) {
  for (int i : Grid(n)) {
    const Seeing s(i, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, out_h, out_w);
    Real sum = 0;
    for (int oh = s.top; oh < s.bottom; ++oh)
      for (int ow = s.left; ow < s.right; ++ow)
        sum += gy[s.first + oh * out_w + ow] / window_area(oh * stride_h - pad_h, ow * stride_w - pad_w, height,
                                                           width, kernel_h, kernel_w, pad_h, pad_w);
    gx[i] = sum;
  }
}
