import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, headline, tab, test, type Page } from './test'

const stored = (page: Page) => page.evaluate(() => localStorage.getItem('steward.token'))
const door = (page: Page) => page.getByRole('heading', { name: 'Sign in to Steward' })

async function paste(page: Page, token: string) {
  await page.getByLabel('Owner token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('a link from the terminal signs in once, and leaves nothing in the address', async ({ steward, person }) => {
  const link = await steward.link()
  const page = await (await person.browser()).newPage()
  await page.goto(link)
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
  expect(page.url()).toBe(steward.url)
  expect(await page.evaluate(() => history.length)).toBe(2) // about:blank and this
  expect(await stored(page)).toBe(steward.token)

  await page.reload()
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')

  const other = await (await person.browser()).newPage()
  await other.goto(link)
  await expect(other.getByRole('alert')).toContainText('used already')
  await expect(door(other)).toBeVisible()
  expect(await stored(other)).toBeNull()

  // A browser that is signed in stays so, however old the link it follows.
  await page.goto('about:blank')
  await page.goto(link)
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
})

test('the token, pasted once, signs in', async ({ steward, person }) => {
  const page = await (await person.browser()).newPage()
  await page.goto(steward.url)
  await expect(door(page)).toBeVisible()
  await paste(page, `  ${steward.token}\n`)
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
  expect(await stored(page)).toBe(steward.token)
})

test('another token does not, nor the one that agents have, nor none', async ({ steward, person }) => {
  const page = await (await person.browser()).newPage()
  await page.goto(steward.url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Required.')).toBeVisible()
  for (const wrong of ['wrong', readFileSync(join(steward.home, 'agent-token'), 'utf8').trim()]) {
    await paste(page, wrong)
    await expect(page.getByText('Steward does not know this token.')).toBeVisible()
    await expect(page.getByLabel('Owner token')).toHaveAttribute('aria-invalid', 'true')
    expect(await stored(page)).toBeNull()
  }
  // It says so for want of an answer, too, and not that the token was wrong.
  await steward.end('SIGKILL')
  await paste(page, steward.token)
  await expect(page.getByText(/No answer came/)).toBeVisible()
  await steward.serve()
  await paste(page, steward.token)
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
})

test('a token that Steward takes no more is dropped, and asked for again', async ({ steward, page }) => {
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
  expect(await steward.end('SIGTERM')).toBe(0)
  steward.setEnv({ STEWARD_TOKEN: 'another-token-of-the-owner' })
  await steward.serve()
  await expect(door(page)).toBeVisible()
  expect(await stored(page)).toBeNull()
  await paste(page, steward.token)
  await expect(headline(page)).toHaveText('Nothing has been reported yet.')
})

test('signing out in one tab signs out the other', async ({ steward, page }) => {
  const other = await page.context().newPage()
  await other.goto(steward.url)
  await expect(headline(other)).toHaveText('Nothing has been reported yet.')
  await tab(page, 'Settings')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(door(page)).toBeVisible()
  await expect(door(other)).toBeVisible()
  expect(await stored(page)).toBeNull()
  // And in again, in both.
  await paste(page, steward.token)
  await expect(page.getByRole('tab', { name: 'Brief' })).toBeVisible()
  await expect(other.getByRole('tab', { name: 'Brief' })).toBeVisible()
})
