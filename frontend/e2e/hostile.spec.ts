import { expect, headline, overflow, row, tab, test, type Page } from './test'
import { Refused, type Agent } from './steward'

// Text of agents that wants to be more than text.
const evil = [
  '<img src=x onerror="window.__ran=1"><b id="bold">bold</b><script>window.__ran=2</script>',
  'abc\u202egnp.exe \u2066inner\u2069 \u200bhidden\u200b \u200f',
  'Zalgo ' + 'Z\u0335\u0322\u031b\u0315\u0321\u0327\u0326\u0328\u0329\u032d\u032e\u0330'.repeat(12),
  'W'.repeat(512),
  'bell\u0007 escape\u001b[31mred\u001b[0m delete\u007f csi\u009b5m',
  '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 ' + '🎉'.repeat(60),
  'مرحبا بالعالم — hello שלום',
  'javascript:window.__ran=3 https://evil.example/?x=%00 [link](javascript:1) `code` {{1+1}} ${1+1}',
]

async function fill(agent: Agent) {
  for (const [i, outcome] of evil.entries()) {
    await agent.report({
      actor: i === 3 ? 'a'.repeat(128) : i === 1 ? '\u202ereversed' : `<i>agent-${i}</i>`,
      type: i === 4 ? 'failed' : 'done', object_id: i === 4 ? 'o'.repeat(128) : undefined, outcome,
      file: i === 3 ? '/' + 'x'.repeat(4095) : `/tmp/\u202e${i}<u>.sh`, metrics: { ['<i>k</i>']: 1e300, [`m${'m'.repeat(62)}`]: -0.000001 },
    })
  }
  await agent.call('focus_change', { workspace: '\u202eworkspace', object_type: '<i>type', object_id: 'o'.repeat(128) })
  await agent.handOver({
    instruction: evil.join('\n') + '\n' + 'long '.repeat(400), idempotency_key: '<b>key</b>' + 'k'.repeat(110), source_session_id: '\u202esource' + 's'.repeat(120),
    context: { '<b>': evil, deep: { deep: { deep: { deep: {} } } }, wide: 'w'.repeat(2000) },
    attachments: [{ path: '/tmp/\u202egnp.sh', name: 'invoice\u202efdp.exe' }, { path: '/' + 'p'.repeat(4095) }],
  })
}

// nothing tells that no text became more than text, and that nothing is wider than the page.
async function nothing(page: Page, where: string) {
  expect(await overflow(page), `${where}: too wide by`).toEqual([])
  const found = await page.evaluate(() => ({
    ran: '__ran' in window,
    markup: document.querySelectorAll('#bold, main img, main script, main i, main u, main a, main iframe').length,
    title: document.title,
    controls: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u200b]/.test(document.querySelector('main')!.textContent!),
  }))
  expect(found, where).toEqual({ ran: false, markup: 0, title: 'heads-up', controls: false })
  // Every line stays inside its view, and no text runs into its neighbour.
  const out = await page.evaluate(() => {
    const wide = document.querySelector('main')!.getBoundingClientRect()
    const bad: string[] = []
    for (const e of document.querySelectorAll<HTMLElement>('main li, main .row, main .end, main .body, main .box, main dd, main dt, main section > header')) {
      const b = e.getBoundingClientRect()
      if (b.width > 0 && (b.left < wide.left - 0.5 || b.right > wide.right + 0.5)) bad.push(`${e.className || e.tagName} ${Math.round(b.left)}–${Math.round(b.right)}`)
    }
    return bad
  })
  expect(out, `${where}: outside of the view`).toEqual([])
}

for (const width of [380, 448]) {
  test(`hostile text stays text, and the layout whole, at ${width} px`, async ({ agent, person }) => {
    const page = await person.signedIn({ viewport: { width, height: 700 } })
    await fill(agent)
    await expect(headline(page)).toHaveText(/moving, one failure/)
    await expect(row(page, '<b id="bold">bold</b>').first()).toBeVisible()
    await nothing(page, 'brief')

    // What hides or turns is shown by name; joined emoji and flags stay whole.
    await expect(row(page, 'gnp.exe').first()).toContainText('abc⟨RLO⟩gnp.exe ⟨LRI⟩inner⟨PDI⟩ ⟨ZWSP⟩hidden⟨ZWSP⟩ ⟨RLM⟩')
    await expect(row(page, 'escape').first()).toContainText('bell⟨BEL⟩ escape⟨ESC⟩[31mred⟨ESC⟩[0m delete⟨DEL⟩ csi⟨9B⟩5m')
    await expect(row(page, '🎉').first()).toContainText('👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽')

    // A line that reads from right to left stays inside its own words.
    const time = await row(page, 'مرحبا').first().locator('.time').boundingBox()
    const words = await row(page, 'مرحبا').first().locator('.main').boundingBox()
    expect(time!.x + time!.width).toBeLessThanOrEqual(words!.x)

    const lines = page.getByRole('region', { name: 'Key events' }).locator('li [data-row]')
    for (let i = 0; i < (await lines.count()); i++) {
      await lines.nth(i).click()
      await expect(page.getByRole('banner')).toContainText('Event ')
      await expect(page.getByRole('definition').first()).toBeVisible()
      await nothing(page, `event ${i}`)
      await page.keyboard.press('Escape')
    }
    await tab(page, 'Handoffs')
    await nothing(page, 'handoffs')
    await row(page, 'studio').getByRole('button').first().click()
    await expect(page.getByRole('region', { name: 'Context' })).toBeVisible()
    await nothing(page, 'review')
    await page.keyboard.press('c')
    await expect(page.getByRole('list', { name: 'Steps' })).toContainText('claimed now')
    await page.keyboard.press('f')
    await expect(page.getByRole('dialog')).toBeVisible()
    await nothing(page, 'question')
  })
}

test('ten thousand characters are refused by name of their field, and what is stored is shown whole', async ({ agent, page }) => {
  const long = await agent.report({ actor: 'a', outcome: 'x'.repeat(10_000) }).catch((e: unknown) => e)
  expect((long as Refused).facts.error).toMatchObject({ code: 'invalid', field: 'outcome' })
  const big = await agent.handOver({ instruction: 'y'.repeat(10_000) }).catch((e: unknown) => e)
  expect((big as Refused).facts.error).toMatchObject({ code: 'invalid', field: 'instruction' })
  const instruction = Array.from({ length: 500 }, (_, i) => `line ${i}`).join('\n').slice(0, 4000)
  await agent.handOver({ instruction })
  await tab(page, 'Handoffs')
  await row(page, 'line 0').getByRole('button').first().click()
  await expect(page.getByRole('region', { name: 'Instruction' }).locator('.box')).toHaveText(instruction, { useInnerText: true })
  expect(await overflow(page)).toEqual([])
})

test('what a person writes is text, too', async ({ person }) => {
  const page = await person.signedIn({ viewport: { width: 380, height: 700 } })
  await tab(page, 'Handoffs')
  await page.keyboard.press('n')
  await page.getByLabel('Instruction').fill(evil.join('\n'))
  await page.keyboard.press('Control+Enter')
  await expect(headline(page)).toHaveText(/^Review: <img/)
  await nothing(page, 'review')
})
