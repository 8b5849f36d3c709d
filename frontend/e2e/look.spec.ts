import { expect, headline, overflow, row, test, type Page } from './test'
import type { Agent } from './steward'

// How the page stands in narrow windows, zoomed, and for those who set their
// system to less motion, more contrast or their own colours.

async function work(agent: Agent) {
  await agent.report({ actor: 'api-server', type: 'failed', object_id: 'migration 0042', outcome: 'duplicate column "owner_id"' })
  await agent.report({ actor: 'web-app', outcome: 'checkout form validated', file: 'src/checkout.tsx', metrics: { tests: 48, cov: 91 } })
  await agent.call('focus_change', { workspace: 'web-app', object_id: 'checkout' })
  await agent.handOver({
    instruction: 'Export eight stems of “Night Drive” at 48 kHz / 24 bit.\nLeave the vocal bus dry.', source_session_id: 'web-app-3f', context: { bpm: 104 },
    attachments: [{ path: '/home/ada/music/night-drive/night-drive-mix-14.wav' }],
  })
}

// everywhere walks through every view and looks at each.
async function everywhere(page: Page, look: (where: string) => Promise<void>) {
  await expect(headline(page)).toHaveText(/moving, one failure/)
  await look('brief')
  await page.locator('main [data-row]').first().click()
  await expect(page.getByRole('definition').first()).toBeVisible()
  await look('event')
  await page.keyboard.press('Escape')
  await page.keyboard.press('3')
  await expect(row(page, 'Export eight')).toBeVisible()
  await look('handoffs')
  await row(page, 'Export eight').getByRole('button').first().click()
  await expect(page.getByRole('region', { name: 'Instruction' })).toBeVisible()
  await look('review')
  await page.keyboard.press('f')
  await expect(page.getByRole('dialog')).toBeVisible()
  await look('question')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await page.getByText('Files, context and key').click()
  await look('new')
  await page.keyboard.press('Escape')
  await page.keyboard.press('4')
  await expect(page.getByRole('region', { name: 'About' })).toBeVisible()
  await look('settings')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toBeVisible()
  await look('keys')
  await page.keyboard.press('Escape')
}

// reachable tells which controls of the view lie where one cannot scroll to.
const unreachable = (page: Page) =>
  page.evaluate(() => {
    const bad: string[] = []
    for (const e of document.querySelectorAll<HTMLElement>('button, input, select, textarea, summary')) {
      if (!e.checkVisibility()) continue
      const open = document.querySelector('dialog')
      if (open && !open.contains(e)) continue
      e.scrollIntoView({ block: 'center' })
      const b = e.getBoundingClientRect()
      if (b.left < -0.5 || b.right > innerWidth + 0.5 || b.top < -0.5 || b.bottom > innerHeight + 0.5) bad.push(e.getAttribute('aria-label') ?? e.textContent ?? e.tagName)
    }
    return bad
  })

for (const [name, size] of [
  ['380 px wide', { width: 380, height: 480 }],
  ['zoomed to 200 %', { width: 224, height: 350 }],
  ['as wide as a screen', { width: 1600, height: 1000 }],
] as const) {
  test(`nothing is cut off ${name}`, async ({ agent, person }) => {
    const page = await person.signedIn({ viewport: size, deviceScaleFactor: name.startsWith('zoomed') ? 2 : 1 })
    await work(agent)
    await everywhere(page, async (where) => {
      expect.soft(await overflow(page), `${where}: too wide by`).toEqual([])
      expect.soft(await unreachable(page), `${where}: out of reach`).toEqual([])
    })
  })
}

test('with less motion nothing moves', async ({ agent, person }) => {
  const page = await person.signedIn({ reducedMotion: 'reduce' })
  await page.evaluate(() => {
    const w = window as unknown as { moved: string[] }
    w.moved = []
    for (const type of ['animationstart', 'transitionrun'] as const) document.addEventListener(type, (e) => w.moved.push(`${type} ${(e.target as Element).className}`), true)
  })
  await work(agent)
  await everywhere(page, async () => {
    const running = await page.evaluate(() => document.getAnimations().filter((a) => Number(a.effect?.getComputedTiming().duration ?? 0) > 1).length)
    expect(running).toBe(0)
  })
})

