// Losses and Accuracy: a term for each position, their total, and gradients.  Positions: (outer, inner).
// Gradients are multiplied by the loss's weight, which is in the top's diff on the device.

#include "common.cuh"

// bad[0] = n − i of the first label i that is neither a class nor ignored; it was 0 before
KERNEL check_labels(int n, int classes, int has_ignore, int ignore, const Real *labels, int *bad) {
  for (int i : Grid(n))
    if (class_of(labels[i], classes) < 0 && !is_ignored(labels[i], has_ignore, ignore)) atomicMax(bad, n - i);
}

// Σ terms, and if `counting` how many labels are not ignored, of each of `rows` splits of the positions
KERNEL loss_sums(int rows, int n, int counting, int has_ignore, int ignore, const Real *labels, const Real *terms,
                 Real *partial, Real *counts) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, rows, n);
    Real sum = 0;
    int counted = 0;
    for (int i = split.begin + threadIdx.x; i < split.end; i += blockDim.x) {
      sum += terms[i];
      if (counting) counted += !is_ignored(labels[i], has_ignore, ignore);
    }
    sum = block_sum(sum, room);
    const Real amount = block_sum((Real)counted, room);
    if (threadIdx.x == 0) {
      partial[row] = sum;
      counts[row] = amount;
    }
  }
}

// loss = Σ partial / divisor, divisor = max(1, fixed), or the number of labels that count if fixed is 0
KERNEL loss_total(int n, int splits, int fixed, const Real *partial, const Real *counts, Real *loss, Real *divisor) {
  for (int i : Grid(n)) {
    Real sum = 0, amount = (Real)fixed;
    for (int s = 0; s < splits; ++s) {
      sum += partial[s];
      if (fixed == 0) amount += counts[s];
    }
    divisor[i] = amount > 1 ? amount : Real(1);
    loss[i] = sum / divisor[i];
  }
}

// Where an element of (outer, classes, inner) stands: its class and its position.
struct Score {
  int k, position;
  __device__ Score(int i, int classes, int inner)
      : k(i / inner % classes), position(i / inner / classes * inner + i % inner) {}
};

// Where the score of class k at a position is
__device__ inline long long score_at(int position, int k, int classes, int inner) {
  return ((long long)(position / inner) * classes + k) * inner + position % inner;
}

// −log p[label], p at least FLT_MIN
KERNEL softmax_loss_terms(int n, int classes, int inner, int has_ignore, int ignore, const Real *prob,
                          const Real *labels, Real *terms) {
  const Real least = Real(1.175494351e-38f);
  for (int i : Grid(n)) {
    const int label = class_of(labels[i], classes);
    if (is_ignored(labels[i], has_ignore, ignore)) {
      terms[i] = 0;
    } else if (label < 0) {
      terms[i] = not_a_number();
    } else {
      const Real p = prob[score_at(i, label, classes, inner)];
      terms[i] = -log(p < least ? least : p);
    }
  }
}

// ∂x = (p − [label])·weight / divisor, 0 where the label is ignored
KERNEL softmax_loss_backward(int n, int classes, int inner, int has_ignore, int ignore, const Real *prob,
                             const Real *labels, const Real *weight, const Real *divisor, Real *gx) {
  const Real factor = weight[0] / divisor[0];
  for (int i : Grid(n)) {
    const Score s(i, classes, inner);
    const Real label = labels[s.position];
    const Real target = s.k == class_of(label, classes) ? Real(1) : Real(0);
    gx[i] = is_ignored(label, has_ignore, ignore) ? Real(0) : (prob[i] - target) * factor;
  }
}

