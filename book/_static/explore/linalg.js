// Dense symmetric systems of some dozen rows. An n x n matrix is a Float64Array, row after row.

// The lower factor L of A = L L'. Only the lower triangle of A is read.
export function cholesky(A, n) {
  const L = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = A[i * n + j];
      for (let k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i !== j) L[i * n + j] = sum / L[j * n + j];
      else if (sum > 0) L[i * n + i] = Math.sqrt(sum);
      else throw new RangeError(`the matrix is not positive definite: pivot ${i} is ${sum}`);
    }
  }
  return L;
}

// The x of L L' x = b.
export function solveFactored(L, n, b) {
  const x = Float64Array.from(b);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    for (let k = 0; k < i; k++) x[k] -= L[i * n + k] * x[i];
  }
  return x;
}

// The matrix of the solutions of L L' X = B for the columns of B, where the result is known to be symmetric.
export function solveSymmetric(L, n, B) {
  const X = new Float64Array(n * n);
  const column = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) column[i] = B[i * n + j];
    const x = solveFactored(L, n, column);
    for (let i = 0; i < n; i++) X[i * n + j] = x[i];
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) X[i * n + j] = X[j * n + i] = (X[i * n + j] + X[j * n + i]) / 2;
  }
  return X;
}

export function identity(n) {
  const I = new Float64Array(n * n);
  for (let i = 0; i < n; i++) I[i * n + i] = 1;
  return I;
}

// A v of an n x n matrix.
export function multiply(A, n, v) {
  const product = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += A[i * n + j] * v[j];
    product[i] = sum;
  }
  return product;
}

export function dot(u, v) {
  let sum = 0;
  for (let i = 0; i < u.length; i++) sum += u[i] * v[i];
  return sum;
}
