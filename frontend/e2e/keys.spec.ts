import { expect, headline, row, short, tab, test, type Page } from './test'
import type { Agent } from './steward'

const rows = (page: Page) => page.locator('main [data-row]')
const selected = (page: Page) => page.getByRole('tab', { selected: true })
const dialog = (page: Page) => page.getByRole('dialog')

// A little of everything: a failure, a key event, and two handoffs.
async function work(agent: Agent) {
  await agent.report({ actor: 'web-app', outcome: 'form validated' })
  await agent.report({ actor: 'api', type: 'failed', object_id: 'build' })
  const tags = await agent.handOver({ instruction: 'Tag the tracks', target: 'library' })
  const stems = await agent.handOver({ instruction: 'Export the stems' })
  return { tags, stems }
}

const ready = (page: Page) => expect(headline(page)).toHaveText(/moving, one failure/)

// asked goes to Decide, where exactly one question waits.
async function asked(page: Page, agent: Agent) {
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await expect(headline(page)).toHaveText(/for you\.$/)
  if ((await page.locator('article').count()) === 0) await agent.ask({ question: 'Which?', options: ['A', 'B', 'C', 'D', 'E'] })
  await expect(page.locator('article')).toHaveCount(1)
}

async function leave(page: Page) {
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await expect(selected(page)).toHaveAccessibleName(/^Brief/)
}

async function picks(page: Page, agent: Agent, n: number) {
  await asked(page, agent)
  await page.keyboard.press(String(n))
  await expect(page.locator('article').getByRole('radio').nth(n - 1)).toBeChecked()
  await leave(page)
}

