// Several arrays into one: Eltwise's maximum and quotient, Bias and Scale.

#include "common.cuh"

// y = a where a > b, b elsewhere: of equals the second wins, and where a is NaN
KERNEL eltwise_max_first(int n, const Real *a, const Real *b, Real *y, int *winner) {
  for (int i : Grid(n)) {
    winner[i] = !(a[i] > b[i]);
    y[i] = winner[i] ? b[i] : a[i];
  }
}

// y ← x where x > y, for bottom `number`: of equals the earlier one stays, and NaN
KERNEL eltwise_max_next(int n, int number, const Real *x, Real *y, int *winner) {
  for (int i : Grid(n)) {
    if (x[i] > y[i]) {
      winner[i] = number;
      y[i] = x[i];
    }
  }
}

// ∂x = ∂y where bottom `number` won
KERNEL eltwise_max_backward(int n, int number, const Real *gy, const int *winner, Real *gx) {
  for (int i : Grid(n)) gx[i] = gy[i] * (winner[i] == number ? Real(1) : Real(0));
}

// ∂x = ∂y·(y / x): a product's gradient without stable_prod_grad
KERNEL eltwise_quotient_backward(int n, const Real *x, const Real *y, const Real *gy, Real *gx) {
  for (int i : Grid(n)) gx[i] = y[i] / x[i] * gy[i];
}

// y = x + b, rectified if asked for
KERNEL bias_forward(int n, int channels, int inner, int rectify, const Real *x, const Real *b, Real *y) {
  for (int i : Grid(n)) y[i] = rectified(x[i] + b[i / inner % channels], rectify);
}

// y = s·x;  ∂x = s·∂y by the same kernel
KERNEL scale_forward(int n, int channels, int inner, const Real *x, const Real *s, Real *y) {
  for (int i : Grid(n)) y[i] = x[i] * s[i / inner % channels];
}

// y = s·x + b
KERNEL scale_bias_forward(int n, int channels, int inner, const Real *x, const Real *s, const Real *b, Real *y) {
  for (int i : Grid(n)) {
    const int c = i / inner % channels;
    y[i] = x[i] * s[c] + b[c];
  }
}
