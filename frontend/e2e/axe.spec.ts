import AxeBuilder from '@axe-core/playwright'
import { expect, test, type Page } from './test'
import type { Agent } from './steward'

// axe-core over every view, in both themes and both languages. Views are reached
// by keys, which are the same in every language.

async function sound(page: Page, where: string) {
  // Legacy mode looks at one frame, which is all there is, and opens no further page for it.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] }).analyze()
  const bad = violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.target.join(' ')} (${n.failureSummary?.split('\n').slice(1).join('; ').trim()})`).join(', ')}`)
  expect.soft(bad, where).toEqual([]) // every view is looked at, whatever the ones before held
}

async function work(agent: Agent) {
  await agent.report({ actor: 'web-app', outcome: 'form validated', file: 'src/form.ts', metrics: { tests: 48 } })
  await agent.report({ actor: 'api', type: 'failed', object_id: 'build', outcome: 'exit 1' })
  await agent.report({ actor: 'api', type: 'failed', object_id: 'build', outcome: 'exit 1' })
  await agent.call('focus_change', { workspace: 'web-app', object_id: 'checkout' })
  const claimed = await agent.handOver({ instruction: 'Tag the tracks', target: 'library' })
  await agent.call('handoff_claim', { handoff_id: claimed, worker_session_id: 'library-1' })
  await agent.handOver({ instruction: 'Export\nthe stems', context: { bpm: 104 }, attachments: [{ path: '/home/ada/mix.wav' }] })
}

for (const locale of ['en-US', 'zh-CN']) {
  for (const colorScheme of ['dark', 'light'] as const) {
    test(`axe finds nothing serious: ${locale}, ${colorScheme}`, async ({ steward, agent, person }) => {
      test.setTimeout(240_000)
      const door = await (await person.browser({ locale, colorScheme })).newPage()
      await door.goto(steward.url)
      await expect(door.getByRole('heading', { level: 1 })).toBeVisible()
      await door.getByRole('button').last().click()
      await expect(door.locator('[aria-invalid="true"]')).toBeVisible()
      await sound(door, 'signing in')

      const page = await person.signedIn({ locale, colorScheme })
      const { keyboard } = page
      const view = page.getByRole('tabpanel')
      await expect(view.getByRole('heading')).toBeVisible()
      await sound(page, 'nothing reported yet')
      await work(agent)
      await expect(view.locator('[data-action="failure.acknowledge"]')).toBeVisible()
      await expect(page.locator('[data-row^="event-"]')).not.toHaveCount(0)
      await keyboard.press('j')
      await sound(page, 'brief')
      await keyboard.press('Enter')
      await expect(view.locator('dl')).toBeVisible()
      await sound(page, 'event')
      await keyboard.press('3')
      await expect(page.locator('[data-row^="handoff-"]')).toHaveCount(2)
      await sound(page, 'handoffs')
      await keyboard.press('Enter')
      await expect(view.locator('[data-action="handoff.claim"]')).toBeVisible()
      await sound(page, 'review')
      await keyboard.press('f')
      await keyboard.press('Enter')
      await expect(page.locator('dialog [aria-invalid="true"]')).toBeVisible()
      await sound(page, 'question')
      await keyboard.press('Escape')
      await keyboard.press('Escape')
      await keyboard.press('n')
      await view.locator('summary').click()
      await view.locator('[type="submit"]').click()
      await expect(view.locator('[aria-invalid="true"]')).toBeVisible()
      await sound(page, 'new handoff')
      await keyboard.press('Escape')
      await keyboard.press('4')
      await expect(view.locator('dl')).toBeVisible()
      await sound(page, 'settings')
      await keyboard.press('?')
      await expect(page.getByRole('dialog')).toBeVisible()
      await sound(page, 'keys')
      await keyboard.press('Escape')
      await keyboard.press('1')
      await steward.end('SIGKILL')
      await expect(page.locator('.banner')).toBeVisible()
      await sound(page, 'without a connection')
      await steward.serve()
    })
  }
}
