// Pictures of the page over invented data, into a folder: node build/shots.mjs
// [FOLDER] [PATTERN]. Wants Chromium (CHROMIUM, else /usr/bin/chromium).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { build, preview } from 'vite'

const out = process.argv[2] ?? 'shots'
const only = new RegExp(process.argv[3] ?? '')
mkdirSync(out, { recursive: true })

const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url))
const dev = fileURLToPath(new URL('../dev', import.meta.url))
const site = mkdtempSync(join(tmpdir(), 'steward-shots-'))
await build({ configFile, mode: 'fake', logLevel: 'error', build: { outDir: site, rollupOptions: { input: [dev + '/index.html', dev + '/faces.html'] } } })
const server = await preview({ configFile, mode: 'fake', logLevel: 'error', build: { outDir: site }, preview: { port: 5198, strictPort: false } })
const base = server.resolvedUrls?.local[0]
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' })

async function shot(name, query, { width = 448, height = 700, scale = 2, scheme = 'dark', then, ...more } = {}) {
  if (!only.test(name)) return
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: scheme, timezoneId: 'Europe/Berlin', ...more })
  const said = []
  page.on('console', (m) => m.type() === 'error' && said.push(m.text()))
  page.on('pageerror', (e) => said.push(String(e)))
  await page.goto(`${base}?frozen&${query}`)
  await page.waitForSelector('main, button, [role=menu]')
  await page.waitForTimeout(150)
  if (then) await then(page)
  await page.waitForTimeout(80)
  await page.screenshot({ path: `${out}/${name}.png`, omitBackground: true })
  for (const s of said) console.error(`${name}: ${s}`)
  await page.close()
}

const open = (n) => async (p) => {
  await p.locator('main [data-row]').nth(n).click()
  await p.waitForTimeout(100)
}

for (const lang of ['en', 'zh-CN']) {
  for (const theme of ['dark', 'light']) {
    const q = `lang=${lang}&theme=${theme}&shape=panel`
    for (const width of [448, 380]) {
      const s = `${lang}-${theme}-${width}`
      await shot(`brief-${s}`, q, { width })
      await shot(`decide-${s}`, `${q}&world=queue&view=decide`, { width })
      await shot(`decide-brief-${s}`, `${q}&world=queue`, { width })
      await shot(`handoffs-${s}`, `${q}&view=handoffs`, { width })
      await shot(`review-${s}`, `${q}&view=handoffs`, { width, then: open(1) })
      await shot(`new-${s}`, `${q}&view=handoffs`, { width, then: (p) => p.keyboard.press('n') })
      await shot(`settings-${s}`, `${q}&view=settings`, { width })
    }
    await shot(`decide-picked-${lang}-${theme}`, `${q}&world=queue&view=decide`, { then: async (p) => { await p.keyboard.press('j'); await p.keyboard.press('j'); await p.keyboard.press('2') } })
    await shot(`decide-written-${lang}-${theme}`, `${q}&world=queue&view=decide`, { then: async (p) => { await p.keyboard.press('i'); await p.keyboard.type('Keep it until v4, then drop it.'); await p.keyboard.press('Shift+Enter'); await p.keyboard.type('Tell the others.') } })
    await shot(`decide-end-${lang}-${theme}`, `${q}&world=queue&view=decide`, { then: async (p) => { await p.keyboard.press('2'); await p.keyboard.press('Enter'); await p.keyboard.press('s'); await p.waitForTimeout(200); await p.locator('main').evaluate((m) => m.scrollTo(0, 9999)) } })
    await shot(`decide-empty-${lang}-${theme}`, `${q}&view=decide`)
    await shot(`event-${lang}-${theme}`, q, { then: open(0) })
    await shot(`empty-${lang}-${theme}`, `${q}&world=empty`)
    await shot(`help-${lang}-${theme}`, q, { then: (p) => p.keyboard.press('?') })
    await shot(`settle-${lang}-${theme}`, `${q}&view=handoffs`, { then: async (p) => { await open(1)(p); await p.keyboard.press('f') } })
    await shot(`lost-${lang}-${theme}`, `${q}&link=lost`)
    await shot(`menu-${lang}-${theme}`, `lang=${lang}&theme=${theme}&shape=menu`, { width: 208, height: 132 })
    await shot(`signin-${lang}-${theme}`, `lang=${lang}&theme=${theme}&signin=used`, { width: 448, height: 520 })
  }
}
await shot('hostile-brief', 'world=hostile&shape=panel&theme=dark')
await shot('hostile-brief-end', 'world=hostile&shape=panel&theme=dark', { then: (p) => p.locator('main').evaluate((m) => m.scrollTo(0, 9999)) })
await shot('hostile-review', 'world=hostile&shape=panel&theme=dark&view=handoffs', { then: open(0) })
await shot('hostile-handoffs-380', 'world=hostile&shape=panel&theme=dark&view=handoffs', { width: 380 })
await shot('hostile-decide', 'world=hostile&shape=panel&theme=dark&view=decide')
await shot('hostile-decide-380', 'world=hostile&shape=panel&theme=light&view=decide', { width: 380, then: (p) => p.locator('main').evaluate((m) => m.scrollTo(0, 9999)) })
await shot('decide-zoomed', 'theme=dark&world=queue&view=decide', { width: 224, height: 350, scale: 4 })
await shot('decide-contrast', 'theme=dark&shape=panel&world=queue&view=decide', { contrast: 'more' })
await shot('decide-forced', 'theme=dark&shape=panel&world=queue&view=decide', { forcedColors: 'active' })
await shot('decide-wide', 'theme=light&world=queue&view=decide', { width: 1280, height: 800, scale: 1 })
await shot('crowd-brief', 'world=crowd&shape=panel&theme=dark')
await shot('crowd-handoffs', 'world=crowd&shape=panel&theme=light&view=handoffs')
await shot('browser-wide', 'theme=light', { width: 1280, height: 800, scale: 1 })
await shot('browser-zoomed', 'theme=dark', { width: 224, height: 350, scale: 4 })
await shot('contrast', 'theme=dark&shape=panel', { contrast: 'more' })
await shot('forced', 'theme=dark&shape=panel', { forcedColors: 'active' })
await shot('focus', 'theme=dark&shape=panel', { then: async (p) => { for (let i = 0; i < 4; i++) await p.keyboard.press('j') } })

if (only.test('faces')) {
  const page = await browser.newPage({ viewport: { width: 720, height: 330 }, deviceScaleFactor: 2 })
  page.on('pageerror', (e) => console.error(`faces: ${e}`))
  await page.goto(`${base}faces.html`)
  await page.waitForSelector('svg')
  await page.waitForTimeout(150)
  await page.screenshot({ path: `${out}/faces.png` })
  await page.close()
}
await browser.close()
await server.close()
rmSync(site, { recursive: true })
