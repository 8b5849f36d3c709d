import { expect, headline, row, test, type Page } from './test'

// The connection: what is said when it is lost, and that nothing is missed.

const banner = (page: Page) => page.locator('.banner')
const key = (page: Page) => page.getByRole('region', { name: 'Key events' }).locator('li .main')

// told counts, in the page, how long after `from` (ms since 1970) the banner stood there.
const told = (page: Page, from: number) => page.evaluate((from) => {
  const at = (window as unknown as { bannerAt?: number }).bannerAt
  return at === undefined ? null : at - from
}, from)

// watch notes in the page when a banner appears: a busy test would note it late.
const watch = (page: Page) =>
  page.evaluate(() => {
    const w = window as unknown as { bannerAt?: number }
    new MutationObserver(() => {
      if (w.bannerAt === undefined && document.querySelector('.banner')) w.bannerAt = Date.now()
    }).observe(document.body, { childList: true, subtree: true })
  })

test('a killed service is said within 2 s, what was read stays, and nothing is missed', async ({ steward, agent, page }) => {
  await agent.report({ actor: 'web-app', outcome: 'before' })
  await expect(key(page)).toHaveText(['web-app before'])
  await watch(page)
  const from = Date.now()
  await steward.end('SIGKILL')
  await expect(banner(page)).toContainText('Steward does not answer. What you see is from')
  expect(await told(page, from)).toBeLessThan(2_000)
  await expect(key(page)).toHaveText(['web-app before'])
  await expect(page.getByRole('banner').getByRole('img')).toHaveAccessibleName('Steward: the ledger cannot be read')

  // What the agent reports now starts a service without HTTP, or waits in the spool.
  await agent.report({ actor: 'web-app', outcome: 'meanwhile' })
  await steward.serve()
  await agent.report({ actor: 'web-app', outcome: 'after' })
  await expect(banner(page)).toBeHidden()
  await expect(key(page)).toHaveText(['web-app after', 'web-app meanwhile', 'web-app before'])
  const { events } = await steward.shell('recent_events', { since_id: 0, limit: 200 })
  expect(events.map((e) => e.outcome)).toEqual(['before', 'meanwhile', 'after'])
})

test('what is asked of the person while nobody answers is said to be unknown, and can be done again', async ({ steward, agent, page }) => {
  await agent.report({ actor: 'api', type: 'failed', object_id: 'build' })
  const acknowledge = page.getByRole('button', { name: /^Acknowledge: api build/ })
  await expect(acknowledge).toBeVisible()
  await steward.end('SIGKILL')
  await acknowledge.click()
  await expect(page.getByRole('alert')).toContainText('No answer came.')
  await expect(acknowledge).toBeVisible()
  await steward.serve()
  await expect(banner(page)).toBeHidden()
  await acknowledge.click()
  await expect(acknowledge).toBeHidden()
})

test('a service that is stopped and started again is found again, whatever was on the screen', async ({ steward, agent, page }) => {
  const id = await agent.handOver({ instruction: 'Export the stems' })
  await page.keyboard.press('3')
  await row(page, 'Export the stems').getByRole('button').first().click()
  await expect(headline(page)).toHaveText('Review: Export the stems')
  await page.keyboard.press('f')
  await page.keyboard.type('half a rea')
  expect(await steward.end('SIGTERM')).toBe(0)
  await expect(banner(page)).toBeVisible()
  await steward.serve()
  await agent.call('handoff_claim', { handoff_id: id, worker_session_id: 'studio-1' })
  await expect(banner(page)).toBeHidden()
  await expect(page.getByRole('dialog').getByRole('textbox')).toHaveValue('half a rea')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('claimed now')
})

test('a page that is opened while nobody serves it data says so, and fills itself', async ({ steward, agent, person }) => {
  await agent.report({ actor: 'web-app', outcome: 'before' })
  const { origin, token, url } = steward
  const context = await person.browser({ storageState: { cookies: [], origins: [{ origin, localStorage: [{ name: 'steward.token', value: token }] }] } })
  const page = await context.newPage()
  let down = true
  await page.route('**/api/**', (r) => (down ? r.abort('connectionrefused') : r.continue()))
  await page.goto(url)
  await expect(banner(page)).toContainText('Steward does not answer. It will be tried again by itself.')
  down = false
  await expect(key(page)).toHaveText(['web-app before'])
  await expect(banner(page)).toBeHidden()
})

test('a service that stands still is said to within 30 s, and found again', async ({ steward, agent, page }) => {
  await agent.report({ actor: 'web-app', outcome: 'before' })
  await expect(key(page)).toHaveText(['web-app before'])
  await watch(page)
  const from = Date.now()
  steward.pause()
  await expect(banner(page)).toContainText('Nothing came from Steward for 30 seconds.', { timeout: 40_000 })
  expect(await told(page, from)).toBeLessThan(30_500)
  await expect(key(page)).toHaveText(['web-app before'])
  const reported = agent.report({ actor: 'web-app', outcome: 'meanwhile' })
  steward.resume()
  await reported
  await expect(banner(page)).toBeHidden()
  await expect(key(page)).toHaveText(['web-app meanwhile', 'web-app before'])
})

for (const [how, fault] of [
  ['answers 501', { status: 501, body: 'no stream here' }],
  ['answers with a page', { status: 200, contentType: 'text/html', body: '<p>' }],
  ['breaks', null],
] as const) {
  test(`where the stream ${how}, the page asks every 5 s`, async ({ steward, agent, person }) => {
    const { origin, token, url } = steward
    const context = await person.browser({ storageState: { cookies: [], origins: [{ origin, localStorage: [{ name: 'steward.token', value: token }] }] } })
    const page = await context.newPage()
    await page.route('**/api/events', (r) => (fault ? r.fulfill(fault) : r.abort('failed')))
    const asked: number[] = []
    page.on('request', (r) => {
      if (r.url().endsWith('/api/call/recent_events')) asked.push(Date.now())
    })
    await page.goto(url)
    await expect(headline(page)).toHaveText('Nothing has been reported yet.')
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    await agent.report({ actor: 'web-app', outcome: 'found by asking' })
    await expect(row(page, 'found by asking').first()).toBeVisible()
    await expect(banner(page)).toBeHidden()
    // The pause is 5 s; what is more is a machine that is busy.
    const pauses = () => asked.slice(1).map((at, i) => at - asked[i]!)
    await expect.poll(() => pauses().filter((p) => p > 4_500 && p < 9_000).length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThan(6)
  })
}
