// Loss scaling: gradients of a loss that was multiplied by a scale S, so that they do not vanish in fp16.

#include "common.cuh"

// gate = before, or 0 after a bad gradient, and bad is 0 again.  S halves after a bad step and doubles after `every`
// good ones, between 1 and `most`; `every` 0: it stays.
KERNEL settle_scale(int n, int every, Real most, const Real *before, Real *scale, Real *gate, int *bad, int *good,
                    int *skipped) {
  for (int i : Grid(n)) {
    gate[i] = bad[i] ? Real(0) : before[i];
    if (bad[i]) {
      good[i] = 0;
      ++skipped[i];
      if (every && scale[i] > 1) scale[i] *= Real(0.5);
    } else if (every && ++good[i] >= every) {
      good[i] = 0;
      if (scale[i] < most) scale[i] *= 2;
    }
    bad[i] = 0;
  }
}
