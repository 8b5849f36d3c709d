import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createServer, type ViteDevServer } from 'vite'
import { expect, test } from '@playwright/test'

// What a service cannot show at once, or not twice the same: the orb's faces and
// its menu, and the two pictures of the README. They are taken of the same page
// over invented data, whose clock stands.

const out = fileURLToPath(new URL('../../../build/bin/screenshots/', import.meta.url))
const kept = fileURLToPath(new URL('../../../build/screenshots/', import.meta.url))
const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url))

let site: ViteDevServer
let base = ''

test.beforeAll(async () => {
  mkdirSync(out, { recursive: true })
  mkdirSync(kept, { recursive: true })
  site = await createServer({ configFile, mode: 'fake', logLevel: 'error', server: { host: '127.0.0.1', port: 0, strictPort: false } })
  await site.listen()
  base = site.resolvedUrls?.local[0] ?? ''
})

test.afterAll(() => site.close())

test('the six faces on a busy ground, and on calm ones', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 720, height: 330 }, deviceScaleFactor: 2 })
  await page.goto(base + 'faces.html')
  for (const face of ['idle', 'working', 'needs', 'failure', 'both', 'unreachable']) await expect(page.locator(`svg[data-face="${face}"]`).first()).toBeVisible()
  await page.screenshot({ path: out + 'faces.png' })
  await page.close()
})

for (const tongue of ['en', 'zh-CN']) {
  for (const theme of ['dark', 'light']) {
    test(`orb and menu, ${tongue}, ${theme}`, async ({ browser }) => {
      const page = await browser.newPage({ viewport: { width: 208, height: 132 }, deviceScaleFactor: 2 })
      await page.goto(`${base}?frozen&lang=${tongue}&theme=${theme}&shape=menu`)
      await expect(page.getByRole('menu')).toBeVisible()
      await page.screenshot({ path: `${out}menu-${tongue}-${theme}.png`, omitBackground: true })
      await page.setViewportSize({ width: 80, height: 80 })
      await page.goto(`${base}?frozen&lang=${tongue}&theme=${theme}&shape=orb`)
      await expect(page.getByRole('button')).toBeVisible()
      await page.screenshot({ path: `${out}orb-${tongue}-${theme}.png`, omitBackground: true })
      await page.close()
    })
  }
}

for (const [name, query, open] of [
  ['brief', 'theme=dark', ''],
  ['review', 'theme=light&view=handoffs', 'Night Drive'],
] as const) {
  test(`the README's ${name}`, async ({ browser }) => {
    const page = await browser.newPage({ viewport: { width: 448, height: 700 }, deviceScaleFactor: 2, timezoneId: 'UTC', locale: 'en-US' })
    await page.goto(`${base}?frozen&lang=en&shape=panel&${query}`)
    await expect(page.locator('main [data-row]').first()).toBeVisible()
    if (open) {
      await page.locator('main li').filter({ hasText: open }).locator('[data-row]').click()
      await expect(page.getByRole('region', { name: 'Instruction' })).toBeVisible()
    }
    await page.screenshot({ path: `${kept}${name}.png`, omitBackground: true })
    expect(statSync(`${kept}${name}.png`).size).toBeLessThanOrEqual(200 * 1024)
    await page.close()
  })
}