// −Σₖ H[label, k] log p[k], p at least 10⁻²⁰
KERNEL infogain_loss_terms(int n, int classes, int inner, int has_ignore, int ignore, const Real *gains,
                           const Real *prob, const Real *labels, Real *terms) {
  const Real least = Real(1e-20);
  for (int i : Grid(n)) {
    const int label = class_of(labels[i], classes);
    const bool ignored = is_ignored(labels[i], has_ignore, ignore);
    Real sum = ignored || label >= 0 ? Real(0) : not_a_number();
    for (int k = 0; k < classes && label >= 0 && !ignored; ++k) {
      const Real p = prob[score_at(i, k, classes, inner)];
      sum -= gains[(long long)label * classes + k] * log(p < least ? least : p);
    }
    terms[i] = sum;
  }
}

// ∂x = (p Σₖ H[label, k] − H[label])·weight / divisor
KERNEL infogain_loss_backward(int n, int classes, int inner, int has_ignore, int ignore, const Real *gains,
                              const Real *gain_sums, const Real *prob, const Real *labels, const Real *weight,
                              const Real *divisor, Real *gx) {
  const Real factor = weight[0] / divisor[0];
  for (int i : Grid(n)) {
    const Score s(i, classes, inner);
    const int label = class_of(labels[s.position], classes);
    if (label < 0 || is_ignored(labels[s.position], has_ignore, ignore))
      gx[i] = 0;
    else
      gx[i] = (prob[i] * gain_sums[label] - gains[(long long)label * classes + s.k]) * factor;
  }
}

// −log p[label], p at least 10⁻²⁰
KERNEL multinomial_loss_terms(int n, int classes, const Real *prob, const Real *labels, Real *terms) {
  const Real least = Real(1e-20);
  for (int i : Grid(n)) {
    const int label = class_of(labels[i], classes);
    const Real p = label < 0 ? not_a_number() : prob[(long long)i * classes + label];
    terms[i] = -log(p < least ? least : p);
  }
}

// ∂p[label] = −factor·weight / p[label], 0 elsewhere
KERNEL multinomial_loss_backward(int n, int classes, Real factor, const Real *prob, const Real *labels,
                                 const Real *weight, Real *gx) {
  const Real least = Real(1e-20);
  for (int i : Grid(n)) {
    const bool labelled = i % classes == class_of(labels[i / classes], classes);
    gx[i] = labelled ? -(factor * weight[0]) / (prob[i] < least ? least : prob[i]) : Real(0);
  }
}

// x·([x ≥ 0] − t) + log(1 + e^−|x|): nothing overflows, nothing cancels
KERNEL sigmoid_loss_terms(int n, int has_ignore, int ignore, const Real *x, const Real *targets, Real *terms) {
  for (int i : Grid(n)) {
    const Real term = x[i] * ((x[i] >= 0) - targets[i]) + log1p(exp(-fabs(x[i])));
    terms[i] = is_ignored(targets[i], has_ignore, ignore) ? Real(0) : term;
  }
}

// ∂x = (σ(x) − t)·weight / divisor
KERNEL sigmoid_loss_backward(int n, int has_ignore, int ignore, const Real *x, const Real *targets,
                             const Real *weight, const Real *divisor, Real *gx) {
  const Real factor = weight[0] / divisor[0];
  for (int i : Grid(n)) {
    const Real sigmoid = (tanh(x[i] * Real(0.5)) + 1) * Real(0.5);
    gx[i] = is_ignored(targets[i], has_ignore, ignore) ? Real(0) : (sigmoid - targets[i]) * factor;
  }
}

// h = max(0, 1 − t·x), t = 1 for the labelled class and −1 for all others
KERNEL hinge_loss_margins(int n, int classes, const Real *x, const Real *labels, Real *h) {
  for (int i : Grid(n)) {
    const bool labelled = i % classes == class_of(labels[i / classes], classes);
    const Real margin = 1 + (labelled ? -x[i] : x[i]);
    h[i] = margin <= 0 ? Real(0) : margin;
  }
}

