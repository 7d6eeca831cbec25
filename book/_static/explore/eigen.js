// Eigenvalues and eigenvectors of a small symmetric matrix by Jacobi's rotations: [{ value, vector }, ...], the largest first.
export function eigen(matrix, n) {
  const A = Float64Array.from(matrix);
  const V = Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_, j) => (i === j ? 1 : 0))); // as rows
  for (let sweep = 0; sweep < 40; sweep++) {
    let [off, size] = [0, 0];
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i === j) size += A[i * n + j] ** 2; else off += A[i * n + j] ** 2;
    if (off <= 1e-32 * size) break;
    for (let p = 0; p < n; p++) for (let r = p + 1; r < n; r++) rotate(A, V, n, p, r);
  }
  return V.map((vector, i) => ({ value: A[i * n + i], vector })).sort((one, other) => other.value - one.value);
}

// makes the entry (p, r) zero
function rotate(A, V, n, p, r) {
  const entry = A[p * n + r];
  if (entry === 0) return;
  const half = (A[r * n + r] - A[p * n + p]) / (2 * entry);
  const tangent = (half >= 0 ? 1 : -1) / (Math.abs(half) + Math.hypot(half, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  for (let k = 0; k < n; k++) {
    const [a, b] = [A[k * n + p], A[k * n + r]];
    A[k * n + p] = cosine * a - sine * b;
    A[k * n + r] = sine * a + cosine * b;
  }
  for (let k = 0; k < n; k++) {
    const [a, b] = [A[p * n + k], A[r * n + k]];
    A[p * n + k] = cosine * a - sine * b;
    A[r * n + k] = sine * a + cosine * b;
    const [v, w] = [V[p][k], V[r][k]];
    V[p][k] = cosine * v - sine * w;
    V[r][k] = sine * v + cosine * w;
  }
}
