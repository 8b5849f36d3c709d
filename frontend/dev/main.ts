// The page over invented data: ?world=afternoon|queue|hostile|crowd|empty &lang=en|zh-CN
// &theme=dark|light &shape=orb|menu|panel (as in the window) &plain (no compositor)
// &link=lost|stalled|opening &view=brief|decide|handoffs|settings &frozen &signin

import { FakeTransport, emptyWorld } from '../src/transport/fake'
import { open } from '../src/start'
import { isView } from '../src/store/app.svelte'
import { afternoon, crowd, hostile, queue } from './fixtures'
import type { LinkState, ShapeName } from '../src/transport/transport'
import { StewardError } from '../src/transport/transport'

const q = new URLSearchParams(location.search)
const lang = q.get('lang') === 'zh-CN' ? 'zh-CN' : 'en'
const frozen = q.has('frozen')
const now = frozen ? new Date('2026-12-01T14:22:10').getTime() : Date.now()
const make = { afternoon: () => afternoon(lang, now), queue: () => queue(lang, now), hostile: () => hostile(now), crowd: () => crowd(lang, now), empty: () => emptyWorld(now) }
const world = (make[q.get('world') as keyof typeof make] ?? make.afternoon)()
world.settings.language = lang
if (q.get('theme') === 'light' || q.get('theme') === 'dark') world.settings.theme = q.get('theme') as 'light' | 'dark'

localStorage.removeItem('steward.look')
const shape = (q.get('shape') as ShapeName | null) ?? undefined
const fake = new FakeTransport(world, { shape, compositor: !q.has('plain'), frozen })
if (q.has('signin')) {
  setTimeout(() => fake.link({ state: 'signed-out' }), 30)
  fake.door = {
    signInWithCode: () => Promise.reject(new StewardError('signed_out', 'used')),
    signInWithToken: () => Promise.resolve(),
    signOut: () => fake.link({ state: 'signed-out' }),
  }
}
const app = open(fake, q.get('signin') ?? '')
const view = q.get('view')
if (isView(view)) app.go(view, false)
const link = q.get('link') as LinkState | null
if (link) setTimeout(() => fake.link({ state: link, reason: 'connect ECONNREFUSED 127.0.0.1:8971' }), 50)
if (!frozen) {
  const words = lang === 'en' ? 'saved a draft' : '保存了草稿'
  const beat = () => {
    fake.report({ actor: 'web-app', type: 'progress', injectable: false, workspace: 'web-app', outcome: words })
    setTimeout(beat, 20_000)
  }
  setTimeout(beat, 20_000)
}
Object.assign(window, { steward: { app, fake } })