// What every key of the help sheet does. The sheet and this list must name the same keys.
const deeds: Record<string, (page: Page, agent: Agent) => Promise<void>> = {
  'Go to Brief: 1, g b': async (page) => {
    for (const keys of [['1'], ['g', 'b']]) {
      await page.keyboard.press('4')
      await expect(selected(page)).toHaveAccessibleName('Settings')
      for (const k of keys) await page.keyboard.press(k)
      await expect(selected(page)).toHaveAccessibleName(/^Brief/)
    }
  },
  'Go to Handoffs: 3, g h': async (page) => {
    for (const keys of [['3'], ['g', 'h']]) {
      await page.keyboard.press('1')
      for (const k of keys) await page.keyboard.press(k)
      await expect(selected(page)).toHaveAccessibleName(/^Handoffs/)
    }
  },
  'Go to Settings: 4, g s': async (page) => {
    for (const keys of [['4'], ['g', 's']]) {
      await page.keyboard.press('1')
      for (const k of keys) await page.keyboard.press(k)
      await expect(selected(page)).toHaveAccessibleName('Settings')
    }
  },
  'Go to Decide: 2, g d': async (page) => {
    for (const keys of [['2'], ['g', 'd']]) {
      await page.keyboard.press('1')
      await expect(selected(page)).toHaveAccessibleName(/^Brief/)
      for (const k of keys) await page.keyboard.press(k)
      await expect(selected(page)).toHaveAccessibleName(/^Decide/)
      await page.keyboard.press('g')
      await page.keyboard.press('b')
    }
  },
  'Every key: ?': async (page) => {
    await page.keyboard.press('?')
    await expect(dialog(page)).toHaveAccessibleName('Keys')
    await page.keyboard.press('Escape')
    await expect(dialog(page)).toBeHidden()
  },
  'Move down: j, ↓': async (page) => {
    await page.keyboard.press('1')
    await page.keyboard.press('j')
    await expect(rows(page).nth(0)).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await expect(rows(page).nth(1)).toBeFocused()
  },
  'Move up: k, ↑': async (page) => {
    await page.keyboard.press('1')
    for (const k of ['j', 'j', 'j', 'k']) await page.keyboard.press(k)
    await expect(rows(page).nth(1)).toBeFocused()
    await page.keyboard.press('ArrowUp')
    await expect(rows(page).nth(0)).toBeFocused()
  },
  'Open: ⏎': async (page) => {
    await page.keyboard.press('1')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await expect(headline(page)).toContainText('build failed')
    await page.keyboard.press('Escape')
    // With no line chosen it opens the first one.
    await headline(page).focus()
    await page.keyboard.press('Enter')
    await expect(headline(page)).toContainText('build failed')
    await page.keyboard.press('Escape')
  },
  'Back: esc': async (page) => {
    await page.keyboard.press('3')
    await page.keyboard.press('Enter')
    await expect(headline(page)).toHaveText(/^Review/)
    await page.keyboard.press('Escape')
    await expect(headline(page)).toHaveText(/pending/)
  },
  'Acknowledge: a': async (page) => {
    await page.keyboard.press('1')
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await expect(page.getByRole('region', { name: 'Unresolved' })).toBeHidden()
  },
  'Open the handoff: h': async (page) => {
    await page.keyboard.press('1')
    await row(page, /handed over/).first().getByRole('button').first().focus()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('button', { name: 'Open the handoff' })).toBeVisible()
    await page.keyboard.press('h')
    await expect(headline(page)).toHaveText(/^Review/)
    await page.keyboard.press('Escape')
  },
  'New handoff: n': async (page) => {
    await page.keyboard.press('3')
    await page.keyboard.press('n')
    await expect(page.getByLabel('Target')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(headline(page)).toHaveText(/pending/)
  },
  'Hand over: ctrl ⏎': async (page) => {
    await page.keyboard.press('n')
    await page.keyboard.press('Control+Enter')
    await expect(page.getByLabel('Instruction')).toBeFocused() // it is required
    await page.keyboard.press('Escape')
    await expect(headline(page)).toHaveText(/pending/)
  },
  'Claim as me: c': async (page) => {
    await page.keyboard.press('3')
    await page.keyboard.press('j')
    await page.keyboard.press('c')
    await expect(row(page, 'Export the stems')).toContainText('claimed')
  },
  'Start: c': async (page) => {
    await page.keyboard.press('c')
    await expect(row(page, 'Export the stems')).toContainText('running')
  },
  'Release: r': async (page) => {
    await page.keyboard.press('r')
    await expect(dialog(page)).toContainText(/back from you/)
    await page.keyboard.press('Enter')
    await expect(row(page, 'Export the stems')).toContainText('pending')
  },
  'Mark done: d': async (page) => {
    await page.keyboard.press('d')
    await page.keyboard.press('Enter')
    await expect(row(page, 'Export the stems')).toContainText('done')
  },
  'Failed: f': async (page) => {
    await page.keyboard.press('j')
    await page.keyboard.press('f')
    await page.keyboard.type('no tags')
    await page.keyboard.press('Enter')
    await expect(row(page, 'Tag the tracks')).toContainText('failed')
  },
  'Cancel: x': async (page, agent) => {
    await agent.handOver({ instruction: 'Mix the set', target: 'dj' })
    await expect(row(page, 'Mix the set')).toBeVisible()
    await headline(page).focus()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('Enter')
    await expect(row(page, 'Mix the set')).toContainText('cancelled')
  },
  'Copy id: y': async (page) => {
    await page.keyboard.press('y')
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^hnd_/)
  },
  'Pick option 1: 1': (page, agent) => picks(page, agent, 1),
  'Pick option 2: 2': (page, agent) => picks(page, agent, 2),
  'Pick option 3: 3': (page, agent) => picks(page, agent, 3),
  'Pick option 4: 4': (page, agent) => picks(page, agent, 4),
  'Pick option 5: 5': (page, agent) => picks(page, agent, 5),
  'Answer: ⏎': async (page, agent) => {
    await asked(page, agent)
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await expect(page.locator('article')).toHaveCount(0)
    await leave(page)
  },
  'Undo: u': async (page) => {
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.keyboard.press('u')
    await expect(page.locator('article')).toHaveCount(1)
    await leave(page)
  },
  'Write an answer: i': async (page, agent) => {
    await asked(page, agent)
    await page.keyboard.press('i')
    await page.keyboard.type('12iu')
    await expect(page.locator('article textarea')).toHaveValue('12iu')
    await page.keyboard.press('Enter')
    await expect(page.locator('article')).toHaveCount(0)
    await leave(page)
  },
  'Skip: s': async (page, agent) => {
    await asked(page, agent)
    await page.keyboard.press('s')
    await expect(page.getByRole('region', { name: 'Skipped' })).toBeVisible()
    await leave(page)
  },
}

