import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, headline, tab, test } from './test'

test('theme and language are kept in config.json, and reach another browser at once', async ({ steward, agent, person }) => {
  steward.writeConfig('{\n  "targets": ["dj", "studio"],\n  "log_level": "info"\n}\n')
  await agent.report({ actor: 'web-app', outcome: 'began' })
  const page = await person.signedIn({ colorScheme: 'dark' })
  const other = await person.signedIn({ colorScheme: 'light', locale: 'de-DE' })
  const ground = (p: typeof page) => p.evaluate(() => getComputedStyle(document.querySelector('.panel')!).backgroundColor)
  expect(await ground(page)).toBe('rgb(20, 22, 26)')
  expect(await ground(other)).toBe('rgb(246, 242, 233)')

  await tab(page, 'Settings')
  await page.getByRole('radio', { name: 'Light' }).check()
  await expect.poll(() => ground(page)).toBe('rgb(246, 242, 233)')
  await expect.poll(() => steward.config.theme).toBe('light')
  await page.getByRole('radio', { name: 'Dark' }).check()
  await expect.poll(() => ground(other)).toBe('rgb(20, 22, 26)')

  await page.getByRole('radio', { name: '简体中文' }).check()
  await expect(page.getByRole('tab', { name: '设置' })).toHaveAttribute('aria-selected', 'true')
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await expect(other.getByRole('tab', { name: '设置' })).toBeVisible()
  await expect(headline(other)).toHaveText(/^1/)

  // What stood there is still there, in its order.
  const text = readFileSync(join(steward.home, 'config.json'), 'utf8')
  expect(Object.entries(JSON.parse(text) as object)).toEqual([['targets', ['dj', 'studio']], ['log_level', 'info'], ['theme', 'dark'], ['language', 'zh-CN']])

  // It outlives both the browser's page and the service.
  expect(await steward.end('SIGTERM')).toBe(0)
  await steward.serve()
  await page.reload()
  await expect(page.getByRole('tab', { name: '设置' })).toBeVisible()
  expect(await ground(page)).toBe('rgb(20, 22, 26)')
  const third = await person.signedIn()
  await expect(third.getByRole('tab', { name: '设置' })).toBeVisible()
  await expect.poll(() => ground(third)).toBe('rgb(20, 22, 26)')
})

test('the language follows the browser where none was chosen', async ({ agent, person }) => {
  await agent.report({ actor: 'web-app', outcome: 'began' })
  for (const locale of ['zh-CN', 'zh-SG']) {
    const page = await person.signedIn({ locale })
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
    await page.context().close()
  }
  const page = await person.signedIn({ locale: 'fr-FR' })
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
})

test('a choice that cannot be kept is taken back and said', async ({ steward, page }) => {
  await tab(page, 'Settings')
  const broken = '{"theme": "dark", // mine\n}'
  steward.writeConfig(broken)
  await page.getByRole('radio', { name: 'Light' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('config.json')
  await expect(page.getByRole('radio', { name: 'As the system' }).first()).toBeChecked()
  expect(readFileSync(join(steward.home, 'config.json'), 'utf8')).toBe(broken)
})

test('what this Steward is', async ({ steward, page }) => {
  await tab(page, 'Settings')
  const about = page.getByRole('region', { name: 'About' })
  for (const s of [join(steward.home, 'ledger.db'), join(steward.home, 'config.json'), `127.0.0.1:${steward.port}`, 'serve', 'AGPL-3.0', 'studio, dj, library']) {
    await expect(about).toContainText(s)
  }
})

test('a build without an address says so, and offers no look for updates', async ({ steward, person, page }) => {
  await tab(page, 'Settings')
  const about = page.getByRole('region', { name: 'About' })
  await expect(about).toContainText('This build knows no address for updates, so nobody is asked.')
  await expect(about.getByRole('switch')).toHaveCount(0)
  const other = await person.signedIn({ locale: 'zh-CN' })
  await other.getByRole('tab', { name: '设置' }).click()
  await expect(other.getByRole('region', { name: '关于' })).toContainText('这个构建不知道更新地址')
  expect(steward.config.update_check).toBeUndefined()
})
