// Invented work for looking at the page: a normal afternoon, a hostile one and a
// crowded one, in both languages.

import { emptyWorld, type World } from '../src/transport/fake'
import type { Event, Handoff } from '../src/types'

type Tongue = 'en' | 'zh-CN'

const minute = 60_000

function handoff(now: number, tail: string, o: Partial<Handoff> & { age: number; instruction: string }): Handoff {
  const { age, ...rest } = o
  return {
    id: `hnd_01KBB4Z3V0E5XJ8QWY2MTN${tail}`, target: 'studio', status: 'pending', attachments: [], context: null, idempotency_key: `key-${tail.toLowerCase()}`, source_session_id: 'web-app-3f',
    worker_session_id: null, fence: 0, outcome: null, metrics: null, error: null, claimed_at: null, running_at: null, finished_at: null, ...rest, created_at: new Date(now - age * minute).toISOString(),
  }
}

const texts = {
  en: {
    form: 'checkout form validated', set: 'set planned for Friday', dup: 'duplicate column "owner_id"', lib: 'downloads finished: 12 tracks are in the library', flaky: 'time-out after 30 s',
    stems: 'Export eight stems of “Night Drive” at 48 kHz / 24 bit.\nLeave the vocal bus dry; print the reverb separately.\nName files NN_name.wav and put them beside the session.',
    tags: 'Tag the 12 new tracks by key and tempo, and put those above 124 bpm into the Friday crate.', cover: 'Draw a cover for the EP, three variants, 3000 × 3000.', old: 'Clean the sample folder of duplicates.',
  },
  'zh-CN': {
    form: '结算表单校验通过', set: '周五的曲目单已排好', dup: '重复的列 "owner_id"', lib: '下载完成：12 首曲目已入库', flaky: '30 秒后超时',
    stems: '以 48 kHz / 24 bit 导出《Night Drive》的八条分轨。\n人声总线保持干声，混响单独输出。\n文件名用 NN_name.wav，放在工程旁边。',
    tags: '给 12 首新曲目标注调性和速度，高于 124 bpm 的放进周五的曲包。', cover: '为 EP 画封面，三个方案，3000 × 3000。', old: '清理采样文件夹里的重复文件。',
  },
}

/** afternoon is what panels.png shows, and a little more. */
export function afternoon(lang: Tongue, now: number): World {
  const w = emptyWorld(now)
  const x = texts[lang]
  let id = 4100
  const put = (age: number, e: Partial<Event> & Pick<Event, 'actor' | 'type'>) => {
    w.events.push({ id: ++id, at: new Date(now - age * minute).toISOString(), injectable: e.type !== 'progress', source: 'claimed', ...e })
  }
  const h1 = handoff(now, '8A7Q2M', {
    age: 14, instruction: x.stems, status: 'running', worker_session_id: 'studio-1', fence: 1, idempotency_key: 'stems-night-drive-v2', source_session_id: 'web-app-3f',
    claimed_at: new Date(now - 11 * minute).toISOString(), running_at: new Date(now - 9 * minute).toISOString(),
    attachments: [{ path: '/home/ada/music/night-drive/night-drive-mix-14.wav' }, { path: '/home/ada/music/night-drive/session-notes.json' }],
    context: { bpm: 104, key: 'F#m', deadline: '2026-12-04' },
  })
  const h2 = handoff(now, '8B3KX9', { age: 23, instruction: x.tags, target: 'library', source_session_id: 'dj' })
  const h3 = handoff(now, '8C0FD4', { age: 4, instruction: x.cover, target: 'studio', source_session_id: 'web-app-3f', attachments: [{ path: '/home/ada/brief.pdf' }] })
  const h4 = handoff(now, '7ZZT1C', { age: 26 * 60, instruction: x.old, target: 'library', status: 'done', worker_session_id: 'library', claimed_at: new Date(now - 25.9 * 60 * minute).toISOString(), running_at: new Date(now - 25.8 * 60 * minute).toISOString(), finished_at: new Date(now - 25.2 * 60 * minute).toISOString(), outcome: '214 files, 1.2 GB' })
  const h5 = handoff(now, '7ZR5HE', { age: 49 * 60, instruction: x.set, target: 'dj', status: 'failed', worker_session_id: 'dj', claimed_at: new Date(now - 48.9 * 60 * minute).toISOString(), finished_at: new Date(now - 48.5 * 60 * minute).toISOString(), error: x.flaky })
  const h6 = handoff(now, '7ZP8WB', { age: 6 * 24 * 60, instruction: x.cover, target: 'studio', status: 'cancelled', finished_at: new Date(now - 6 * 23 * 60 * minute).toISOString() })
  w.handoffs = [h3, h1, h2, h4, h5, h6]
  put(26 * 60, { actor: 'library', type: 'handoff_finished', object_id: h4.id, object_type: 'handoff', outcome: 'done' })
  put(95, { actor: 'web-app', type: 'done', outcome: lang === 'en' ? 'dependencies updated' : '依赖已更新', metrics: { tests: 47 }, workspace: 'web-app' })
  put(70, { actor: 'library', type: 'done', outcome: x.lib, workspace: 'library' })
  put(52, { actor: 'user', type: 'handoff_settled', object_id: h6.id, outcome: 'cancelled', source: 'person' })
  for (let i = 0; i < 14; i++) put(44 - i, { actor: 'dj', type: 'progress', outcome: `${i + 1} / 22`, workspace: 'dj' })
  put(29, { actor: 'api-server', type: 'failed', object_id: 'migration 0042', outcome: x.dup, workspace: 'api-server' })
  put(27, { actor: 'ci', type: 'test_failed', object_id: 'e2e/login', outcome: x.flaky, workspace: 'web-app' })
  put(25, { actor: 'ci', type: 'test_failed', object_id: 'e2e/login', outcome: x.flaky, workspace: 'web-app' })
  for (let i = 0; i < 9; i++) put(24 - i * 2.3, { actor: 'web-app', type: 'progress', workspace: 'web-app' })
  put(20, { actor: 'api-server', type: 'failed', object_id: 'migration 0042', outcome: x.dup, workspace: 'api-server' })
  put(14, { actor: 'web-app-3f', type: 'handoff_created', object_id: h1.id, object_type: 'handoff', outcome: 'pending', workspace: 'web-app' })
  put(11, { actor: 'studio-1', type: 'handoff_claimed', object_id: h1.id, object_type: 'handoff', outcome: 'claimed', injectable: false })
  for (let i = 0; i < 4; i++) put(10 - i * 2, { actor: 'api-server', type: 'progress', workspace: 'api-server' })
  put(5, { actor: 'dj', type: 'done', outcome: x.set, file: 'sets/friday.json', metrics: { tracks: 22 }, workspace: 'dj' })
  put(3, { actor: 'api-server', type: 'progress', workspace: 'api-server' })
  put(1, { actor: 'web-app', type: 'done', outcome: x.form, file: 'src/checkout.tsx', metrics: { tests: 48, cov: 91 }, workspace: 'web-app' })
  put(0.2, { actor: 'web-app', type: 'progress', workspace: 'web-app' })
  w.events.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  w.events.forEach((e, i) => (e.id = 4101 + i))
  w.lookedAt = now - 42 * minute
  w.lookedThrough = w.events.filter((e) => Date.parse(e.at) <= (w.lookedAt as number)).at(-1)?.id ?? 0
  w.focus = { workspace: 'web-app', object_type: 'page', object_id: 'checkout', at: new Date(now - 13 * minute).toISOString() }
  w.settings.language = lang
  return w
}

