/**
 * steps draws counts as a line of steps, width × height, oldest at the left. The
 * scale is the square root, so that one event shows beside a hundred; the lowest
 * step lies on the ground.
 */
export function steps(buckets: readonly number[], width: number, height: number): string {
  const n = buckets.length
  if (n === 0) return ''
  const top = Math.sqrt(Math.max(4, ...buckets))
  const y = (v: number) => (height - 1 - (Math.sqrt(Math.max(0, v)) / top) * (height - 2)).toFixed(1)
  let d = `M0 ${y(buckets[0] as number)}`
  for (let i = 0; i < n; i++) {
    if (i > 0 && buckets[i] !== buckets[i - 1]) d += `V${y(buckets[i] as number)}`
    d += `H${((width * (i + 1)) / n).toFixed(1)}`
  }
  return d
}
