// Kernels of points in the plane, named as in the library: "linear", or "rbf" with exp(-gamma |x - z|^2).
// A kernel is { name, gamma, constant }; `constant` is added to every value.

export function kernel({ name, gamma = 1, constant = 0 }, x, z) {
  if (name === "linear") return x[0] * z[0] + x[1] * z[1] + constant;
  return Math.exp(-gamma * ((x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2)) + constant;
}

export function gram(of, X) {
  const n = X.length;
  const G = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) G[i * n + j] = G[j * n + i] = kernel(of, X[i], X[j]);
  return G;
}

// The values k(x, x_j) of one point and all of X.
export const vector = (of, X, x) => Float64Array.from(X, (one) => kernel(of, x, one));

// Calls use(vector, place) for each point (xs[i], ys[j]) of a grid, place = j * xs.length + i. The vector is the same
// array each time. An rbf value is a product of one number for the column and one for the row: no exp for each cell.
export function overGrid(of, X, xs, ys, use) {
  const n = X.length;
  const linear = of.name === "linear";
  const constant = of.constant ?? 0;
  const values = new Float64Array(n);
  const side = (grid, axis) => {
    const table = new Float64Array(grid.length * n);
    for (let i = 0; i < grid.length; i++) {
      for (let k = 0; k < n; k++) {
        const [at, own] = [grid[i], X[k][axis]];
        table[i * n + k] = linear ? at * own : Math.exp(-of.gamma * (at - own) ** 2);
      }
    }
    return table;
  };
  const [columns, rows] = [side(xs, 0), side(ys, 1)];
  for (let j = 0; j < ys.length; j++) {
    for (let i = 0; i < xs.length; i++) {
      const [column, row] = [i * n, j * n];
      if (linear) for (let k = 0; k < n; k++) values[k] = columns[column + k] + rows[row + k] + constant;
      else for (let k = 0; k < n; k++) values[k] = columns[column + k] * rows[row + k] + constant;
      use(values, j * xs.length + i);
    }
  }
}
