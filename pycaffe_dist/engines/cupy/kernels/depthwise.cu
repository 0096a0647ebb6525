// Depthwise convolution: each channel of the image has windows of its own, `multiplier` output channels of them, and
// no columns are made.  Window o's tap k sees pixel o·stride − pad + k·dilation.

#include "common.cuh"

// y[o] = Σ w[o, tap]·x[o / multiplier] over what the window sees.  A thread has a window of an output channel.
KERNEL depthwise_forward(int n, int channels, int multiplier, int height, int width, int kernel_h, int kernel_w,
                         int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h,
                         int out_w, const Real *x, const Real *weights, Real *y) {
  for (int i : Grid(n)) {
    const int ow = i % out_w, oh = i / out_w % out_h, plane = i / out_w / out_h;
    const Real *pixels = x + (long long)(plane / multiplier) * height * width;
    const Real *tap = weights + (long long)(plane % (channels * multiplier)) * kernel_h * kernel_w;
    Real sum = 0;
    for (int kh = 0; kh < kernel_h; ++kh)
      for (int kw = 0; kw < kernel_w; ++kw, ++tap) {
        const int h = oh * stride_h - pad_h + kh * dilation_h, w = ow * stride_w - pad_w + kw * dilation_w;
        if (h >= 0 && h < height && w >= 0 && w < width) sum += *tap * pixels[h * width + w];
      }
    y[i] = sum;
  }
}

// ∂x[c] = Σ w[o, tap]·∂y[o] over the windows that see the pixel, of all o of the channel.  A thread has a pixel.
KERNEL depthwise_backward(int n, int channels, int multiplier, int height, int width, int kernel_h, int kernel_w,
                          int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int out_h,
                          int out_w, const Real *gy, const Real *weights, Real *gx) {
  const Taps down(kernel_h, stride_h, dilation_h), right(kernel_w, stride_w, dilation_w);
  for (int i : Grid(n)) {
    const int plane = i / width / height;
    const Seen h = down.of(i / width % height + pad_h), w = right.of(i % width + pad_w);
    const Real *windows = gy + (long long)plane * multiplier * out_h * out_w;
    const Real *tap = weights + (long long)(plane % channels) * multiplier * kernel_h * kernel_w;
    Real sum = 0;
    for (int m = 0; m < multiplier; ++m, windows += out_h * out_w, tap += kernel_h * kernel_w)
      for (int kh = h.tap, oh = h.window; kh < kernel_h && oh >= 0; kh += down.tap_step, oh -= down.window_step)
        if (oh < out_h)
          for (int kw = w.tap, ow = w.window; kw < kernel_w && ow >= 0; kw += right.tap_step, ow -= right.window_step)
            if (ow < out_w) sum += tap[kh * kernel_w + kw] * windows[oh * out_w + ow];
    gx[i] = sum;
  }
}

// ∂w[o, tap] += Σ ∂y[o]·x[o / multiplier] over images and windows.  A block has a split of the sum of one tap.
KERNEL depthwise_weight_sums(int rows, int splits, int images, int channels, int multiplier, int height, int width,
                             int kernel_h, int kernel_w, int pad_h, int pad_w, int stride_h, int stride_w,
                             int dilation_h, int dilation_w, int out_h, int out_w, const Real *x, const Real *gy,
                             Real *partial, unsigned int *tickets, Real *gw) {
  __shared__ Real room[MOST_THREADS];
  const int windows = out_h * out_w;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, images * windows);
    const int kw = split.channel % kernel_w, kh = split.channel / kernel_w % kernel_h;
    const int o = split.channel / kernel_w / kernel_h;
    Real sum = 0;
    for (int k = split.begin + threadIdx.x; k < split.end; k += blockDim.x) {
      const long long plane = (long long)(k / windows) * channels * multiplier + o;
      const int at = k % windows;
      const int h = at / out_w * stride_h - pad_h + kh * dilation_h, w = at % out_w * stride_w - pad_w + kw * dilation_w;
      if (h >= 0 && h < height && w >= 0 && w < width)
        sum += gy[plane * windows + at] * x[(plane / multiplier * height + h) * width + w];
    }
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) partial[row] = sum;
    finish_sums(split.channel, splits, 1, 1, partial, tickets, gw, room);
  }
}