/** hostile is text that wants to be more than text. */
export function hostile(now: number): World {
  const w = emptyWorld(now)
  const evil = [
    '<img src=x onerror="document.title=1"><b>bold</b> <script>alert(1)</script>',
    'abc\u202egnp.exe \u2066inner\u2069 \u200bhidden\u200b',
    'Zalgo ' + 'Z\u0335\u0322\u031b\u0315\u0321\u0327\u0326\u0328\u0329\u032d\u032e\u0330\u0331\u0332\u0333'.repeat(4),
    'W'.repeat(10_000),
    'line\u0007bell\u001b[31mred\u001b[0m and \u0000nul \u009b5m',
    '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 family ' + '🎉'.repeat(40),
    'مرحبا بالعالم — hello',
    'javascript:alert(1) https://evil.example/?x=%00',
  ]
  evil.forEach((outcome, i) => {
    w.events.push({ id: i + 1, at: new Date(now - (20 - i) * minute).toISOString(), actor: i === 3 ? 'a'.repeat(128) : i === 1 ? '\u202ereversed\u202c' : `agent-${i}`, type: i === 4 ? 'failed' : 'done', outcome, file: i === 3 ? '/'.padEnd(4000, 'x') : undefined, metrics: { ['<i>k</i>']: i }, injectable: true, source: 'claimed', workspace: '<u>ws</u>' })
  })
  w.handoffs = [handoff(now, '0EVIL1', { age: 30, instruction: evil.join('\n') + '\n' + 'long '.repeat(400), target: 'studio', source_session_id: '\u202esource', idempotency_key: '<b>key</b>', context: { '<b>': evil, deep: { deep: { deep: {} } } }, attachments: [{ path: '/tmp/\u202egnp.sh', name: 'invoice\u202efdp.exe' }, { path: '/'.padEnd(4000, 'p') }] })]
  w.focus = { workspace: '\u202eworkspace', object_type: '<i>', object_id: 'o'.repeat(128), at: new Date(now).toISOString() }
  return w
}

/** crowd is more of everything than fits. */
export function crowd(lang: Tongue, now: number): World {
  const w = afternoon(lang, now)
  let id = w.events.at(-1)?.id ?? 0
  for (let i = 0; i < 130; i++) {
    w.events.push({ id: ++id, at: new Date(now - (130 - i) * 2000).toISOString(), actor: `worker-${i % 14}`, type: i % 9 === 0 ? 'build_failed' : 'done', object_id: `job-${i}`, outcome: i % 9 === 0 ? 'exit 1' : 'built', injectable: true, source: 'claimed', workspace: `repo-${i % 5}` })
  }
  for (let i = 0; i < 120; i++) w.handoffs.push(handoff(now, `9${String(i).padStart(5, '0')}`, { age: 20 + i * 30, instruction: `${texts[lang].cover} (${i})`, target: ['studio', 'dj', 'library'][i % 3] as string }))
  return w
}
