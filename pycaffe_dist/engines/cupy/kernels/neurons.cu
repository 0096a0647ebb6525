// Element-wise layers: y from x, ∂x from ∂y.

#include "common.cuh"

// σ(x) = ½ tanh(½x) + ½, which does not overflow
__device__ inline Real sigmoid(Real x) { return tanh(x * Real(0.5)) * Real(0.5) + Real(0.5); }

// y = max(0, x) + s·min(0, x), of −∞ with s = 0 so NaN;  ∂x = ∂y where x > 0, s·∂y where x ≤ 0, 0 at NaN
KERNEL relu_forward(int n, Real slope, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = larger(x[i], 0) + slope * smaller(x[i], 0);
}

KERNEL relu_backward(int n, Real slope, const Real *x, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * slope_at(x[i], slope);
}

// The same with a slope for each channel
KERNEL prelu_forward(int n, int channels, int inner, const Real *slopes, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = larger(x[i], 0) + slopes[i / inner % channels] * smaller(x[i], 0);
}

KERNEL prelu_backward(int n, int channels, int inner, const Real *slopes, const Real *x, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * slope_at(x[i], slopes[i / inner % channels]);
}

// y = max(0, x) + α(e^min(0, x) − 1);  ∂x = ∂y where x > 0, ∂y·(α + y) elsewhere
KERNEL elu_forward(int n, Real alpha, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = larger(x[i], 0) + alpha * (exp(smaller(x[i], 0)) - 1);
}

KERNEL elu_backward(int n, Real alpha, const Real *x, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * slope_at(x[i], y[i] + alpha);
}

// y = σ(x);  ∂x = ∂y·y·(1 − y)
KERNEL sigmoid_forward(int n, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = sigmoid(x[i]);
}

KERNEL sigmoid_backward(int n, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * ((1 - y[i]) * y[i]);
}

// y = tanh x;  ∂x = ∂y·(1 − y²)
KERNEL tanh_forward(int n, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = tanh(x[i]);
}

KERNEL tanh_backward(int n, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * (1 - y[i] * y[i]);
}

// y = x·σ(βx);  ∂x = ∂y·(βy + σ(βx)(1 − βy)), with the gate σ(βx) of forward
KERNEL swish_forward(int n, Real beta, const Real *x, Real *gate, Real *y) {
  for (int i : Grid(n)) {
    const Real s = sigmoid(beta * x[i]);
    gate[i] = s;
    y[i] = x[i] * s;
  }
}

KERNEL swish_backward(int n, Real beta, const Real *gate, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * ((1 - gate[i]) * y[i] * beta + gate[i]);
}

// y = |x|;  ∂x = ∂y·sign(x)
KERNEL absval_forward(int n, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = fabs(x[i]);
}

KERNEL absval_backward(int n, const Real *x, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = sign_of(x[i]) * gy[i];
}

// y = log(1 + eˣ) = max(0, x) + log(1 + e^−|x|);  ∂x = ∂y·eᵗ / (eᵗ + 1), t = min(x, 50)
KERNEL bnll_forward(int n, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = larger(x[i], 0) + log1p(exp(-fabs(x[i])));
}

KERNEL bnll_backward(int n, const Real *x, const Real *gy, Real *gx) {
  for (int i : Grid(n)) {
    const Real e = exp(smaller(x[i], 50));
    gx[i] = gy[i] * e / (e + 1);
  }
}

// y = (shift + scale·x)^power, a constant where power·scale = 0
KERNEL power_forward(int n, Real power, Real scale, Real shift, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const Real base = power * scale == 0 ? shift : x[i] * scale + shift;
    y[i] = power == 0 ? Real(1) : power == 1 ? base : power == 2 ? base * base : pow(base, power);
  }
}

// ∂x = ∂y·power·scale·y / (shift + scale·x), without the quotient for the powers 1 and 2
KERNEL power_backward(int n, Real power, Real scale, Real shift, const Real *x, const Real *y, const Real *gy,
                      Real *gx) {
  const Real diff_scale = power * scale;
  for (int i : Grid(n)) {
    Real slope;
    if (power == 1)
      slope = diff_scale;
    else if (power == 2)
      slope = x[i] * (diff_scale * scale) + diff_scale * shift;
    else
      slope = y[i] / (x[i] * scale + shift) * diff_scale;
    // In place ∂x and ∂y are one array, and Caffe squares what it has just written there.
    const Real g = gx == gy ? slope : gy[i];
    gx[i] = diff_scale == 0 ? Real(0) : g * slope;
  }
}

// y = base^(shift + scale·x) = outer_scale·e^(inner_scale·x);  ∂x = ∂y·y·inner_scale
KERNEL exp_forward(int n, Real inner_scale, Real outer_scale, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const Real e = exp(x[i] * inner_scale);
    y[i] = outer_scale == 1 ? e : e * outer_scale;
  }
}

KERNEL exp_backward(int n, Real inner_scale, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = y[i] * gy[i] * inner_scale;
}

// y = base_scale·log(shift + scale·x);  ∂x = ∂y·diff_scale / (shift + scale·x)
KERNEL log_forward(int n, Real base_scale, Real input_scale, Real input_shift, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = log(x[i] * input_scale + input_shift) * base_scale;
}

KERNEL log_backward(int n, Real diff_scale, Real input_scale, Real input_shift, const Real *x, const Real *gy,
                    Real *gx) {
  for (int i : Grid(n)) {
    const Real slope = diff_scale / (x[i] * input_scale + input_shift);
    const Real g = gx == gy ? slope : gy[i];  // in place, as Power
    gx[i] = g * slope;
  }
}

// y = 1 where x > threshold, 0 elsewhere
KERNEL threshold_forward(int n, Real threshold, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = x[i] > threshold ? Real(1) : Real(0);
}

// y = max(low, min(x, high)), of NaN so low;  ∂x = ∂y where low ≤ x ≤ high, 0 elsewhere
KERNEL clip_forward(int n, Real low, Real high, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const Real below = smaller(x[i], high);
    y[i] = low < below ? below : low;
  }
}

KERNEL clip_backward(int n, Real low, Real high, const Real *x, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * (x[i] >= low && x[i] <= high ? Real(1) : Real(0));
}
