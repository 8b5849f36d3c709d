import { expect, headline, test, type Page } from './test'

// The heads-up page: a queue that a person drains, in the browser, by keyboard.

const cards = (page: Page) => page.locator('article')
const card = (page: Page, question: string) => cards(page).filter({ hasText: question })
const answered = (page: Page) => page.locator('[data-answered]')

// taken waits until Steward has taken every answer: a card leaves before.
const taken = (page: Page) => expect(page.locator('[data-answered] .sending')).toHaveCount(0)

async function decide(page: Page): Promise<void> {
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await expect(headline(page)).toHaveText(/for you\.$/)
}

test('an empty queue says what will come there', async ({ page }) => {
  await decide(page)
  await expect(page.getByRole('tabpanel')).toContainText('ask_human')
})

test('a question comes, is answered by keyboard, taken back and answered anew, and its asker learns of each', async ({ agent, page }) => {
  const id = await agent.ask({ question: 'Drop the column?', options: ['Drop it', 'Keep it'], context: 'Line one\nLine two', urgency: 'blocking', reversible: false })
  await expect(page).toHaveTitle('(1) heads-up')
  await page.getByRole('button', { name: /One decision waits for you/ }).click()
  await expect(headline(page)).toHaveText('One decision waits for you.')
  await expect(card(page, 'Drop the column?')).toContainText('! blocking')
  await expect(card(page, 'Drop the column?')).toContainText('irreversible')
  await expect(page.locator('.context')).toHaveText('Line one\nLine two', { useInnerText: true })
  await page.keyboard.press('2')
  await page.keyboard.press('2')
  await expect(page.getByRole('radio', { name: 'Keep it' })).toBeChecked()
  expect((await agent.wait(id)).status).toBe('pending')
  await page.keyboard.press('Enter')
  await expect(answered(page)).toContainText('you: Keep it')
  await expect(page).toHaveTitle('heads-up')
  await taken(page)
  expect(await agent.wait(id)).toMatchObject({ status: 'answered', answer: 'HUMAN ANSWER: Keep it', answered_by: 'human' })
  await page.keyboard.press('u')
  await expect(card(page, 'Drop the column?')).toBeFocused()
  expect((await agent.wait(id)).revoked).toBe(true)
  await page.keyboard.press('i')
  await page.keyboard.type('Keep it')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('until v4')
  await page.keyboard.press('Enter')
  await expect(answered(page)).toContainText('Keep it until v4')
  await taken(page)
  expect((await agent.wait(id)).answer).toBe('HUMAN ANSWER: Keep it\nuntil v4')
})

test('the same question of several is one card, and can be split', async ({ steward, agent, page }) => {
  const other = await steward.agent('api-server')
  const q = { question: 'May I?', options: ['Yes', 'No'] }
  const first = await agent.ask(q)
  const second = await other.ask(q)
  await decide(page)
  await expect(cards(page)).toHaveCount(1)
  await expect(cards(page)).toContainText('web-app, api-server')
  await page.getByRole('button', { name: 'Answer each alone' }).click()
  await expect(cards(page)).toHaveCount(2)
  await page.getByRole('button', { name: 'Join again' }).first().click()
  await expect(cards(page)).toHaveCount(1)
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await expect(answered(page)).toContainText('2 askers')
  await taken(page)
  for (const [who, id] of [[agent, first], [other, second]] as const) expect((await who.wait(id)).answer).toBe('HUMAN ANSWER: Yes')
})

