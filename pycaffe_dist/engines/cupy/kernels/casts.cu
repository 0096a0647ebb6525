// Numbers in 16 bits and back: for the wire, and for tensor cores.

#include "common.cuh"
#include "casts.cuh"

// y = scale·Σ x over the parts, in their order
template <class Number>
__device__ void sum_parts(int n, int parts, Real scale, const unsigned short *x, Real *y, Number number) {
  for (int i : Grid(n)) {
    Real sum = (Real)number(x[i]);
    for (int part = 1; part < parts; ++part) sum += (Real)number(x[(long long)part * n + i]);
    y[i] = scale * sum;
  }
}

// What is too large becomes 65504, as on the host's wire.
KERNEL real_to_half(int n, const Real *x, unsigned short *y) {
  for (int i : Grid(n)) y[i] = half_of((float)x[i], 0x7BFFu);
}

KERNEL factor_to_half(int n, const Real *x, unsigned short *y) {
  for (int i : Grid(n)) y[i] = ToHalf::of(x[i]);
}

KERNEL sum_halves(int n, int parts, Real scale, const unsigned short *x, Real *y) {
  sum_parts(n, parts, scale, x, y, [](unsigned short half) { return from_half(half); });
}

KERNEL real_to_bfloat(int n, const Real *x, unsigned short *y) {
  for (int i : Grid(n)) y[i] = ToBfloat::of(x[i]);
}

KERNEL sum_bfloats(int n, int parts, Real scale, const unsigned short *x, Real *y) {
  sum_parts(n, parts, scale, x, y, [](unsigned short bits) { return number_of((unsigned int)bits << 16); });
}
