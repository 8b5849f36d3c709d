import { svelte } from '@sveltejs/vite-plugin-svelte'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = fileURLToPath(new URL('.', import.meta.url))

// The page that ships is index.html. `vite --mode fake` serves dev/ instead: the
// same page over invented data, so it can be worked on without a service. What
// stands in dev/ and the fake transport never reach dist (build/size.mjs looks).
export default defineConfig(({ mode }) => ({
  root: mode === 'fake' ? here + 'dev' : here,
  publicDir: here + 'public',
  base: './',
  plugins: [svelte()],
  server: { port: 5199, strictPort: true, fs: { allow: [here] } },
  build: {
    outDir: here + 'dist',
    emptyOutDir: true,
    target: ['es2022', 'safari16'],
    assetsInlineLimit: 0, // the page's policy allows nothing inline
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: {
    environment: 'jsdom',
    setupFiles: [here + 'test/setup.ts'],
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    testTimeout: 30_000, // a busy machine takes its time to render
  },
}))