test('even without that wish nothing moves by itself', async ({ agent, page }) => {
  await work(agent)
  await expect(headline(page)).toHaveText(/moving, one failure/)
  expect(await page.evaluate(() => document.getAnimations().filter((a) => a.effect?.getComputedTiming().iterations === Infinity).length)).toBe(0)
})

test('more contrast drops the muted text and widens the rules', async ({ agent, person }) => {
  await work(agent)
  const look = (p: Page) =>
    p.evaluate(() => {
      const time = getComputedStyle(document.querySelector('main .time')!)
      return { muted: time.color, text: getComputedStyle(document.body).color, margin: parseFloat(time.borderRightWidth), rule: parseFloat(getComputedStyle(document.querySelector('footer')!).borderTopWidth) }
    })
  for (const colorScheme of ['dark', 'light'] as const) {
    const plain = await person.signedIn({ colorScheme })
    const strong = await person.signedIn({ colorScheme, contrast: 'more' })
    await expect(headline(plain)).toHaveText(/moving, one failure/)
    await expect(headline(strong)).toHaveText(/moving, one failure/)
    const [a, b] = [await look(plain), await look(strong)]
    expect(a.muted).not.toBe(a.text)
    expect(b.muted).toBe(b.text)
    expect(b.margin).toBeGreaterThan(a.margin)
    expect(b.rule).toBeGreaterThan(a.rule)
    await plain.context().close()
    await strong.context().close()
  }
})

test('in the system’s own colours everything is still told apart', async ({ agent, person }) => {
  const page = await person.signedIn({ forcedColors: 'active' })
  await work(agent)
  await everywhere(page, async (where) => {
    // The chosen tab, and the focus, are marked by more than a background that is gone.
    const marks = await page.evaluate(() => {
      const tab = document.querySelector('[role="tab"][aria-selected="true"]')!
      const line = getComputedStyle(tab, '::after')
      const ground = getComputedStyle(document.body).backgroundColor
      return { height: parseFloat(line.height), differs: line.backgroundColor !== ground }
    })
    expect(marks, where).toEqual({ height: 2, differs: true })
    // A sign is drawn in the reader's colour of text, not in a theme's on a ground that it was not made for.
    const signs = await page.evaluate(() => {
      const text = getComputedStyle(document.body).color
      return [...document.querySelectorAll('svg[role="img"] path')].map((p) => getComputedStyle(p).stroke).filter((c) => c !== text)
    })
    expect(signs, where).toEqual([])
  })
  await page.keyboard.press('1')
  await page.keyboard.press('j')
  const outline = await page.evaluate(() => {
    const s = getComputedStyle(document.activeElement!)
    return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2
  })
  expect(outline).toBe(true)
})

test('fingers find what they touch', async ({ agent, person }) => {
  const page = await person.signedIn({ hasTouch: true, isMobile: true, viewport: { width: 380, height: 700 } })
  await work(agent)
  await everywhere(page, async (where) => {
    const small = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, select, summary, label:has(input)')]
        .filter((e) => e.checkVisibility())
        .map((e) => ({ what: e.getAttribute('aria-label') ?? e.textContent?.trim().slice(0, 40), b: e.getBoundingClientRect() }))
        .filter(({ b }) => b.height < 24 || b.width < 24)
        .map(({ what, b }) => `${what} ${Math.round(b.width)} × ${Math.round(b.height)}`),
    )
    expect(small, `${where}: smaller than 24 px`).toEqual([])
  })
  // And by touch alone: a failure acknowledged, a handoff claimed.
  await page.getByRole('tab', { name: /^Brief/ }).tap()
  await page.getByRole('button', { name: /^Acknowledge/ }).tap()
  await expect(headline(page)).toHaveText(/^\w+ moving\.$/)
  await page.getByRole('tab', { name: 'Handoffs' }).tap()
  await row(page, 'Export eight').getByRole('button').first().tap()
  await page.getByRole('button', { name: 'Claim as me' }).tap()
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('claimed now')
})
