// CUDA's words for g++: a grid runs as a loop over its blocks, and a block as a loop over its threads.
// Threads that wait for each other (__syncthreads) have a stack each and take turns from barrier to barrier.

#pragma once

#include <math.h>
#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <mutex>
#include <vector>

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __shared__ static  // blocks run one after another: what is there is the block's

struct Index {
  unsigned int x = 0, y = 0, z = 0;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

inline int atomicMax(int *at, int value) {
  const int old = *at;
  if (value > old) *at = value;
  return old;
}

namespace emulation {

enum Outcome { FINE = 0, PARTED = 1, UNEXPECTED_BARRIER = 2 };

struct Fiber {
  enum { STACK = 64 << 10 };
  std::unique_ptr<char[]> stack{new char[STACK]};
  jmp_buf place;
  bool begun = false, done = false;
};

static std::vector<Fiber> fibers;
static Fiber *current = nullptr;  // whose turn it is; nobody's while threads need not wait
static std::mutex busy;  // one launch at a time: what is static here and in the kernels is its
static jmp_buf scheduler;
static void (*body)(const void *);
static const void *body_data;
static Outcome outcome;

inline void yield() {
  if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

// A fiber does its part of one block after another.
inline void live() {
  for (;;) {
    body(body_data);
    current->done = true;
    yield();
  }
}

// Let a fiber run up to its next barrier, or its end.
inline void turn(Fiber &fiber) {
  current = &fiber;
  if (_setjmp(scheduler) == 0) {
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = Fiber::STACK;
    context.uc_link = nullptr;
    makecontext(&context, live, 0);
    setcontext(&context);
  }
  current = nullptr;
}

// All threads of a block, from barrier to barrier; on a GPU some at one and some at their end may hang.
inline void run_block(unsigned int threads) {
  if (fibers.size() < threads) fibers.resize(threads);
  for (unsigned int t = 0; t < threads; ++t) fibers[t].done = false;
  for (unsigned int done = 0; done < threads;) {
    done = 0;
    for (unsigned int t = 0; t < threads; ++t) {
      threadIdx.x = t;
      if (!fibers[t].done) turn(fibers[t]);
      done += fibers[t].done;
    }
    if (done && done < threads) outcome = PARTED;
  }
}

template <class Body>
Outcome launch(unsigned int grid, unsigned int block, bool waiting, const Body &kernel) {
  const std::lock_guard<std::mutex> lock(busy);
  gridDim.x = grid;
  blockDim.x = block;
  outcome = FINE;
  body = [](const void *data) { (*static_cast<const Body *>(data))(); };
  body_data = &kernel;
  for (unsigned int b = 0; b < grid; ++b) {
    blockIdx.x = b;
    if (waiting) {
      run_block(block);
      continue;
    }
    for (unsigned int t = 0; t < block; ++t) {
      threadIdx.x = t;
      kernel();
    }
  }
  return outcome;
}

}  // namespace emulation

inline void __syncthreads() {
  if (emulation::current)
    emulation::yield();
  else
    emulation::outcome = emulation::UNEXPECTED_BARRIER;
}
