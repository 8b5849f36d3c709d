import { expect, headline, row, short, tab, test, type Page } from './test'

const orb = (page: Page) => page.getByRole('banner').getByRole('img', { name: /^Steward: / })
const section = (page: Page, name: string) => page.getByRole('region', { name })

test('with nothing reported it says how to connect a workspace', async ({ agent, person }) => {
  const page = await person.signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
  await expect(page.getByRole('heading', { name: 'Connect a workspace' })).toBeVisible()
  await page.getByRole('button', { name: 'Copy the command: steward mcp' }).click()
  await expect(page.getByText('Copied.')).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('steward mcp')

  await agent.report({ actor: 'web-app', outcome: 'checkout form validated', file: 'src/checkout.tsx', metrics: { tests: 48 } })
  await expect(headline(page)).toHaveText('One moving.')
  await expect(row(page, 'checkout form validated')).toContainText('src/checkout.tsx · tests 48')
  await expect(page.getByRole('heading', { name: 'Connect a workspace' })).toBeHidden()
})

test('receipts over MCP and from the shell appear, each once and the newest first', async ({ steward, agent, page }) => {
  const dj = await steward.agent('dj')
  await agent.report({ actor: 'web-app', outcome: 'one' })
  await dj.report({ actor: 'dj', outcome: 'two' })
  await steward.shell('report_done', { actor: 'script', outcome: 'three' })
  await agent.report({ actor: 'web-app', type: 'progress', outcome: 'not a key event' })
  await expect(headline(page)).toHaveText('Three moving.')
  await expect(section(page, 'Key events').locator('li .main')).toHaveText(['script three', 'dj two', 'web-app one'])
  await expect(orb(page)).toHaveAttribute('aria-label', 'Steward: 3 working')
})

test('a failure stands until it is resolved, or acknowledged by pointer or by key', async ({ steward, agent, page }) => {
  await agent.report({ actor: 'api', type: 'failed', object_id: 'migration 0042', outcome: 'duplicate column' })
  await agent.report({ actor: 'ci', type: 'test_failed', object_id: 'login', outcome: 'time-out' })
  await agent.report({ actor: 'dj', type: 'failed', object_id: 'set', outcome: 'no tracks' })
  const unresolved = section(page, 'Unresolved')
  await expect(unresolved.locator('li')).toHaveCount(3)
  await expect(headline(page)).toHaveText('Three moving, three failures.')
  await expect(orb(page)).toHaveAttribute('aria-label', 'Steward: 3 failures')
  await expect(page.getByRole('tab', { name: 'Brief, 3 failures' })).toBeVisible()

  await agent.report({ actor: 'dj', object_id: 'set', outcome: 'found some' })
  await expect(unresolved.locator('li')).toHaveCount(2)

  await page.getByRole('button', { name: /^Acknowledge: ci login/ }).click()
  await expect(page.getByText('Noted. The failure has left the list.')).toBeVisible()
  await expect(unresolved.locator('li')).toHaveCount(1)

  // The focus went on to the failure that is left, and its key works on it.
  await expect(unresolved.locator('li').getByRole('button').first()).toBeFocused()
  await page.keyboard.press('a')
  await expect(unresolved).toBeHidden()
  await expect(headline(page)).toHaveText(/^\w+ moving\.$/)

  const { events } = await steward.shell('recent_events', { limit: 2 })
  expect(events.map((e) => [e.type, e.source, e.actor])).toEqual([
    ['failure_acknowledged', 'person', 'user'],
    ['failure_acknowledged', 'person', 'user'],
  ])
})

test('a failure that somebody else resolved meanwhile is said to be gone', async ({ agent, page }) => {
  const failed = await agent.report({ actor: 'api', type: 'failed', object_id: 'build' })
  await expect(page.getByRole('button', { name: /^Acknowledge: api build/ })).toBeVisible()
  // The page does not hear of it in time.
  await page.route('**/api/call/brief_get', (r) => r.abort())
  await agent.report({ actor: 'api', object_id: 'build' })
  await page.getByRole('button', { name: /^Acknowledge: api build/ }).click()
  await expect(page.getByRole('alert')).toContainText(/Too late|not there any more|changed meanwhile/)
  await page.unroute('**/api/call/brief_get')
  await agent.report({ actor: 'api', type: 'progress' })
  await expect(section(page, 'Unresolved')).toBeHidden()
  expect(failed).toBeGreaterThan(0)
})

