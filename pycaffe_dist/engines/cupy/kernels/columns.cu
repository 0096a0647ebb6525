// Columns: what the windows of a convolution see, and back.  Window o's tap k sees pixel o·stride − pad + k·dilation.

#include "common.cuh"
#include "casts.cuh"

#define MOST_AXES 10

struct Whole {
  typedef Real Stored;
  __device__ static Stored of(Real x) { return x; }
};

// columns[(c, kh, kw), (oh, ow)] = x[c, pixel], 0 outside of the image.  A thread has a window of a channel.
template <class Form>
__device__ void unroll(int n, int channels, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                       int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h, int out_w,
                       int image_step, int row_step, const Real *x, typename Form::Stored *columns) {
  for (int i : Grid(n)) {
    const int ow = i % out_w, oh = i / out_w % out_h, c = i / out_w / out_h % channels;
    const int image = i / out_w / out_h / channels;
    const Real *pixels = x + (long long)(i / out_w / out_h) * height * width;
    typename Form::Stored *column = columns + (long long)image * image_step +
                                    (long long)c * kernel_h * kernel_w * row_step + oh * out_w + ow;
    for (int kh = 0; kh < kernel_h; ++kh)
      for (int kw = 0; kw < kernel_w; ++kw) {
        const int h = oh * stride_h - pad_h + kh * dilation_h, w = ow * stride_w - pad_w + kw * dilation_w;
        const bool inside = h >= 0 && h < height && w >= 0 && w < width;
        *column = Form::of(inside ? pixels[h * width + w] : Real(0));
        column += row_step;
      }
  }
}

KERNEL im2col(int n, int channels, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
              int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h, int out_w, int image_step,
              int row_step, const Real *x, Real *columns) {
  unroll<Whole>(n, channels, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h,
               dilation_w, out_h, out_w, image_step, row_step, x, columns);
}

KERNEL im2col_half(int n, int channels, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                   int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h, int out_w, int image_step,
                   int row_step, const Real *x, unsigned short *columns) {
  unroll<ToHalf>(n, channels, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h,
                dilation_w, out_h, out_w, image_step, row_step, x, columns);
}

KERNEL im2col_bfloat(int n, int channels, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                     int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h, int out_w, int image_step,
                     int row_step, const Real *x, unsigned short *columns) {
  unroll<ToBfloat>(n, channels, height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h,
                  dilation_w, out_h, out_w, image_step, row_step, x, columns);
}

// x[c, pixel] = Σ columns over the windows that see it.  A thread has a pixel.
KERNEL col2im(int n, int channels, int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
              int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h, int out_w, int image_step,
              int row_step, const Real *columns, Real *x) {
  const Taps down(kernel_h, stride_h, dilation_h), right(kernel_w, stride_w, dilation_w);
  for (int i : Grid(n)) {
    const int c = i / width / height % channels;
    const Real *image = columns + (long long)(i / width / height / channels) * image_step +
                        (long long)c * kernel_h * kernel_w * row_step;
    const Seen h = down.of(i / width % height + pad_h), w = right.of(i % width + pad_w);
    Real sum = 0;
    for (int kh = h.tap, oh = h.window; kh < kernel_h && oh >= 0; kh += down.tap_step, oh -= down.window_step)
      if (oh < out_h)
        for (int kw = w.tap, ow = w.window; kw < kernel_w && ow >= 0; kw += right.tap_step, ow -= right.window_step)
          if (ow < out_w) sum += image[(long long)(kh * kernel_w + kw) * row_step + oh * out_w + ow];
    x[i] = sum;
  }
}

// For each axis: image, kernel, pad, stride, dilation, out.
struct Geometry {
  int axes;
  const int *image, *kernel, *pad, *stride, *dilation, *out;
  __device__ Geometry(int a, const int *g)
      : axes(a), image(g), kernel(g + a), pad(g + 2 * a), stride(g + 3 * a), dilation(g + 4 * a), out(g + 5 * a) {}
  __device__ int product(const int *sizes) const {
    int all = 1;
    for (int a = 0; a < axes; ++a) all *= sizes[a];
    return all;
  }
  // Where in (sizes) the flat index is.
  __device__ void unfold(int index, const int *sizes, int *at) const {
    for (int a = axes - 1; a >= 0; --a) {
      at[a] = index % sizes[a];
      index /= sizes[a];
    }
  }
};

// The pixel that tap `k` of window `o` sees; −1 outside of the image.
__device__ inline int pixel_seen(const Geometry &g, const int *o, const int *k) {
  int pixel = 0;
  for (int a = 0; a < g.axes; ++a) {
    const int at = o[a] * g.stride[a] - g.pad[a] + k[a] * g.dilation[a];
    if (at < 0 || at >= g.image[a]) return -1;
    pixel = pixel * g.image[a] + at;
  }
  return pixel;
}

// The window that sees pixel `p` by its tap `k`; −1 if none does.
__device__ inline int window_seeing(const Geometry &g, const int *p, const int *k) {
  int window = 0;
  for (int a = 0; a < g.axes; ++a) {
    const int steps = p[a] + g.pad[a] - k[a] * g.dilation[a];
    if (steps < 0 || steps % g.stride[a] || steps / g.stride[a] >= g.out[a]) return -1;
    window = window * g.out[a] + steps / g.stride[a];
  }
  return window;
}

KERNEL im2col_nd(int n, int axes, const int *geometry, int channels, int image_step, int row_step, const Real *x,
                 Real *columns) {
  const Geometry g(axes, geometry);
  const int windows = g.product(g.out), taps = g.product(g.kernel), pixels = g.product(g.image);
  int window[MOST_AXES], tap[MOST_AXES];
  for (int i : Grid(n)) {
    const int o = i % windows, c = i / windows % channels, image = i / windows / channels;
    g.unfold(o, g.out, window);
    for (int k = 0; k < taps; ++k) {
      g.unfold(k, g.kernel, tap);
      const int pixel = pixel_seen(g, window, tap);
      columns[(long long)image * image_step + (long long)(c * taps + k) * row_step + o] =
          pixel < 0 ? Real(0) : x[(long long)(i / windows) * pixels + pixel];
    }
  }
}

KERNEL col2im_nd(int n, int axes, const int *geometry, int channels, int image_step, int row_step,
                 const Real *columns, Real *x) {
  const Geometry g(axes, geometry);
  const int taps = g.product(g.kernel), pixels = g.product(g.image);
  int pixel[MOST_AXES], tap[MOST_AXES];
  for (int i : Grid(n)) {
    const int c = i / pixels % channels, image = i / pixels / channels;
    g.unfold(i % pixels, g.image, pixel);
    Real sum = 0;
    for (int k = 0; k < taps; ++k) {
      g.unfold(k, g.kernel, tap);
      const int o = window_seeing(g, pixel, tap);
      if (o >= 0) sum += columns[(long long)image * image_step + (long long)(c * taps + k) * row_step + o];
    }
    x[i] = sum;
  }
}
