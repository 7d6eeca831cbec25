// The curves where values on a grid change their sign, by linear interpolation along the sides of each square (marching
// squares). Returns lists of points; values are row after row: values[j * xs.length + i] at (xs[i], ys[j]).
export function contour(xs, ys, values) {
  const columns = xs.length;
  const at = new Map(); // from a side of a square to where the curve crosses it
  const next = new Map(); // from a side to the one or two sides that the curve goes on to
  const join = (one, other) => next.set(one, [...next.get(one) ?? [], other]);
  for (let j = 0; j + 1 < ys.length; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const from = j * columns + i;
      const corner = [from, from + 1, from + columns + 1, from + columns];
      const sign = values[from] > 0;
      if (sign === values[corner[1]] > 0 && sign === values[corner[2]] > 0 && sign === values[corner[3]] > 0) continue;
      const crossed = [];
      for (let side = 0; side < 4; side++) {
        const [a, b] = [corner[side], corner[(side + 1) % 4]].sort((p, q) => p - q);
        if (values[a] > 0 === values[b] > 0) continue;
        const name = 2 * a + (b - a > 1 ? 1 : 0); // both squares of a side call it the same
        const share = values[a] / (values[a] - values[b]);
        const mix = (list, p, q) => list[p] + share * (list[q] - list[p]);
        at.set(name, [mix(xs, a % columns, b % columns), mix(ys, Math.floor(a / columns), Math.floor(b / columns))]);
        crossed.push(name);
      }
      // a saddle has four crossings: the mean value decides which belong together
      if (crossed.length === 4 && corner.reduce((sum, one) => sum + values[one], 0) > 0 === sign) crossed.push(crossed.shift());
      for (let k = 0; k < crossed.length; k += 2) {
        join(crossed[k], crossed[k + 1]);
        join(crossed[k + 1], crossed[k]);
      }
    }
  }
  const curves = [];
  const seen = new Set();
  const follow = (start) => {
    const curve = [];
    let side = start;
    while (side !== undefined && !seen.has(side)) {
      seen.add(side);
      curve.push(at.get(side));
      side = next.get(side).find((one) => !seen.has(one));
    }
    return curve;
  };
  for (const [side, neighbours] of next) if (neighbours.length === 1 && !seen.has(side)) curves.push(follow(side));
  for (const side of next.keys()) {
    if (seen.has(side)) continue;
    const curve = follow(side); // what has no end is closed
    curves.push([...curve, curve[0]]);
  }
  return curves;
}
