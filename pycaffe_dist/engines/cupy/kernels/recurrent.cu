// One step of a recurrent layer.  States: (streams, cells)  gates: (streams, 4, cells) in the order i, f, o, g

#include "common.cuh"

__device__ inline Real sigmoid(Real x) { return 1 / (1 + exp(-x)); }

// y = cont·x, exactly 0 (even for NaN) where a sequence begins
KERNEL continue_state(int n, int cells, const Real *cont, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = cont[i / cells] != 0 ? x[i] * cont[i / cells] : Real(0);
}

// y = cont·g + ∂y
KERNEL continue_gradient(int n, int cells, const Real *cont, const Real *g, const Real *gy, Real *y) {
  for (int i : Grid(n)) y[i] = g[i] * cont[i / cells] + gy[i];
}

// i, f, o = σ(sums), f times cont;  g = tanh(sums);  c = f·c_prev + i·g;  h = o·tanh(c)
KERNEL lstm_unit_forward(int n, int cells, const Real *cont, const Real *c_prev, const Real *sums, Real *gates,
                         Real *c, Real *h) {
  for (int i : Grid(n)) {
    const Real goes_on = cont[i / cells];
    const long long at = (long long)(i / cells) * 4 * cells + i % cells;
    const Real in = sigmoid(sums[at]), out = sigmoid(sums[at + 2 * cells]), g = tanh(sums[at + 3 * cells]);
    const Real forget = goes_on != 0 ? sigmoid(sums[at + cells]) * goes_on : Real(0);
    gates[at] = in;
    gates[at + cells] = forget;
    gates[at + 2 * cells] = out;
    gates[at + 3 * cells] = g;
    c[i] = forget * (goes_on != 0 ? c_prev[i] : Real(0)) + in * g;
    h[i] = out * tanh(c[i]);
  }
}

// ∂c = gc + gh·o·(1 − tanh²c), and from it the gradients of the sums and of c_prev.
// f(1 − f) holds cont too: Caffe's slope, and the true one where cont is 0 or 1.
KERNEL lstm_unit_backward(int n, int cells, const Real *cont, const Real *c_prev, const Real *gates, const Real *c,
                          const Real *gc, const Real *gh, Real *g_sums, Real *g_c_prev) {
  for (int i : Grid(n)) {
    const long long at = (long long)(i / cells) * 4 * cells + i % cells;
    const Real in = gates[at], forget = gates[at + cells], out = gates[at + 2 * cells], g = gates[at + 3 * cells];
    const Real kept = cont[i / cells] != 0 ? c_prev[i] : Real(0), tanh_c = tanh(c[i]);
    const Real all = gc[i] + gh[i] * ((1 - tanh_c * tanh_c) * out);
    g_sums[at] = in * (1 - in) * g * all;
    g_sums[at + cells] = forget * (1 - forget) * kept * all;
    g_sums[at + 2 * cells] = out * (1 - out) * tanh_c * gh[i];
    g_sums[at + 3 * cells] = (1 - g * g) * in * all;
    g_c_prev[i] = all * forget;
  }
}
