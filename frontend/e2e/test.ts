// What every test of the page begins with: a Steward of its own, and browsers
// that are watched. Whatever the page does against its own policy, whatever it
// asks of a foreign address, and every error nobody caught, fails the test.

import { test as base, expect, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from '@playwright/test'
import { Steward, type Agent } from './steward'

export { expect, type Page }

/** A person with browsers. */
export class Person {
  readonly steward: Steward
  readonly faults: string[] = []
  #browser: Browser
  #contexts: BrowserContext[] = []

  constructor(browser: Browser, steward: Steward) {
    this.#browser = browser
    this.steward = steward
  }

  /** browser opens a profile that knows nothing, as wide as the panel. */
  async browser(o: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#browser.newContext({ viewport: { width: 448, height: 700 }, locale: 'en-US', timezoneId: 'Europe/Berlin', ...o })
    this.#contexts.push(context)
    this.#watch(context)
    return context
  }

  /** signedIn opens the page in a new profile that holds the token. */
  async signedIn(o: BrowserContextOptions = {}): Promise<Page> {
    const { origin, token, url } = this.steward
    const context = await this.browser({ storageState: { cookies: [], origins: [{ origin, localStorage: [{ name: 'steward.token', value: token }] }] }, ...o })
    const page = await context.newPage()
    await page.goto(url)
    await expect(page.getByRole('tab', { name: 'Brief' }).or(page.getByRole('tab', { name: '简报' }))).toBeVisible()
    return page
  }

  #watch(context: BrowserContext): void {
    const { faults } = this
    context.on('request', (r) => {
      if (/^https?:|^wss?:/.test(r.url()) && !r.url().startsWith(this.steward.url)) faults.push(`asked ${r.url()}`)
    })
    context.on('weberror', (e) => faults.push(`uncaught: ${e.error().message}`))
    context.on('console', (m) => {
      if (m.type() !== 'error' && m.type() !== 'warning') return
      if (m.text().startsWith('Failed to load resource')) return // a refusal or a lost connection: the page's to handle
      faults.push(`console: ${m.text()}`)
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((c) => c.close()))
  }
}

interface Fixtures {
  steward: Steward
  agent: Agent
  person: Person
  page: Page
}

/** test gives a running Steward, one agent, a person, and their signed-in page. */
export const test = base.extend<Fixtures>({
  // eslint-disable-next-line no-empty-pattern
  steward: async ({}, use) => {
    const s = new Steward()
    try {
      await s.serve()
      await use(s)
    } finally {
      await s.close()
    }
  },
  agent: async ({ steward }, use) => use(await steward.agent()),
  person: async ({ browser, steward }, use) => {
    const p = new Person(browser, steward)
    await use(p)
    await p.close()
    expect(p.faults, 'the page kept to its own address and policy, and no error went uncaught').toEqual([])
  },
  page: async ({ person }, use) => use(await person.signedIn()),
})

/** row is a line of the view by what it says. */
export const row = (page: Page, text: string | RegExp) => page.locator('main li').filter({ hasText: text })

/** short is what people see of a handoff's id. */
export const short = (id: string) => `H-${id.slice(-4)}`

/** headline is the one sentence at the top. */
export const headline = (page: Page) => page.getByRole('heading', { level: 1 })

/** tab goes to a view by pointer. */
export const tab = (page: Page, name: 'Brief' | 'Decide' | 'Handoffs' | 'Settings') => page.getByRole('tab', { name }).click()

/** overflow names what on the page is too wide for its place, by how many pixels, and what in it sticks out. */
export const overflow = (page: Page) =>
  page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, header, footer, dialog, [role="tablist"], .banner, .note')]
      .filter((e) => e.scrollWidth > e.clientWidth)
      .map((e) => {
        const edge = e.getBoundingClientRect().right + 0.5
        const out = [...e.querySelectorAll('*')].filter((x) => x.getBoundingClientRect().right > edge && x.childElementCount === 0)
        return `${e.tagName.toLowerCase()} ${e.getAttribute('role') ?? e.className}: ${e.scrollWidth - e.clientWidth}: ${out.map((x) => x.textContent?.trim().slice(0, 40)).join(' | ')}`
      }),
  )
