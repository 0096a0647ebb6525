// Update rules: from the gradient in diff the value v, which is left in diff and taken off data.

#include "common.cuh"

// g = clip·share·diff + λ·w, L1: + λ·sign(w)
__device__ inline Real gradient(Real diff, Real w, Real clip, Real share, Real decay, int l1) {
  const Real g = diff * clip * share;
  return decay == 0 ? g : g + decay * (l1 ? sign_of(w) : w);
}

// Where clip is 0 nothing is updated: v = 0, and data and history stay.
__device__ inline bool held_back(int n, const Real *clip, Real *diff) {
  if (clip[0] != 0) return false;
  for (int i : Grid(n)) diff[i] = 0;
  return true;
}

// h ← μh + rate·g;  v = h
KERNEL sgd_update(int n, Real rate, Real momentum, Real share, Real decay, int l1, const Real *clip, Real *data,
                  Real *diff, Real *h) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    const Real v = momentum * h[i] + rate * g;
    h[i] = v;
    diff[i] = v;
    data[i] -= v;
  }
}

// h' = h;  h ← μh + rate·g;  v = (1 + μ)h − μh'
KERNEL nesterov_update(int n, Real rate, Real momentum, Real share, Real decay, int l1, const Real *clip,
                       Real *data, Real *diff, Real *h) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    const Real before = momentum * h[i], now = before + rate * g, v = (1 + momentum) * now - before;
    h[i] = now;
    diff[i] = v;
    data[i] -= v;
  }
}

// h ← h + g²;  v = rate·g / (√h + δ)
KERNEL adagrad_update(int n, Real rate, Real delta, Real share, Real decay, int l1, const Real *clip, Real *data,
                      Real *diff, Real *h) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    h[i] += g * g;
    const Real v = g / (sqrt(h[i]) + delta) * rate;
    diff[i] = v;
    data[i] -= v;
  }
}

// h ← ρh + (1 − ρ)g²;  v = rate·g / (√h + δ)
KERNEL rmsprop_update(int n, Real rate, Real delta, Real rms_decay, Real rest, Real share, Real decay, int l1,
                      const Real *clip, Real *data, Real *diff, Real *h) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    h[i] = rms_decay * h[i] + rest * (g * g);
    const Real v = g / (sqrt(h[i]) + delta) * rate;
    diff[i] = v;
    data[i] -= v;
  }
}

// h₁ ← μh₁ + (1 − μ)g²;  u = g·√((h₂ + δ)/(h₁ + δ));  h₂ ← μh₂ + (1 − μ)u²;  v = rate·u
KERNEL adadelta_update(int n, Real rate, Real delta, Real momentum, Real rest, Real share, Real decay, int l1,
                       const Real *clip, Real *data, Real *diff, Real *squares, Real *updates) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    squares[i] = momentum * squares[i] + rest * (g * g);
    const Real u = g * sqrt((updates[i] + delta) / (squares[i] + delta));
    updates[i] = momentum * updates[i] + rest * (u * u);
    diff[i] = u * rate;
    data[i] -= u * rate;
  }
}

// m ← β₁m + (1 − β₁)g;  q ← β₂q + (1 − β₂)g²;  v = rate·m / (√q + δ), the correction being in the rate
KERNEL adam_update(int n, Real rate, Real delta, Real momentum, Real rest, Real momentum2, Real rest2, Real share,
                   Real decay, int l1, const Real *clip, Real *data, Real *diff, Real *means, Real *squares) {
  if (held_back(n, clip, diff)) return;
  for (int i : Grid(n)) {
    const Real g = gradient(diff[i], data[i], clip[0], share, decay, l1);
    means[i] = momentum * means[i] + rest * g;
    squares[i] = momentum2 * squares[i] + rest2 * (g * g);
    const Real v = means[i] / (sqrt(squares[i]) + delta) * rate;
    diff[i] = v;
    data[i] -= v;
  }
}

// norm = √Σg²;  scale = limit / norm where that is below 1, else 1
KERNEL clip_scale(int n, Real limit, const Real *sum_of_squares, Real *scale, Real *norm) {
  for (int i : Grid(n)) {
    norm[i] = sqrt(sum_of_squares[i]);
    scale[i] = norm[i] <= limit ? Real(1) : limit / norm[i];
  }
}

// The first losses of all ranks that are not all finite, behind their iteration, in `first`; from then on clip is 0.
KERNEL see_losses(int n, int ranks, int iteration, const double *losses, Real *clip, double *first) {
  for (int i : Grid(n)) {
    bool finite = true;
    for (int r = 0; r < ranks; ++r) finite = finite && losses[r] - losses[r] == 0;
    if (finite || clip[i] == 0) continue;
    clip[i] = 0;
    first[0] = iteration;
    for (int r = 0; r < ranks; ++r) first[1 + r] = losses[r];
  }
}
