import { defineConfig } from '@playwright/test'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../build/bin/', import.meta.url))

// `make test-e2e` runs the tests in e2e; `make test-day` the project `day`, `make
// screenshots` the project `shots`.
// Two workers: most tests wait, and each has a service and a browser of its own. The
// browser is the system's own; Playwright fetches none.
export default defineConfig({
  testDir: 'e2e',
  outputDir: built + 'e2e',
  workers: 2,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  retries: process.env.CI ? 1 : 0, // a crowded machine can be slower than a bar on time allows
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' },
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'page', testIgnore: ['**/e2e/shots/**', '**/e2e/day/**'] },
    { name: 'day', testMatch: '**/e2e/day/**/*.spec.ts', timeout: 600_000, retries: 0 },
    { name: 'shots', testMatch: '**/e2e/shots/**/*.spec.ts', timeout: 300_000 },
  ],
})
