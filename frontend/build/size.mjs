// Prints what the page weighs over the wire and fails when it is too heavy, or
// when invented data got into it.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const limit = 150 * 1024
const dist = fileURLToPath(new URL('../dist', import.meta.url))
const files = readdirSync(dist, { recursive: true }).map(String).filter((f) => statSync(join(dist, f)).isFile())

let total = 0
let bad = false
for (const f of files.sort()) {
  const b = readFileSync(join(dist, f))
  const z = gzipSync(b, { level: 9 }).length
  total += z
  console.log(`${String(z).padStart(8)} B gzipped  ${f}`)
  if (/\.(js|html|css)$/.test(f) && /FakeTransport|Night Drive|hnd_01KBFAKE/.test(b.toString())) {
    console.error(`size: invented data is in ${f}`)
    bad = true
  }
  if (f === 'index.html' && (/<script(?![^>]*\bsrc=)/.test(b.toString()) || /<style|\sstyle=/.test(b.toString()))) {
    console.error('size: index.html holds something inline, which the page’s own policy forbids')
    bad = true
  }
}
console.log(`${String(total).padStart(8)} B gzipped in all, of ${limit}`)
if (total > limit) {
  console.error('size: too heavy')
  bad = true
}
process.exit(bad ? 1 : 0)