test('of two browsers that answer at once one wins, and the other is told', async ({ steward, agent, person }) => {
  const id = await agent.ask({ question: 'Which?', options: ['A', 'B'] })
  const pages = [await person.signedIn(), await person.signedIn()] as const
  for (const [i, page] of pages.entries()) {
    await decide(page)
    await expect(cards(page)).toHaveCount(1)
    await page.keyboard.press(String(i + 1))
    await expect(page.getByRole('radio').nth(i)).toBeChecked()
  }
  // The second has not heard of the first when it answers.
  const [one, two] = pages
  let let_go = () => {}
  const held = new Promise<void>((go) => (let_go = go))
  await two.route('**/api/answer', async (route) => {
    await held
    await route.continue()
  })
  await two.keyboard.press('Enter')
  await one.keyboard.press('Enter')
  await expect(answered(one)).toContainText('you: A')
  await taken(one)
  let_go()
  await expect(two.getByRole('alert')).toContainText('was answered elsewhere')
  await expect(two.getByRole('alert')).toContainText('Your answer was not taken.')
  for (const page of pages) await expect(cards(page)).toHaveCount(0)
  expect((await agent.wait(id)).answer).toBe('HUMAN ANSWER: A')
  expect((await steward.owner('ticket_list', {})).tickets.map((t) => t.answer)).toEqual(['A'])
})

test('a card that goes while it is read takes no key that was meant for it', async ({ agent, page }) => {
  const gone = await agent.ask({ question: 'First?', options: ['A', 'B'], urgency: 'blocking' })
  const stays = await agent.ask({ question: 'Second?', options: ['A', 'B'] })
  await decide(page)
  await expect(cards(page)).toHaveCount(2)
  await page.keyboard.press('i')
  await page.keyboard.type('half an ans')
  await agent.cancel(gone)
  await expect(cards(page)).toHaveCount(1)
  await page.keyboard.type('1us2')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('What you had written was not sent: ⁨half an ans⁩')
  await expect(card(page, 'Second?').getByRole('radio', { checked: true })).toHaveCount(0)
  expect((await agent.wait(stays)).status).toBe('pending')
})

test('what expires goes at its moment, with its default or without', async ({ agent, page }) => {
  const none = await agent.ask({ question: 'Unanswered?', timeout_seconds: 4 })
  const byDefault = await agent.ask({ question: 'Defaulted?', options: ['A', 'B'], default_answer: 'B', timeout_seconds: 4 })
  await decide(page)
  await expect(card(page, 'Unanswered?')).toContainText('it expires unanswered')
  await expect(card(page, 'Defaulted?')).toContainText('→ “⁨B⁩”')
  await expect(cards(page)).toHaveCount(0)
  await expect(page).toHaveTitle('heads-up')
  expect(await agent.wait(none)).toMatchObject({ status: 'expired' })
  expect(await agent.wait(byDefault)).toMatchObject({ status: 'expired', answered_by: 'default' })
})

test('a queue is drained where there is no stream, by asking for it', async ({ agent, person }) => {
  const page = await person.signedIn()
  await page.route('**/api/events', (route) => route.fulfill({ status: 501 }))
  await page.reload()
  await decide(page)
  const asked = page.waitForRequest((r) => r.url().endsWith('/api/tickets') && r.method() === 'GET')
  const ids: string[] = []
  for (let i = 0; i < 8; i++) ids.push(await agent.ask({ question: `Question ${i}?`, options: ['Yes', 'No'] }))
  await asked
  await expect(cards(page)).toHaveCount(8)
  for (let left = 8; left > 0; left--) {
    await expect(cards(page)).toHaveCount(left)
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
  }
  await expect(cards(page)).toHaveCount(0)
  await taken(page)
  for (const id of ids) expect((await agent.wait(id)).answer).toBe('HUMAN ANSWER: Yes')
})

test('the page is drawn in a frame that is hidden and has no size', async ({ agent, person, steward }) => {
  await agent.ask({ question: 'Seen?' })
  const page = await person.signedIn()
  const host = `${steward.url}host`
  await page.route(host, (route) => route.fulfill({ contentType: 'text/html', body: `<title>Host</title><iframe src="${steward.url}" style="display:none;width:0;height:0;border:0"></iframe>` }))
  await page.goto(host)
  const frame = page.frame({ url: steward.url })!
  await expect.poll(() => frame.title()).toBe('(1) heads-up')
  expect(await frame.evaluate(() => document.querySelector('h1')?.textContent)).toContain('one decision waits')
})