test('the help sheet lists every key, and every key does what it says', async ({ agent, person }) => {
  const page = await person.signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
  await work(agent)
  await ready(page)
  await page.keyboard.press('?')
  const listed = await dialog(page).locator('dl').evaluateAll((lists) =>
    lists.flatMap((dl) =>
      [...dl.querySelectorAll('dt')].map((dt) => {
        const keys = [...dt.querySelectorAll(':scope > span:not(.or)')].map((s) => [...s.querySelectorAll('kbd')].map((k) => k.textContent).join(' '))
        return `${dt.nextElementSibling?.textContent}: ${keys.join(', ')}`
      }),
    ),
  )
  expect(listed.sort()).toEqual(Object.keys(deeds).sort())
  await page.keyboard.press('Escape')
  for (const [key, deed] of Object.entries(deeds)) await test.step(key, () => deed(page, agent))
})

test('a key that the sheet does not list does nothing', async ({ agent, page }) => {
  await work(agent)
  await ready(page)
  const still = () => page.locator('.panel').ariaSnapshot()
  for (const [view, known] of [['1', 'gjk?1234'], ['3', 'gjk?1234n'], ['4', 'g?1234'], ['2', 'gjk?']] as const) {
    await page.keyboard.press(view)
    await headline(page).focus()
    const before = await still()
    for (const key of 'abcdefghijklmnopqrstuvwxyz0123456789/.-;') {
      if (!known.includes(key)) await page.keyboard.press(key)
    }
    // Times move on by themselves; nothing else may.
    const calm = (s: string) => s.replace(/\d+ (s|min)( ago)?|just now/g, 'T')
    expect(calm(await still())).toBe(calm(before))
  }
  // Nor does any with a modifier, which belongs to the browser or the system.
  for (const key of ['Control+j', 'Alt+1', 'Meta+n']) await page.keyboard.press(key)
  await expect(selected(page)).toHaveAccessibleName('Decide')
})

test('text that is typed is text', async ({ agent, page }) => {
  const { tags } = await work(agent)
  await ready(page)
  await tab(page, 'Handoffs')
  await page.keyboard.press('n')
  const all = 'gs ncdfxrajky?123 ghb /'
  await page.getByLabel('Instruction').focus()
  await page.keyboard.type(all)
  await expect(page.getByLabel('Instruction')).toHaveValue(all)
  await expect(headline(page)).toHaveText('New handoff')
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Instruction')).toHaveValue(all + '\n')
  await page.keyboard.press('Escape')
  await expect(headline(page)).toHaveText(/pending/)

  // In a list of choices a letter chooses.
  await page.getByLabel('Status').focus()
  await page.keyboard.press('c')
  await expect(page.getByLabel('Status')).toHaveValue('claimed')
  await page.getByRole('button', { name: 'Clear filters' }).click()

  // In a question.
  await row(page, 'Tag the tracks').getByRole('button').first().click()
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('pending now')
  await page.keyboard.press('f')
  await page.keyboard.type(all)
  await expect(dialog(page).getByRole('textbox')).toHaveValue(all)
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toBeHidden()
  await expect(page.getByRole('banner')).toContainText(short(tags))
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('pending now')
})

