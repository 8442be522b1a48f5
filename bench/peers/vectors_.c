// Kernels of cpu_race.py with the vector extensions of C, as a user of clang would write them: `clang -O3 -march=native -pthread -shared`.
//
// A vector has as many lanes as the processor's registers. Threads take pieces of the work from a counter until none is left.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#define LANES 16
#else
#define LANES 8
#endif

typedef uint32_t V __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t S __attribute__((vector_size(4 * LANES), aligned(4)));

static inline V rotl(V x, int k) { return (x << k) | (x >> (32 - k)); }
static inline V rotr(V x, int k) { return (x >> k) | (x << (32 - k)); }
static inline V all(uint32_t x) { return (V){0} + x; }

static inline V counting(uint32_t first) {
  V v;
  for (int k = 0; k < LANES; ++k) v[k] = first + (uint32_t)k;
  return v;
}

// Work in pieces, each done by one thread.
typedef struct Job {
  void (*piece)(const struct Job*, size_t);
  atomic_size_t next;
  size_t pieces, size;
  const void *a, *b;
  void* out;
  uint32_t numbers[16];
} Job;

static void* worker(void* given) {
  Job* const job = given;
  for (size_t k; (k = atomic_fetch_add(&job->next, 1)) < job->pieces;) job->piece(job, k);
  return NULL;
}

static void run(Job* job, int threads) {
  pthread_t helpers[256];
  int started = 0;
  while (started < threads - 1 && started < 256 && pthread_create(&helpers[started], NULL, worker, job) == 0) ++started;
  worker(job);
  for (int k = 0; k < started; ++k) pthread_join(helpers[k], NULL);
}

enum { PIECE = 1 << 16 };  // elements of a piece of what moves memory
static size_t pieces_of(size_t size, size_t piece) { return (size + piece - 1) / piece; }
static size_t end_of(const Job* job, size_t k, size_t piece) { return (k + 1) * piece < job->size ? (k + 1) * piece : job->size; }

static void copy_piece(const Job* job, size_t k) {
  const size_t begin = k * PIECE, end = end_of(job, k, PIECE);
  memcpy((uint32_t*)job->out + begin, (const uint32_t*)job->a + begin, 4 * (end - begin));
}

void copy(const uint32_t* a, uint32_t* out, size_t size, int threads) {
  Job job = {.piece = copy_piece, .pieces = pieces_of(size, PIECE), .size = size, .a = a, .out = out};
  run(&job, threads);
}

static void xor_piece(const Job* job, size_t k) {
  const uint32_t *const a = job->a, *const b = job->b;
  uint32_t* const out = job->out;
  for (size_t i = k * PIECE, end = end_of(job, k, PIECE); i < end; ++i) out[i] = a[i] ^ b[i];
}

void xor_(const uint32_t* a, const uint32_t* b, uint32_t* out, size_t size, int threads) {
  Job job = {.piece = xor_piece, .pieces = pieces_of(size, PIECE), .size = size, .a = a, .b = b, .out = out};
  run(&job, threads);
}

// 256 rounds over four vectors at a time; sizes are multiples of 64.
enum { ARX_PIECE = 1 << 12 };

static void arx_piece(const Job* job, size_t k) {
  const uint32_t* const a = job->a;
  uint32_t* const out = job->out;
  for (size_t i = k * ARX_PIECE, end = end_of(job, k, ARX_PIECE); i < end; i += 4 * LANES) {
    V x[4], y[4];
    for (int v = 0; v < 4; ++v) {
      x[v] = *(const V*)(a + i + v * LANES);
      y[v] = counting((uint32_t)i + (uint32_t)(v * LANES));
    }
    for (int round = 0; round < 256; ++round) {
      for (int v = 0; v < 4; ++v) {
        x[v] = rotl(x[v] + y[v], 7) ^ y[v];
        y[v] += x[v];
      }
    }
    for (int v = 0; v < 4; ++v) *(V*)(out + i + v * LANES) = x[v] ^ y[v];
  }
}

void arx(const uint32_t* a, uint32_t* out, size_t size, int threads) {
  Job job = {.piece = arx_piece, .pieces = pieces_of(size, ARX_PIECE), .size = size, .a = a, .out = out};
  run(&job, threads);
}

// The turns of each point of a picture, in fixed point of 12 bits; two vectors at a time. Widths are multiples of 32.
static void mandelbrot_row(const Job* job, size_t row) {
  const int width = (int)job->numbers[0], height = (int)job->numbers[1];
  uint32_t* const out = (uint32_t*)job->out + row * (size_t)width;
  const S y0 = (S)all((uint32_t)((int)row * 8192 / height - 4096));
  for (int px = 0; px < width; px += 2 * LANES) {
    S x0[2], x[2] = {{0}}, y[2] = {{0}}, inside[2];
    V count[2] = {{0}};
    for (int v = 0; v < 2; ++v) {
      for (int k = 0; k < LANES; ++k) x0[v][k] = (px + v * LANES + k) * 12288 / width - 8192;
      inside[v] = (S)all(~0u);
    }
    for (int turn = 0; turn < 200; ++turn) {
      int any = 0;
      for (int v = 0; v < 2; ++v) {
        const S xx = x[v] * x[v], yy = y[v] * y[v];
        inside[v] &= xx + yy < 4 * 4096 * 4096;
        count[v] -= (V)inside[v];
        y[v] = 2 * x[v] * y[v] / 4096 + y0;  // rounds towards zero, as vyre does
        x[v] = (xx - yy) / 4096 + x0[v];
        int some = 0;
        for (int k = 0; k < LANES; ++k) some |= inside[v][k];
        any |= some;
      }
      if (!any) break;
    }
    for (int v = 0; v < 2; ++v) *(V*)(out + px + v * LANES) = count[v];
  }
}