// ∂x = −t·sign(h)·factor·weight, or −2t·h·factor·weight if squared
KERNEL hinge_loss_backward(int n, int classes, int squared, Real factor, const Real *labels, const Real *weight,
                           const Real *h, Real *gx) {
  const Real by = factor * weight[0];
  for (int i : Grid(n)) {
    const bool labelled = i % classes == class_of(labels[i / classes], classes);
    const Real g = squared ? 2 * h[i] : sign_of(h[i]);
    gx[i] = (labelled ? -g : g) * by;
  }
}

// squares = d² = ‖a − b‖²;  d² if similar, else max(0, margin − d)², legacy: max(0, margin − d²)
KERNEL contrastive_loss_terms(int n, int channels, Real margin, int legacy, const Real *difference,
                              const Real *similar, Real *squares, Real *terms) {
  for (int i : Grid(n)) {
    Real sum = 0;
    for (int c = 0; c < channels; ++c) {
      const Real d = difference[(long long)i * channels + c];
      sum += d * d;
    }
    squares[i] = sum;
    const Real room = margin - (legacy ? sum : sqrt(sum)), apart = room <= 0 ? Real(0) : room;
    terms[i] = trunc(similar[i]) != 0 ? sum : legacy ? apart : apart * apart;
  }
}

// ∂a = factor·weight·(a − b)·pull; pull = 1 if similar, else −(margin − d)/(d + 10⁻⁴) (legacy: −1) within the margin
KERNEL contrastive_loss_backward(int n, int channels, Real margin, int legacy, Real factor,
                                 const Real *difference, const Real *squares, const Real *similar,
                                 const Real *weight, Real *gx) {
  for (int i : Grid(n)) {
    const int pair = i / channels;
    const Real distance = sqrt(squares[pair]), room = margin - (legacy ? squares[pair] : distance);
    Real pull = 0;
    if (trunc(similar[pair]) != 0)
      pull = 1;
    else if (room > 0)
      pull = legacy ? Real(-1) : -room / (distance + Real(1e-4));
    gx[i] = difference[i] * (pull * (factor * weight[0]));
  }
}

// 1 where fewer than top_k other classes have the label's score or more
KERNEL accuracy_hits(int n, int classes, int inner, int top_k, int has_ignore, int ignore, const Real *scores,
                     const Real *labels, int *hits) {
  for (int i : Grid(n)) {
    const int label = class_of(labels[i], classes);
    const bool counts = label >= 0 && !is_ignored(labels[i], has_ignore, ignore);
    int better = 0;
    for (int k = 0; k < classes && counts; ++k)
      better += scores[score_at(i, k, classes, inner)] >= scores[score_at(i, label, classes, inner)];
    hits[i] = counts && better <= top_k;
  }
}

// Σ hits, and how many labels count, by splits of the positions; if `by_class` of each class by itself
KERNEL accuracy_sums(int rows, int splits, int n, int by_class, int has_ignore, int ignore, const Real *labels,
                     const int *hits, Real *partial, Real *counts) {
  __shared__ Real room[MOST_THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Split split(row, splits, n);
    const int of = split.channel;
    int right = 0, all = 0;
    for (int i = split.begin + threadIdx.x; i < split.end; i += blockDim.x) {
      if (is_ignored(labels[i], has_ignore, ignore) || (by_class && class_of(labels[i], of + 1) != of)) continue;
      right += hits[i];
      all += 1;
    }
    const Real hit = block_sum((Real)right, room), total = block_sum((Real)all, room);
    if (threadIdx.x == 0) {
      partial[row] = hit;
      counts[row] = total;
    }
  }
}

// accuracy = Σ partial / max(1, Σ counts) over the splits of each
KERNEL accuracy_total(int n, int splits, const Real *partial, const Real *counts, Real *accuracy) {
  for (int i : Grid(n)) {
    Real hit = 0, total = 0;
    for (int s = 0; s < splits; ++s) {
      hit += partial[i * splits + s];
      total += counts[i * splits + s];
    }
    accuracy[i] = hit / (total > 1 ? total : Real(1));
  }
}