test('equal failures are one line with their number', async ({ agent, page }) => {
  for (let i = 0; i < 3; i++) await agent.report({ actor: 'ci', type: 'test_failed', object_id: 'login', outcome: `time-out ${i}` })
  await agent.report({ actor: 'ci', type: 'test_failed', object_id: 'logout', outcome: 'another' })
  const key = section(page, 'Key events')
  await expect(key.locator('li')).toHaveCount(2)
  await expect(row(page, 'login').last()).toContainText('×3')
  await expect(row(page, 'login').last()).toContainText('time-out 2')
  await expect(row(page, 'logout').last()).not.toContainText('×')
})

test('those who move have a card each, with what they did', async ({ agent, page }) => {
  await agent.report({ actor: 'web-app', type: 'progress', outcome: 'first' })
  await agent.report({ actor: 'web-app', type: 'progress', outcome: 'second' })
  const card = section(page, 'Moving now').getByRole('button', { name: /^web-app/ })
  await expect(card).toContainText('2 events in 30 min')
  await expect(card).toHaveAttribute('title', /second$/)
  await expect(card.locator('path')).toHaveAttribute('d', /^M.+/)

  for (let i = 0; i < 8; i++) await agent.report({ actor: `worker-${i}`, type: 'progress' })
  const cards = section(page, 'Moving now').locator('li')
  await expect(headline(page)).toHaveText('Nine moving.')
  await expect(cards).toHaveCount(6)
  await page.getByRole('button', { name: 'and 3 more' }).click()
  await expect(cards).toHaveCount(9)

  await card.click()
  await expect(headline(page)).toHaveText('web-app second')
})

test('the focus is where the person is, and never a key event', async ({ agent, page }) => {
  await agent.report({ actor: 'web-app', outcome: 'began' })
  await agent.call('focus_change', { workspace: 'web-app', object_type: 'page', object_id: 'checkout' })
  await expect(section(page, 'Focus')).toContainText('web-app / checkout page')
  await expect(section(page, 'Key events').locator('li')).toHaveCount(1)
  await agent.call('focus_change', { workspace: 'dj' })
  await expect(section(page, 'Focus')).not.toContainText('checkout')
  await expect(section(page, 'Focus')).toContainText('dj')
})

test('an event opens in full, and Esc goes back to its line', async ({ agent, page }) => {
  const outcome = `first line ${'and more words '.repeat(30)}end`
  const id = await agent.report({ actor: 'web-app', object_id: 'form', outcome, file: 'src/checkout.tsx', metrics: { tests: 48, cov: 91.5 } })
  await row(page, 'first line').getByRole('button').first().click()
  await expect(page.getByRole('banner')).toContainText(`Event ${id}`)
  await expect(headline(page)).toBeFocused()
  for (const s of [outcome, 'src/checkout.tsx', 'tests 48 · cov 91.5', "the agent's own word", 'form']) {
    await expect(page.getByRole('tabpanel').getByText(s, { exact: false }).first()).toBeVisible()
  }
  await expect(page.getByRole('definition').filter({ hasText: /^web-app$/ }).first()).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(row(page, 'first line').getByRole('button').first()).toBeFocused()
})

test('the event of a handoff leads to the handoff', async ({ agent, page }) => {
  const id = await agent.handOver({ instruction: 'Export the stems', source_session_id: 'web-app-3f' })
  const line = row(page, `handed over ${short(id)} to`)
  await expect(line).toContainText('studio')
  await line.getByRole('button').first().click()
  await expect(page.getByRole('button', { name: 'Open the handoff' })).toBeVisible()
  await page.keyboard.press('h')
  await expect(headline(page)).toHaveText('Review: Export the stems')
  await expect(page.getByRole('tab', { name: 'Handoffs' })).toHaveAttribute('aria-selected', 'true')
})

test('an answer that fails is said where the view should be, and tried again', async ({ agent, page }) => {
  await agent.handOver({ instruction: 'Export the stems' })
  await page.route('**/api/call/handoff_list', (r) => r.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"code":"internal","message":"internal error","id":"err_7K"}}' }))
  await tab(page, 'Handoffs')
  await expect(page.getByRole('alert')).toContainText('err_7K')
  await page.unroute('**/api/call/handoff_list')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(row(page, 'Export the stems')).toBeVisible()
})
