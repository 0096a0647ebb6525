// Formats for the wire: fp16 (1 sign, 5 exponent, 10 mantissa bits) and bf16 (1, 8, 7), rounded to nearest even.
// By integer arithmetic: no header is needed, and every machine gives the same bits.

union Bits {
  float number;
  unsigned int bits;
};

__device__ inline unsigned int bits_of(float x) {
  Bits b;
  b.number = x;
  return b.bits;
}

__device__ inline float number_of(unsigned int bits) {
  Bits b;
  b.bits = bits;
  return b.number;
}

// bits >> shift, rounded to nearest, ties to even
__device__ inline unsigned int rounded_shift(unsigned int bits, int shift) {
  const unsigned int half = 1u << (shift - 1), odd = bits >> shift & 1u;
  return (bits + half - 1u + odd) >> shift;
}

__device__ inline unsigned short half_of(float x, unsigned int most) {  // most: of 65520 and more
  const unsigned int sign = bits_of(x) >> 16 & 0x8000u, size = bits_of(x) & 0x7FFFFFFFu;
  unsigned int half;
  if (size > 0x7F800000u)
    half = 0x7E00u;  // NaN
  else if (size >= 0x477FF000u)
    half = most;
  else if (size >= 0x38800000u)
    half = rounded_shift(size - 0x38000000u, 13);  // 2⁻¹⁴ and more: the exponent's bias goes from 127 to 15
  else if (size < 0x33000000u)
    half = 0;  // below 2⁻²⁵, half of the smallest
  else  // below the smallest normal one: the mantissa, with its leading 1, in units of 2⁻²⁴
    half = rounded_shift((size & 0x7FFFFFu) | 0x800000u, 126 - (int)(size >> 23));
  return (unsigned short)(sign | half);
}

__device__ inline float from_half(unsigned short half) {
  const unsigned int sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, mantissa = half & 0x3FFu;
  if (exponent == 31) return number_of(sign | 0x7F800000u | mantissa << 13);
  if (exponent) return number_of(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = (float)mantissa * 5.9604644775390625e-8f;  // in units of 2⁻²⁴
  return sign ? -small : small;
}

__device__ inline unsigned short bfloat_of(float x) {
  if (x != x) return (unsigned short)(bits_of(x) >> 16 | 0x40u);
  return (unsigned short)rounded_shift(bits_of(x), 16);
}

// To what factors of products are rounded: what is too large becomes infinite, so that somebody notices.
struct ToHalf {
  typedef unsigned short Stored;
  __device__ static Stored of(Real x) { return half_of((float)x, 0x7C00u); }
};

struct ToBfloat {
  typedef unsigned short Stored;
  __device__ static Stored of(Real x) { return bfloat_of((float)x); }
};
