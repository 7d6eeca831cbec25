// The singular value decomposition of matrices of some rows and columns. A matrix is a Float64Array, row after row.

const SWEEPS = 60;
const SMALL = 1e-15; // cosine below which two columns count as orthogonal

export function transposed(A, rows, columns) {
  const T = new Float64Array(A.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) T[j * rows + i] = A[i * columns + j];
  return T;
}

// The product of a (rows x inner) and a (inner x columns) matrix.
export function product(A, B, rows, inner, columns) {
  const C = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < inner; k++) {
      const value = A[i * inner + k];
      for (let j = 0; j < columns; j++) C[i * columns + j] += value * B[k * columns + j];
    }
  }
  return C;
}

// A = sum_k s_k u_k v_k': { left: [u_k], s, right: [v_k] }, the largest first. Columns are rotated in pairs until all are
// orthogonal (one-sided Jacobi), which keeps small singular values exact. Where s_k is 0, u_k is 0, too.
export function svd(A, rows, columns) {
  if (rows < columns) {
    const { left, s, right } = svd(transposed(A, rows, columns), columns, rows);
    return { left: right, s, right: left };
  }
  const work = Array.from({ length: columns }, (_, j) => Float64Array.from({ length: rows }, (_, i) => A[i * columns + j]));
  const turned = work.map((_, j) => Float64Array.from({ length: columns }, (_, i) => (i === j ? 1 : 0)));
  for (let sweep = 0, moved = true; moved && sweep < SWEEPS; sweep++) {
    moved = false;
    for (let p = 0; p < columns; p++) {
      for (let q = p + 1; q < columns; q++) {
        let [a, b, c] = [0, 0, 0];
        for (let i = 0; i < rows; i++) {
          a += work[p][i] ** 2;
          b += work[q][i] ** 2;
          c += work[p][i] * work[q][i];
        }
        if (Math.abs(c) <= SMALL * Math.sqrt(a * b)) continue;
        moved = true;
        const zeta = (b - a) / (2 * c);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
        const cosine = 1 / Math.sqrt(1 + t * t);
        for (const pair of [work, turned]) rotate(pair[p], pair[q], cosine, cosine * t);
      }
    }
  }
  const lengths = work.map((column) => Math.hypot(...column));
  const order = lengths.map((_, k) => k).sort((p, q) => lengths[q] - lengths[p]);
  return {
    left: order.map((k) => work[k].map((value) => (lengths[k] > 0 ? value / lengths[k] : 0))),
    s: order.map((k) => lengths[k]),
    right: order.map((k) => turned[k]),
  };
}

function rotate(one, other, cosine, sine) {
  for (let i = 0; i < one.length; i++) {
    const value = one[i];
    one[i] = cosine * value - sine * other[i];
    other[i] = sine * value + cosine * other[i];
  }
}
