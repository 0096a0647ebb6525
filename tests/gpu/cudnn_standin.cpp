// What our engine calls of cuDNN, by plain loops on the emulated device's memory.
//
// Every object is known, so that one used after it was destroyed is an error; a convolution tells the test what it
// touches and on which stream, and writes all of its workspace.

#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

enum { SUCCESS = 0, BAD_PARAM = 2000, NOT_SUPPORTED = 3000 };

struct Tensor { int type, axes, dims[8]; };   // filters, too
struct Convolution { int axes, pad[8], stride[8], dilation[8], type, groups = 1, math = 0; };
struct Handle { void *stream = nullptr; };

static std::set<void *> alive;
static char failing[64];          // the function that is to fail,
static int failure, spoiled, need = 1000;  // with this status; what is added to results; bytes of workspace
// Told of a stream and of three arrays and the workspace, each with its bytes; not 0: something is wrong.
typedef int (*Told)(void *stream, const void **arrays, const long long *bytes, int math);
static Told told;

API void standin_fail(const char *name, int status) { snprintf(failing, sizeof failing, "%s", name); failure = status; }
API void standin_spoil(int by) { spoiled = by; }
API void standin_need(int bytes) { need = bytes; }
API void standin_tell(Told whom) { told = whom; }
API int standin_alive() { return alive.size(); }

#define ENTRY(name) if (!strcmp(failing, name)) return failure
#define KNOWN(...) for (const void *p : {__VA_ARGS__}) if (!alive.count(const_cast<void *>(p))) return BAD_PARAM

template <typename T> static int create(void **made) { alive.insert(*made = new T()); return SUCCESS; }
template <typename T> static int destroy(void *object) {
  KNOWN(object);
  alive.erase(object);
  delete static_cast<T *>(object);
  return SUCCESS;
}

API size_t cudnnGetVersion() { return VERSION; }
API const char *cudnnGetErrorString(int status) {
  return status == BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" :
         status == 1003 ? "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED" : "CUDNN_STATUS_EXECUTION_FAILED";
}
API int cudnnCreate(void **handle) { ENTRY("Create"); return create<Handle>(handle); }
API int cudnnDestroy(void *handle) { return destroy<Handle>(handle); }
API int cudnnSetStream(void *handle, void *stream) {
  ENTRY("SetStream");
  KNOWN(handle);
  static_cast<Handle *>(handle)->stream = stream;
  return SUCCESS;
}

static int set(void *object, int type, int axes, const int *dims) {
  KNOWN(object);
  Tensor *x = static_cast<Tensor *>(object);
  if (axes < 4 || axes > 8) return NOT_SUPPORTED;
  x->type = type; x->axes = axes;
  memcpy(x->dims, dims, axes * sizeof(int));
  return SUCCESS;
}
API int cudnnCreateTensorDescriptor(void **d) { ENTRY("CreateTensorDescriptor"); return create<Tensor>(d); }
API int cudnnDestroyTensorDescriptor(void *d) { return destroy<Tensor>(d); }
API int cudnnSetTensorNdDescriptor(void *d, int type, int axes, const int *dims, const int *strides) {
  ENTRY("SetTensorNdDescriptor");
  for (int a = axes - 1, step = 1; a >= 0; step *= dims[a--])
    if (strides[a] != step) return BAD_PARAM;
  return set(d, type, axes, dims);
}
API int cudnnCreateFilterDescriptor(void **d) { ENTRY("CreateFilterDescriptor"); return create<Tensor>(d); }
API int cudnnDestroyFilterDescriptor(void *d) { return destroy<Tensor>(d); }
API int cudnnSetFilterNdDescriptor(void *d, int type, int format, int axes, const int *dims) {
  ENTRY("SetFilterNdDescriptor");
  return format ? BAD_PARAM : set(d, type, axes, dims);
}
API int cudnnCreateConvolutionDescriptor(void **d) { ENTRY("CreateConvolutionDescriptor"); return create<Convolution>(d); }
API int cudnnDestroyConvolutionDescriptor(void *d) { return destroy<Convolution>(d); }
API int cudnnSetConvolutionNdDescriptor(void *d, int axes, const int *pad, const int *stride, const int *dilation,
                                        int mode, int type) {
  ENTRY("SetConvolutionNdDescriptor");
  KNOWN(d);
  Convolution *c = static_cast<Convolution *>(d);
  if (mode != 1) return BAD_PARAM;
  c->axes = axes; c->type = type;
  for (int a = 0; a < axes; ++a) c->pad[a] = pad[a], c->stride[a] = stride[a], c->dilation[a] = dilation[a];
  return SUCCESS;
}
API int cudnnSetConvolutionGroupCount(void *d, int groups) {
  ENTRY("SetConvolutionGroupCount");
  KNOWN(d);
  static_cast<Convolution *>(d)->groups = groups;
  return SUCCESS;
}
API int cudnnSetConvolutionMathType(void *d, int math) {
  ENTRY("SetConvolutionMathType");
  KNOWN(d);
  static_cast<Convolution *>(d)->math = math;
  return SUCCESS;
}
API int cudnnGetConvolutionNdForwardOutputDim(void *cd, void *xd, void *wd, int axes, int *dims) {
  ENTRY("GetConvolutionNdForwardOutputDim");
  KNOWN(cd, xd, wd);
  const Convolution &c = *static_cast<Convolution *>(cd);
  const Tensor &x = *static_cast<Tensor *>(xd), &w = *static_cast<Tensor *>(wd);
  if (axes != x.axes || axes != w.axes || axes != c.axes + 2 || x.dims[1] != w.dims[1] * c.groups) return BAD_PARAM;
  dims[0] = x.dims[0]; dims[1] = w.dims[0];
  for (int a = 0; a < c.axes; ++a) {
    const int room = x.dims[a + 2] + 2 * c.pad[a] - (c.dilation[a] * (w.dims[a + 2] - 1) + 1);
    if (room < 0) return BAD_PARAM;
    dims[a + 2] = room / c.stride[a] + 1;
  }
  return SUCCESS;
}

