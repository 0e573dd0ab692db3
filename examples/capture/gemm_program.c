/* A program that multiplies matrices with the system's BLAS. It knows nothing of Opwright. */
#include <stdio.h>
#include <stdlib.h>

/* From cblas.h, so that only the library is needed to build this. */
enum { kRowMajor = 101, kNoTrans = 111, kTrans = 112 };
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);

int main(void) {
  const int sizes[][3] = {{32, 64, 128}, {32, 64, 128}, {16, 16, 16}};
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
    float* a = malloc(sizeof(float) * m * k);
    float* b = malloc(sizeof(float) * k * n);
    float* c = calloc((size_t)m * n, sizeof(float));
    for (int j = 0; j < m * k; ++j) a[j] = (float)(j % 7);
    for (int j = 0; j < k * n; ++j) b[j] = (float)(j % 5);
    cblas_sgemm(kRowMajor, kNoTrans, i == 2 ? kTrans : kNoTrans, m, n, k, 1.0F, a, k, b, i == 2 ? k : n, 0.0F, c, n);
    sum += c[0] + c[m * n - 1];
    free(a);
    free(b);
    free(c);
  }
  printf("%.1f\n", sum);
  return 0;
}
