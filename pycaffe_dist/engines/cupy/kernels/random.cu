// Random numbers that depend on nothing but their counter: Philox4x32-10 (Salmon and others, 2011).

#include "common.cuh"

struct Four {
  unsigned int v[4];
};

__device__ inline unsigned int high_product(unsigned int a, unsigned int b) {
  return (unsigned int)((unsigned long long)a * b >> 32);
}

// Four 32-bit numbers: ten rounds over the counter (group, stream, offset) with the seed as key.
__device__ inline Four philox(unsigned int group, unsigned int stream, unsigned long long offset,
                              unsigned long long seed) {
  unsigned int c0 = group, c1 = stream, c2 = (unsigned int)offset, c3 = (unsigned int)(offset >> 32);
  unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned int h0 = high_product(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const unsigned int h1 = high_product(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Four{{c0, c1, c2, c3}};
}

// y in (0, 1]: 24 bits, which a float holds exactly
KERNEL uniform(int n, unsigned long long seed, unsigned int stream, unsigned long long offset, Real *y) {
  for (int group : Grid(n / 4 + (n % 4 != 0))) {
    const Four random = philox((unsigned int)group, stream, offset, seed);
    for (int k = 0; k < 4 && k < n - 4 * group; ++k)
      y[4 * group + k] = ((random.v[k] >> 8) + 1) * Real(1.0 / 16777216);
  }
}

// y = scale·x where the number is at least `limit`, 0 elsewhere
KERNEL dropout(int n, unsigned int limit, Real scale, unsigned long long seed, unsigned int stream,
               unsigned long long offset, const Real *x, Real *y) {
  for (int group : Grid(n / 4 + (n % 4 != 0))) {
    const Four random = philox((unsigned int)group, stream, offset, seed);
    for (int k = 0; k < 4 && k < n - 4 * group; ++k)
      y[4 * group + k] = x[4 * group + k] * (random.v[k] >= limit ? scale : Real(0));
  }
}