// Calls work(image, weights, out) for every product, as indices into the three arrays.
template <typename Work> static void products(const Tensor &x, const Tensor &w, const Tensor &y, const Convolution &c,
                                              Work work) {
  int out[3] = {1, 1, 1}, in[3] = {1, 1, 1}, tap[3] = {1, 1, 1}, pad[3] = {}, step[3] = {1, 1, 1}, far[3] = {1, 1, 1};
  for (int a = 0; a < c.axes; ++a) {
    const int to = 3 - c.axes + a;
    in[to] = x.dims[a + 2]; tap[to] = w.dims[a + 2]; out[to] = y.dims[a + 2];
    pad[to] = c.pad[a]; step[to] = c.stride[a]; far[to] = c.dilation[a];
  }
  const int inputs = w.dims[1], outputs = y.dims[1] / c.groups;
  int o[3], k[3];
  for (int n = 0; n < y.dims[0]; ++n) for (int m = 0; m < y.dims[1]; ++m) for (int i = 0; i < inputs; ++i)
    for (o[0] = 0; o[0] < out[0]; ++o[0]) for (o[1] = 0; o[1] < out[1]; ++o[1]) for (o[2] = 0; o[2] < out[2]; ++o[2])
      for (k[0] = 0; k[0] < tap[0]; ++k[0]) for (k[1] = 0; k[1] < tap[1]; ++k[1]) for (k[2] = 0; k[2] < tap[2]; ++k[2]) {
        long long image = (long long)n * x.dims[1] + m / outputs * inputs + i, weight = (long long)m * inputs + i;
        long long result = (long long)n * y.dims[1] + m;
        bool inside = true;
        for (int a = 0; a < 3; ++a) {
          const int at = o[a] * step[a] - pad[a] + k[a] * far[a];
          inside &= at >= 0 && at < in[a];
          image = image * in[a] + at; weight = weight * tap[a] + k[a]; result = result * out[a] + o[a];
        }
        if (inside) work(image, weight, result);
      }
}

static long long count(const Tensor &x) {
  long long all = 1;
  for (int a = 0; a < x.axes; ++a) all *= x.dims[a];
  return all;
}

