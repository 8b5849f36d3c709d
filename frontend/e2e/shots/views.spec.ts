import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, row, test, type Page } from '../test'
import { afternoon, queue, type Tongue } from './world'

// Every view, as the real service fills it, in both languages, both themes and
// at two widths.

const out = fileURLToPath(new URL('../../../build/bin/screenshots/', import.meta.url))
mkdirSync(out, { recursive: true })

for (const tongue of ['en', 'zh-CN'] as const satisfies readonly Tongue[]) {
  test(`views in ${tongue}`, async ({ steward, person }) => {
    const options = { locale: tongue, deviceScaleFactor: 2 }
    const looks = (['dark', 'light'] as const).flatMap((colorScheme) => [448, 380].map((width) => ({ colorScheme, width })))

    const shoot = async (page: Page, name: string, { colorScheme, width }: (typeof looks)[number]) => {
      // The focus that keys have left on a line is not what is looked at here.
      await page.evaluate(() => document.querySelector<HTMLElement>('h1')?.focus())
      await page.screenshot({ path: `${out}${name}-${tongue}-${colorScheme}-${width}.png`, animations: 'disabled' })
    }

    for (const look of looks) {
      const page = await person.signedIn({ ...options, colorScheme: look.colorScheme, viewport: { width: look.width, height: 700 } })
      await expect(page.getByRole('tabpanel').getByRole('heading')).toBeVisible()
      await shoot(page, 'empty', look)
      for (const [key, name] of [['d', 'empty-decide'], ['h', 'empty-handoffs']] as const) {
        await page.keyboard.press('g')
        await page.keyboard.press(key)
        await expect(page.locator('.empty')).toBeVisible()
        await shoot(page, name, look)
      }
      await page.context().close()
    }

    const asked = await afternoon(steward, tongue)
    const { id, answer, drop } = await queue(steward, tongue)
    await steward.owner('ticket_answer', { id, answer })
    for (const look of looks) {
      const viewport = { width: look.width, height: 700 }
      const door = await (await person.browser({ ...options, colorScheme: look.colorScheme, viewport })).newPage()
      await door.goto(steward.url)
      await expect(door.getByRole('heading', { level: 1 })).toBeVisible()
      await shoot(door, 'signin', look)
      await door.context().close()

      const page = await person.signedIn({ ...options, colorScheme: look.colorScheme, viewport })
      const { keyboard } = page
      await expect(page.locator('[data-action="failure.acknowledge"]')).toHaveCount(3)
      await shoot(page, 'brief', look)
      await page.locator('main').evaluate((m) => m.scrollTo(0, m.scrollHeight))
      await shoot(page, 'brief-end', look)
      await page.locator('[data-row^="event-"]').last().focus()
      await page.screenshot({ path: `${out}brief-focus-${tongue}-${look.colorScheme}-${look.width}.png` })
      await row(page, 'src/checkout.tsx').locator('[data-row]').click()
      await expect(page.getByRole('definition').first()).toBeVisible()
      await shoot(page, 'event', look)
      await keyboard.press('Escape')
      await keyboard.press('?')
      await expect(page.getByRole('dialog')).toBeVisible()
      await page.screenshot({ path: `${out}keys-${tongue}-${look.colorScheme}-${look.width}.png` })
      await keyboard.press('Escape')

      // An answer stays for five minutes, which pictures may take: it is given anew.
      await steward.owner('ticket_undo', { id })
      await steward.owner('ticket_answer', { id, answer })
      await keyboard.press('2')
      await expect(page.locator('article')).toHaveCount(4)
      await expect(page.locator('[data-answered]')).toBeVisible()
      await shoot(page, 'decide', look)
      await page.locator('main').evaluate((m) => m.scrollTo(0, m.scrollHeight))
      await shoot(page, 'decide-end', look)
      await page.getByText(drop).click()
      await keyboard.press('i')
      await page.screenshot({ path: `${out}decide-write-${tongue}-${look.colorScheme}-${look.width}.png` })
      await keyboard.press('Escape')

      for (const key of ['g', 'h']) await keyboard.press(key) // digits pick options there
      await expect(page.locator('[data-row^="handoff-"]')).toHaveCount(5)
      await shoot(page, 'handoffs', look)
      await row(page, asked.slice(0, 12)).locator('[data-row]').click()
      await expect(page.locator('[data-action="handoff.done"]')).toBeVisible()
      await shoot(page, 'review', look)
      await page.locator('main').evaluate((m) => m.scrollTo(0, m.scrollHeight))
      await shoot(page, 'review-end', look)
      await keyboard.press('f')
      await keyboard.press('Enter')
      await expect(page.locator('dialog [aria-invalid="true"]')).toBeVisible()
      await page.screenshot({ path: `${out}question-${tongue}-${look.colorScheme}-${look.width}.png` })
      await keyboard.press('Escape')
      await keyboard.press('Escape')
      await keyboard.press('n')
      await page.locator('summary').click()
      await page.locator('textarea').first().fill(asked)
      await shoot(page, 'new', look)
      await page.locator('textarea').first().fill('')
      await page.locator('[type="submit"]').click()
      await expect(page.locator('[aria-invalid="true"]')).toBeVisible()
      await shoot(page, 'new-fault', look)
      await keyboard.press('Escape')
      await keyboard.press('4')
      await expect(page.getByRole('tabpanel').locator('dl')).toBeVisible()
      await shoot(page, 'settings', look)
      await page.locator('main').evaluate((m) => m.scrollTo(0, m.scrollHeight))
      await shoot(page, 'settings-end', look)
      await keyboard.press('1')
      await page.locator('[data-row^="event-"]').first().focus()

      await steward.end('SIGKILL')
      await expect(page.locator('.banner')).toBeVisible()
      await keyboard.press('a')
      await expect(page.getByRole('alert')).toBeVisible()
      await shoot(page, 'lost', look)
      await page.context().close()
      await steward.serve()
    }

    const wide = await person.signedIn({ ...options, deviceScaleFactor: 1, viewport: { width: 1280, height: 860 }, colorScheme: 'light' })
    await expect(wide.locator('[data-action="failure.acknowledge"]')).toHaveCount(3)
    await wide.screenshot({ path: `${out}wide-${tongue}.png` })
    const zoomed = await person.signedIn({ ...options, colorScheme: 'dark', viewport: { width: 224, height: 350 }, deviceScaleFactor: 4 })
    for (const [key, name] of [['b', 'brief'], ['d', 'decide'], ['h', 'handoffs'], ['s', 'settings']] as const) {
      await zoomed.keyboard.press('g')
      await zoomed.keyboard.press(key)
      await expect(zoomed.getByRole('tabpanel').locator('h2, h3, li, dt').first()).toBeVisible()
      await zoomed.screenshot({ path: `${out}zoomed-${name}-${tongue}.png` })
    }
    for (const [name, more] of [
      ['contrast', { contrast: 'more' }],
      ['forced', { forcedColors: 'active' }],
    ] as const) {
      const page = await person.signedIn({ ...options, colorScheme: 'dark', ...more })
      await expect(page.locator('[data-action="failure.acknowledge"]')).toHaveCount(3)
      await page.screenshot({ path: `${out}${name}-${tongue}.png` })
    }
  })
}
