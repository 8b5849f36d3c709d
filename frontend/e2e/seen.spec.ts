import { expect, row, test, type Page } from './test'
import type { Steward } from './steward'

// What is new since the person last looked: one mark, whatever they look with.

const looked = async (s: Steward) => (await s.owner('brief_get', {})).looked.through_id
const context = (page: Page) => page.getByRole('banner').locator('p')

// hide makes the page believe that its tab is behind another. Chromium as
// Playwright runs it holds every tab for visible.
const hide = (page: Page, hidden: boolean) =>
  page.evaluate((h) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (h ? 'hidden' : 'visible') })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

test('the mark moves when the page is hidden, not while it is looked at, and is one for all browsers', async ({ steward, agent, person, page }) => {
  await expect(context(page)).toContainText('Connect a workspace')
  const first = await agent.report({ actor: 'web-app', outcome: 'first' })
  await expect(row(page, 'first')).toBeVisible()
  await expect(context(page)).toHaveText('You have not looked yet · 1 event')
  await expect(page.getByRole('heading', { name: 'New since you last looked' })).toBeVisible()
  const second = await agent.report({ actor: 'web-app', outcome: 'second' })
  await expect(row(page, 'second')).toBeVisible()
  expect(await looked(steward)).toBe(0)

  const other = await person.signedIn()
  await expect(context(other)).toHaveText('You have not looked yet · 2 events')

  await hide(page, true)
  await expect(context(other)).toHaveText(/^Nothing new since you last looked, /)
  expect(await looked(steward)).toBe(second)
  await expect(other.getByRole('heading', { name: 'New since you last looked' })).toBeHidden()

  // What comes while it is hidden is not seen by it, but by the one that shows it.
  const third = await agent.report({ actor: 'web-app', outcome: 'third' })
  await expect(context(other)).toHaveText(/^Since you last looked, .* · 1 event$/)
  await expect(other.getByRole('heading', { name: 'New since you last looked' })).toBeVisible()
  await hide(page, false)
  await expect(context(page)).toHaveText(/^Since you last looked, .* · 1 event$/)

  // Leaving the page is the end of a look, too.
  await other.goto('about:blank')
  await expect(context(page)).toHaveText(/^Nothing new since you last looked, /)
  expect(await looked(steward)).toBe(third)
  expect([first, second, third]).toEqual([1, 2, 3])
})

test('what was never on the screen is not taken for seen', async ({ steward, agent, page }) => {
  const seen = await agent.report({ actor: 'web-app', outcome: 'seen' })
  await expect(row(page, 'seen')).toBeVisible()
  await page.getByRole('tab', { name: 'Settings' }).click()
  await agent.report({ actor: 'web-app', type: 'failed', outcome: 'not seen' })
  await expect(page.getByRole('tab', { name: 'Brief, 1 failure' })).toBeVisible()
  await page.goto('about:blank')
  await expect.poll(() => looked(steward)).toBe(seen)
})