// made = alpha·(products of the two others) + beta·made; which: 0 image, 1 weights, 2 out.
template <typename Real> static void run(int which, const Tensor **d, void **p, const Convolution &c, const void *alpha,
                                         const void *beta) {
  const Real a = *static_cast<const Real *>(alpha), b = *static_cast<const Real *>(beta);
  Real *x = static_cast<Real *>(p[0]), *w = static_cast<Real *>(p[1]), *y = static_cast<Real *>(p[2]);
  std::vector<double> sums(count(*d[which]));
  products(*d[0], *d[1], *d[2], c, [&](long long i, long long k, long long o) {
    sums[which == 0 ? i : which == 1 ? k : o] += which == 0 ? double(w[k]) * y[o] : which == 1 ? double(x[i]) * y[o] : double(x[i]) * w[k];
  });
  Real *made = static_cast<Real *>(p[which]);
  for (size_t i = 0; i < sums.size(); ++i) made[i] = a * Real(sums[i]) + (b ? b * made[i] : Real(0)) + spoiled;
}

static int convolve(int which, void *handle, const void *alpha, void *xd, const void *x, void *wd, const void *w,
                    void *cd, void *room, size_t size, const void *beta, void *yd, const void *y) {
  KNOWN(handle, xd, wd, yd, cd);
  if (size < (size_t)need || (need && !room)) return BAD_PARAM;
  const Tensor *d[] = {static_cast<Tensor *>(xd), static_cast<Tensor *>(wd), static_cast<Tensor *>(yd)};
  const Convolution &c = *static_cast<Convolution *>(cd);
  const int bytes = d[0]->type ? 8 : 4;
  // The one that is made is first.
  const void *arrays[] = {x, w, y, room};
  const long long sizes[] = {count(*d[0]) * bytes, count(*d[1]) * bytes, count(*d[2]) * bytes, (long long)size};
  if (told) {
    const void *in_order[] = {arrays[which], arrays[(which + 1) % 3], arrays[(which + 2) % 3], room};
    const long long of_order[] = {sizes[which], sizes[(which + 1) % 3], sizes[(which + 2) % 3], (long long)size};
    if (told(static_cast<Handle *>(handle)->stream, in_order, of_order, c.math)) return BAD_PARAM;
  }
  memset(room, 0x5A, size);
  void *p[] = {const_cast<void *>(x), const_cast<void *>(w), const_cast<void *>(y)};
  if (d[0]->type) run<double>(which, d, p, c, alpha, beta);
  else run<float>(which, d, p, c, alpha, beta);
  return SUCCESS;
}

#define WORKSPACE(name, most)                                                                                          \
  API int cudnnGetConvolution##name##WorkspaceSize(void *h, void *a, void *b, void *c, void *d, int algorithm,         \
                                                   size_t *size) {                                                     \
    ENTRY("GetConvolution" #name "WorkspaceSize");                                                                     \
    KNOWN(h, a, b, c, d);                                                                                              \
    if (algorithm < 0 || algorithm >= most) return BAD_PARAM;                                                          \
    *size = need;                                                                                                      \
    return algorithm == 1 ? SUCCESS : NOT_SUPPORTED;                                                                   \
  }
WORKSPACE(Forward, 8)
WORKSPACE(BackwardData, 6)
WORKSPACE(BackwardFilter, 7)

API int cudnnConvolutionForward(void *h, const void *alpha, void *xd, const void *x, void *wd, const void *w, void *cd,
                                int algorithm, void *room, size_t size, const void *beta, void *yd, void *y) {
  ENTRY("ConvolutionForward");
  return algorithm == 1 ? convolve(2, h, alpha, xd, x, wd, w, cd, room, size, beta, yd, y) : NOT_SUPPORTED;
}
API int cudnnConvolutionBackwardData(void *h, const void *alpha, void *wd, const void *w, void *yd, const void *y,
                                     void *cd, int algorithm, void *room, size_t size, const void *beta, void *xd,
                                     void *x) {
  ENTRY("ConvolutionBackwardData");
  return algorithm == 1 ? convolve(0, h, alpha, xd, x, wd, w, cd, room, size, beta, yd, y) : NOT_SUPPORTED;
}
API int cudnnConvolutionBackwardFilter(void *h, const void *alpha, void *xd, const void *x, void *yd, const void *y,
                                       void *cd, int algorithm, void *room, size_t size, const void *beta, void *wd,
                                       void *w) {
  ENTRY("ConvolutionBackwardFilter");
  return algorithm == 1 ? convolve(1, h, alpha, xd, x, wd, w, cd, room, size, beta, yd, y) : NOT_SUPPORTED;
}
