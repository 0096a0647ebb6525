// CUDA's words for g++: a grid runs as a loop over its blocks, and a block as a loop over its threads.
// Threads that wait for each other (__syncthreads) have a stack each and take turns from barrier to barrier.

#pragma once

// C's headers alone: those of C++ take longer to compile than the kernels.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

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

enum { STACK = 64 << 10, MOST_THREADS = 256 };

struct Fiber {
  void *stack;  // from the first turn on, for as long as the process lives
  jmp_buf place;
  bool done;
};

static Fiber fibers[MOST_THREADS];
static Fiber *current = nullptr;  // whose turn it is; nobody's while threads need not wait
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;  // one launch at a time: what is static here and in the kernels is its
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
    if (fiber.stack) _longjmp(fiber.place, 1);
    fiber.stack = malloc(STACK);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, live, 0);
    setcontext(&context);
  }
  current = nullptr;
}

// All threads of a block, from barrier to barrier; on a GPU some at one and some at their end may hang.
inline void run_block(unsigned int threads) {
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
  pthread_mutex_lock(&busy);
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
  const Outcome result = outcome;
  pthread_mutex_unlock(&busy);
  return result;
}

}  // namespace emulation

inline void __syncthreads() {
  if (emulation::current)
    emulation::yield();
  else
    emulation::outcome = emulation::UNEXPECTED_BARRIER;
}
