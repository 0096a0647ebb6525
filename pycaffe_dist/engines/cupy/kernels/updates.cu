// Update rules: from the gradient in diff the value v, which is left in diff and taken off data.  Of one array, or of all
// parameters of a net in one launch, and what else is done with all of them: clearing, the norm, clipping.

#include "common.cuh"

// g = clip·share·diff + λ·w, L1: + λ·sign(w)
__device__ inline Real gradient(Real diff, Real w, Real clip, Real share, Real decay, int l1) {
  const Real g = diff * clip * share;
  return decay == 0 ? g : g + decay * (l1 ? sign_of(w) : w);
}

// -- rules: v of value i, whose history changes ---------------------------------------------------------------------------

// h ← μh + rate·g;  v = h
struct Sgd {
  Real momentum, *h;
  __device__ Real operator()(int i, Real g, Real rate) const { return h[i] = momentum * h[i] + rate * g; }
};

// h' = h;  h ← μh + rate·g;  v = (1 + μ)h − μh'
struct Nesterov {
  Real momentum, *h;
  __device__ Real operator()(int i, Real g, Real rate) const {
    const Real before = momentum * h[i], now = before + rate * g;
    h[i] = now;
    return (1 + momentum) * now - before;
  }
};

// h ← h + g²;  v = rate·g / (√h + δ)
struct AdaGrad {
  Real delta, *h;
  __device__ Real operator()(int i, Real g, Real rate) const {
    h[i] += g * g;
    return g / (sqrt(h[i]) + delta) * rate;
  }
};

// h ← ρh + (1 − ρ)g²;  v = rate·g / (√h + δ)
struct RmsProp {
  Real delta, rms_decay, rest, *h;
  __device__ Real operator()(int i, Real g, Real rate) const {
    h[i] = rms_decay * h[i] + rest * (g * g);
    return g / (sqrt(h[i]) + delta) * rate;
  }
};

// h₁ ← μh₁ + (1 − μ)g²;  u = g·√((h₂ + δ)/(h₁ + δ));  h₂ ← μh₂ + (1 − μ)u²;  v = rate·u
struct AdaDelta {
  Real delta, momentum, rest, *squares, *updates;
  __device__ Real operator()(int i, Real g, Real rate) const {
    squares[i] = momentum * squares[i] + rest * (g * g);
    const Real u = g * sqrt((updates[i] + delta) / (squares[i] + delta));
    updates[i] = momentum * updates[i] + rest * (u * u);
    return u * rate;
  }
};

// m ← β₁m + (1 − β₁)g;  q ← β₂q + (1 − β₂)g²;  v = rate·m / (√q + δ), the correction being in the rate
struct Adam {
  Real delta, momentum, rest, momentum2, rest2, *means, *squares;
  __device__ Real operator()(int i, Real g, Real rate) const {
    means[i] = momentum * means[i] + rest * g;
    squares[i] = momentum2 * squares[i] + rest2 * (g * g);
    return means[i] / (sqrt(squares[i]) + delta) * rate;
  }
};

// Where clip is 0 nothing is updated: v = 0, and data and history stay.
template <class Rule>
__device__ void update_value(int i, Real rate, Real share, Real decay, int l1, Real clip, Real *data, Real *diff,
                             Rule rule) {
  if (clip == 0) {
    diff[i] = 0;
    return;
  }
  const Real v = rule(i, gradient(diff[i], data[i], clip, share, decay, l1), rate);
  diff[i] = v;
  data[i] -= v;
}

// -- one array --------------------------------------------------------------------------------------------------------------

template <class Rule>
__device__ void update(int n, Real rate, Real share, Real decay, int l1, const Real *clip, Real *data, Real *diff,
                       Rule rule) {
  for (int i : Grid(n)) update_value(i, rate, share, decay, l1, clip[0], data, diff, rule);
}

KERNEL sgd_update(int n, Real rate, Real momentum, Real share, Real decay, int l1, const Real *clip, Real *data,
                  Real *diff, Real *h) {
  update(n, rate, share, decay, l1, clip, data, diff, Sgd{momentum, h});
}

KERNEL nesterov_update(int n, Real rate, Real momentum, Real share, Real decay, int l1, const Real *clip,
                       Real *data, Real *diff, Real *h) {
  update(n, rate, share, decay, l1, clip, data, diff, Nesterov{momentum, h});
}

KERNEL adagrad_update(int n, Real rate, Real delta, Real share, Real decay, int l1, const Real *clip, Real *data,
                      Real *diff, Real *h) {
  update(n, rate, share, decay, l1, clip, data, diff, AdaGrad{delta, h});
}

KERNEL rmsprop_update(int n, Real rate, Real delta, Real rms_decay, Real rest, Real share, Real decay, int l1,
                      const Real *clip, Real *data, Real *diff, Real *h) {
  update(n, rate, share, decay, l1, clip, data, diff, RmsProp{delta, rms_decay, rest, h});
}

KERNEL adadelta_update(int n, Real rate, Real delta, Real momentum, Real rest, Real share, Real decay, int l1,
                       const Real *clip, Real *data, Real *diff, Real *squares, Real *updates) {
  update(n, rate, share, decay, l1, clip, data, diff, AdaDelta{delta, momentum, rest, squares, updates});
}

