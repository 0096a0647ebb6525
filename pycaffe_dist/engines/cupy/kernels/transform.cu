// From images to a net's input: y = (x − mean)·scale of a crop, perhaps mirrored.

#include "common.cuh"

// places: for each image mirrored, top, left (in the mirrored image);  mean_kind: 0 none, 1 a value, 2 by channel, 3 an image
template <class Pixel>
__device__ void transform(int n, int channels, int height, int width, int out_h, int out_w, int mean_kind,
                          Real scale, const int *places, const Real *mean, const Pixel *x, Real *y) {
  for (int i : Grid(n)) {
    const int c = i / out_w / out_h % channels, image = i / out_w / out_h / channels;
    const int *place = places + 3 * image;
    const int row = place[1] + i / out_w % out_h, column = place[2] + i % out_w;
    const int at = (c * height + row) * width + (place[0] ? width - 1 - column : column);
    const Real value = (Real)x[(long long)image * channels * height * width + at];
    const Real level = mean_kind == 0 ? Real(0) : mean[mean_kind == 1 ? 0 : mean_kind == 2 ? c : at];
    y[i] = (value - level) * scale;
  }
}

KERNEL transform_bytes(int n, int channels, int height, int width, int out_h, int out_w, int mean_kind, Real scale,
                       const int *places, const Real *mean, const unsigned char *x, Real *y) {
  transform(n, channels, height, width, out_h, out_w, mean_kind, scale, places, mean, x, y);
}

KERNEL transform_reals(int n, int channels, int height, int width, int out_h, int out_w, int mean_kind, Real scale,
                       const int *places, const Real *mean, const Real *x, Real *y) {
  transform(n, channels, height, width, out_h, out_w, mean_kind, scale, places, mean, x, y);
}