test('single-letter keys can be turned off', async ({ steward, agent, page }) => {
  await work(agent)
  await ready(page)
  await tab(page, 'Settings')
  await page.getByRole('switch', { name: 'Single-letter keys' }).press('Space')
  await expect(page.getByText('Saved.')).toBeVisible()
  expect(steward.config.single_keys).toBe(false)
  await expect(page.getByRole('contentinfo')).not.toContainText('1')

  await headline(page).focus()
  for (const key of ['1', 'g', 'b', '?', 'n']) await page.keyboard.press(key)
  await expect(selected(page)).toHaveAccessibleName('Settings')
  await expect(dialog(page)).toBeHidden()

  // Arrows, Enter and Esc still work.
  await tab(page, 'Handoffs')
  await expect(rows(page).nth(1)).toBeVisible()
  await headline(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expect(rows(page).nth(1)).toBeFocused()
  await page.keyboard.press('c')
  await page.keyboard.press('Enter')
  await expect(headline(page)).toHaveText('Review: Tag the tracks')
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('pending now')
  await expect(page.getByRole('button', { name: 'Claim as me' })).not.toHaveAttribute('aria-keyshortcuts', /./)
  await page.keyboard.press('Escape')
  await expect(rows(page).nth(1)).toBeFocused()

  await tab(page, 'Settings')
  await page.getByRole('button', { name: 'Every key' }).click()
  await expect(dialog(page)).toContainText('Single-letter keys are turned off')
})

// Where Tab goes: by name, and whether one can see that it is there.
async function stop(page: Page) {
  return page.evaluate(() => {
    const e = document.activeElement as HTMLElement
    const seen = e.matches('input[type=radio], input[type=checkbox]') ? (e.nextElementSibling as HTMLElement) : e
    const s = getComputedStyle(seen)
    const box = seen.getBoundingClientRect()
    return {
      name: e.getAttribute('aria-label') ?? e.textContent?.trim().replace(/\s+/g, ' ') ?? '',
      tag: e.tagName,
      shown: (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none',
      inside: box.top >= -1 && box.left >= -1 && box.bottom <= innerHeight + 1 && box.right <= innerWidth + 1 && box.width > 0,
    }
  })
}

test('everything can be done by keyboard alone, and the focus is always seen', async ({ steward, agent, person }) => {
  const { tags, stems } = await work(agent)
  const page = await (await person.browser({ permissions: ['clipboard-read', 'clipboard-write'] })).newPage()
  await page.goto(steward.url)
  await expect(page.getByRole('heading', { name: 'Sign in to Steward' })).toBeVisible()

  // tabTo presses Tab until the wanted element has the focus.
  const tabTo = async (name: RegExp, key = 'Tab') => {
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press(key)
      const at = await stop(page)
      if (at.tag === 'BODY' || at.tag === 'HTML') continue
      expect(at, `the focus on ${at.name}`).toMatchObject({ shown: true, inside: true })
      if (name.test(at.name)) return
    }
    throw new Error(`Tab never came to ${name}`)
  }
  await tabTo(/^$/) // the token's field has its name from its label
  await page.keyboard.type(steward.token)
  await page.keyboard.press('Enter')
  await ready(page)

  // Brief: through every stop, then the failure by key.
  await tabTo(/^Acknowledge: api build/)
  await tabTo(/handed over/)
  await tabTo(/^Acknowledge: api build/, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect(headline(page)).toHaveText(/^\w+ moving\.$/)
  await expect(headline(page)).toBeFocused() // no failure is left to go on to

  // The tabs by arrows.
  await tabTo(/^Brief/, 'Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Decide' })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Handoffs' })).toBeFocused()
  await expect(headline(page)).toHaveText('Two pending.')
  await tabTo(/^New handoff$/)
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Target')).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await expect(page.getByLabel('Instruction')).toBeFocused()
  await page.keyboard.type('Mix the set')
  await tabTo(/^Files, context and key$/)
  await page.keyboard.press('Enter')
  await tabTo(/^Hand over$/)
  await page.keyboard.press('Enter')
  await expect(headline(page)).toHaveText('Review: Mix the set')
  await tabTo(/^Claim as me$/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('claimed now')
  await headline(page).focus()
  await page.keyboard.press('x')
  await expect(dialog(page).getByRole('textbox')).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('cancelled now')
  await page.keyboard.press('Escape')
  await expect(row(page, 'Mix the set').getByRole('button').first()).toBeFocused()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('banner')).toContainText(short(stems))
  await page.keyboard.press('Escape')

  // Settings: radio buttons by arrows, the switch by Space, out by Enter.
  await page.keyboard.press('4')
  await tabTo(/^$/) // the theme's choice has its name from its label
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('radio', { name: 'Light' })).toBeChecked()
  await expect.poll(() => steward.config.theme).toBe('light')
  await tabTo(/^Sign out$/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Sign in to Steward' })).toBeVisible()
  expect((await steward.shell('handoff_get', { handoff_id: tags })).handoff.status).toBe('pending')
})