KERNEL adam_update(int n, Real rate, Real delta, Real momentum, Real rest, Real momentum2, Real rest2, Real share,
                   Real decay, int l1, const Real *clip, Real *data, Real *diff, Real *means, Real *squares) {
  update(n, rate, share, decay, l1, clip, data, diff, Adam{delta, momentum, rest, momentum2, rest2, means, squares});
}

// -- all parameters: a block for each chunk of one ------------------------------------------------------------------------

struct Chunk {
  int param, begin, end;
  __device__ Chunk(const int *chunks, int row)
      : param(chunks[3 * row]), begin(chunks[3 * row + 1]), end(chunks[3 * row + 2]) {}
};

// factors: lr_mult and decay_mult of each parameter.  `make` gives the rule with a parameter's history.
template <class Make>
__device__ void update_all(int rows, Real rate, Real share, Real decay, int l1, const int *chunks,
                           const Real *factors, const Real *clip, Real *const *data, Real *const *diff, Make make) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Chunk chunk(chunks, row);
    const int p = chunk.param;
    const Real own_rate = rate * factors[2 * p], own_decay = decay * factors[2 * p + 1];
    const auto rule = make(p);
    for (int i = chunk.begin + threadIdx.x; i < chunk.end; i += blockDim.x)
      update_value(i, own_rate, share, own_decay, l1, clip[0], data[p], diff[p], rule);
  }
}

KERNEL sgd_update_all(int rows, Real rate, Real momentum, Real share, Real decay, int l1, const int *chunks,
                      const Real *factors, const Real *clip, Real *const *data, Real *const *diff, Real *const *h) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return Sgd{momentum, h[p]}; });
}

KERNEL nesterov_update_all(int rows, Real rate, Real momentum, Real share, Real decay, int l1, const int *chunks,
                           const Real *factors, const Real *clip, Real *const *data, Real *const *diff,
                           Real *const *h) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return Nesterov{momentum, h[p]}; });
}

KERNEL adagrad_update_all(int rows, Real rate, Real delta, Real share, Real decay, int l1, const int *chunks,
                          const Real *factors, const Real *clip, Real *const *data, Real *const *diff,
                          Real *const *h) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return AdaGrad{delta, h[p]}; });
}

KERNEL rmsprop_update_all(int rows, Real rate, Real delta, Real rms_decay, Real rest, Real share, Real decay, int l1,
                          const int *chunks, const Real *factors, const Real *clip, Real *const *data,
                          Real *const *diff, Real *const *h) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return RmsProp{delta, rms_decay, rest, h[p]}; });
}

KERNEL adadelta_update_all(int rows, Real rate, Real delta, Real momentum, Real rest, Real share, Real decay, int l1,
                           const int *chunks, const Real *factors, const Real *clip, Real *const *data,
                           Real *const *diff, Real *const *squares, Real *const *updates) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return AdaDelta{delta, momentum, rest, squares[p], updates[p]}; });
}

KERNEL adam_update_all(int rows, Real rate, Real delta, Real momentum, Real rest, Real momentum2, Real rest2,
                       Real share, Real decay, int l1, const int *chunks, const Real *factors, const Real *clip,
                       Real *const *data, Real *const *diff, Real *const *means, Real *const *squares) {
  update_all(rows, rate, share, decay, l1, chunks, factors, clip, data, diff,
             [=](int p) { return Adam{delta, momentum, rest, momentum2, rest2, means[p], squares[p]}; });
}

// Calls work(parameter, index) for the values of all chunks.
template <class Work>
__device__ void for_all(int rows, const int *chunks, Work work) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Chunk chunk(chunks, row);
    for (int i = chunk.begin + threadIdx.x; i < chunk.end; i += blockDim.x) work(chunk.param, i);
  }
}

KERNEL clear_all(int rows, const int *chunks, Real *const *arrays) {
  for_all(rows, chunks, [=](int p, int i) { arrays[p][i] = 0; });
}

KERNEL scale_all(int rows, const int *chunks, const Real *factor, Real *const *arrays) {
  for_all(rows, chunks, [=](int p, int i) { arrays[p][i] *= factor[0]; });
}

// g ← g / S, S being a loss's scale;  bad[0] = 1 if one of them is NaN or infinite
KERNEL unscale_all(int rows, const int *chunks, const Real *scale, Real *const *gradients, int *bad) {
  const Real by = Real(1) / scale[0];
  bool found = false;
  for_all(rows, chunks, [&](int p, int i) {
    const Real g = gradients[p][i] *= by;
    if (!(g - g == 0)) found = true;
  });
  if (found) atomicMax(bad, 1);
}

// norm = √Σg² of all;  scale = limit / norm where that is below 1, else 1
KERNEL gradient_norm(int rows, Real limit, const int *chunks, const Real *const *gradients, Real *partial,
                     unsigned int *tickets, Real *scale, Real *norm) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Chunk chunk(chunks, row);
    Real sum = 0;
    for (int i = chunk.begin + threadIdx.x; i < chunk.end; i += blockDim.x)
      sum += gradients[chunk.param][i] * gradients[chunk.param][i];
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) partial[row] = sum;
    if (!is_last(tickets, rows)) continue;
    const Real length = sqrt(sum_of(partial, rows, room));
    if (threadIdx.x == 0) {
      norm[0] = length;
      scale[0] = length <= limit ? Real(1) : limit / length;
    }
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