void mandelbrot(uint32_t* out, uint32_t width, uint32_t height, int threads) {
  Job job = {.piece = mandelbrot_row, .pieces = height, .size = height, .out = out, .numbers = {width, height}};
  run(&job, threads);
}

static const uint32_t kSha[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha_block(V h[8], V w[16]) {
  V s[8];
  memcpy(s, h, sizeof s);
#pragma clang loop unroll(full)
  for (int r = 0; r < 64; ++r) {
    if (r >= 16) {
      const V a = w[(r - 15) & 15], b = w[(r - 2) & 15];
      w[r & 15] += (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) + w[(r - 7) & 15] + (rotr(b, 17) ^ rotr(b, 19) ^ (b >> 10));
    }
    const V e = s[4], a = s[0];
    const V one = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + kSha[r] + w[r & 15];
    const V two = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + one, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = one + two;
  }
  for (int k = 0; k < 8; ++k) h[k] += s[k];
}

// Messages of 64 bytes, which lie one behind the other; a multiple of 16 of them. Digests have their words as the hash has them.
enum { SHA_PIECE = 256 };

static void sha256_piece(const Job* job, size_t k) {
  static const uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint32_t* const text = job->a;
  uint32_t* const out = job->out;
  for (size_t m = k * SHA_PIECE, end = end_of(job, k, SHA_PIECE); m < end; m += LANES) {
    V h[8], w[16];
    for (int j = 0; j < 8; ++j) h[j] = all(kStart[j]);
    for (int j = 0; j < 16; ++j) {
      for (int lane = 0; lane < LANES; ++lane) w[j][lane] = __builtin_bswap32(text[(m + (size_t)lane) * 16 + (size_t)j]);
    }
    sha_block(h, w);
    w[0] = all(0x80000000);
    for (int j = 1; j < 15; ++j) w[j] = all(0);
    w[15] = all(512);
    sha_block(h, w);
    for (int j = 0; j < 8; ++j) {
      for (int lane = 0; lane < LANES; ++lane) out[(m + (size_t)lane) * 8 + (size_t)j] = h[j][lane];
    }
  }
}

void sha256(const uint32_t* text, uint32_t* out, size_t messages, int threads) {
  Job job = {.piece = sha256_piece, .pieces = pieces_of(messages, SHA_PIECE), .size = messages, .a = text, .out = out};
  run(&job, threads);
}

// Whole groups of LANES blocks of 64 bytes; `state` is the key's eight words, the first block's number and the nonce's three.
enum { CHACHA_PIECE = 256 };

#define QUARTER(a, b, c, d)                   \
  x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 16); \
  x[c] += x[d], x[b] = rotl(x[b] ^ x[c], 12); \
  x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 8);  \
  x[c] += x[d], x[b] = rotl(x[b] ^ x[c], 7)

static void chacha_piece(const Job* job, size_t k) {
  static const uint32_t kWords[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  const uint32_t* const text = job->a;
  uint32_t* const out = job->out;
  for (size_t block = k * CHACHA_PIECE, end = end_of(job, k, CHACHA_PIECE); block < end; block += LANES) {
    V x[16], start[16];
    for (int j = 0; j < 4; ++j) start[j] = all(kWords[j]);
    for (int j = 0; j < 12; ++j) start[4 + j] = all(job->numbers[j]);
    start[12] += counting((uint32_t)block);
    memcpy(x, start, sizeof x);
    for (int round = 0; round < 10; ++round) {
      QUARTER(0, 4, 8, 12);
      QUARTER(1, 5, 9, 13);
      QUARTER(2, 6, 10, 14);
      QUARTER(3, 7, 11, 15);
      QUARTER(0, 5, 10, 15);
      QUARTER(1, 6, 11, 12);
      QUARTER(2, 7, 8, 13);
      QUARTER(3, 4, 9, 14);
    }
    uint32_t words[16][LANES];
    for (int j = 0; j < 16; ++j) *(V*)words[j] = x[j] + start[j];
    for (size_t lane = 0; lane < LANES; ++lane) {
      for (size_t j = 0; j < 16; ++j) out[(block + lane) * 16 + j] = text[(block + lane) * 16 + j] ^ words[j][lane];
    }
  }
}

void chacha20(const uint32_t* state, const uint32_t* text, uint32_t* out, size_t blocks, int threads) {
  Job job = {.piece = chacha_piece, .pieces = pieces_of(blocks, CHACHA_PIECE), .size = blocks, .a = text, .out = out};
  memcpy(job.numbers, state, 48);
  run(&job, threads);
}
