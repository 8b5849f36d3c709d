// Invented work for looking at the page: a normal afternoon, a hostile one and a
// crowded one, in both languages.

import { emptyWorld, invented, type World } from '../src/transport/fake'
import type { Event, Handoff, Ticket } from '../src/types'

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

const asks = {
  en: {
    drop: 'Drop the legacy owner column during migration 0042?', dropWhy: '1,204 rows still reference it. A backup was taken at 13:55.\nThe column is unused since v3.1.', dropHow: ['Drop it now', 'Keep it, add a view', 'Stop the migration'],
    pay: 'Which payment provider should the form use?', payHow: ['Stripe', 'Adyen', 'Mollie', 'PayPal', 'Bank transfer only'], lint: 'May the linter’s new rule be turned on for the whole repository?', lintHow: ['Yes', 'Only for new files', 'No'],
    name: 'What should the Friday set be called?', tone: 'Is this release note fit to publish?',
    toneWhy: 'Night Drive 1.4\n\n- eight stems at 48 kHz\n- the reverb prints separately\n- tempo map from the session\n- cover art by hand\n\nKnown: the third stem is quiet before 0:12. The mix engineer knows and wants it so. Everything else was checked twice, by ear and by meter, and the loudness lies within half a unit of the last release.',
    send: 'Send the invoice run to 312 customers now?', sent: 'Use the new icon set in the library?', fine: 'Keep it',
  },
  'zh-CN': {
    drop: '迁移 0042 时删除旧的 owner 列吗？', dropWhy: '仍有 1,204 行引用它。13:55 已做备份。\n该列自 v3.1 起未再使用。', dropHow: ['现在删除', '保留并加视图', '停止迁移'],
    pay: '表单该用哪个支付服务？', payHow: ['Stripe', 'Adyen', 'Mollie', 'PayPal', '只用银行转账'], lint: '可以在整个仓库启用 linter 的新规则吗？', lintHow: ['可以', '只对新文件', '不可以'],
    name: '周五的曲目单叫什么？', tone: '这份发布说明可以发布吗？',
    toneWhy: 'Night Drive 1.4\n\n- 八条 48 kHz 分轨\n- 混响单独输出\n- 速度表来自工程\n- 手绘封面\n\n已知：第三条分轨在 0:12 之前较轻，混音师知道并希望如此。其余都用耳朵和仪表检查过两遍，响度与上一版相差不到半个单位。',
    send: '现在给 312 位客户发送账单吗？', sent: '在曲库中使用新的图标吗？', fine: '保留',
  },
}

/** queue is the afternoon with questions: blocking, merged, with and without a default, and one just answered. */
export function queue(lang: Tongue, now: number): World {
  const w = afternoon(lang, now)
  const x = asks[lang]
  const put = (tail: string, age: number, left: number, t: Partial<Ticket> & Pick<Ticket, 'question'>) => {
    w.tickets.push(invented({ id: `tkt_01KBB4Z3V0E5XJ8QWY2M01${tail}`, created_at: new Date(now - age * minute).toISOString(), expires_at: new Date(now + left * minute).toISOString(), asked_by: t.stream ?? 'web-app', ...t }))
  }
  put('0192', 6, 24, { stream: 'api-server', urgency: 'blocking', reversible: false, question: x.drop, context: x.dropWhy, options: x.dropHow })
  put('0KD3', 5, 55, { stream: 'api-server', urgency: 'low', question: x.lint, options: x.lintHow, default_answer: x.lintHow[1] })
  put('0193', 4, 26, { stream: 'web-app', question: x.lint, options: x.lintHow, default_answer: x.lintHow[1] })
  put('0194', 2, 58, { stream: 'web-app', question: x.pay, options: x.payHow, default_answer: 'Stripe' })
  put('0N7A', 3, 118, { stream: 'dj', urgency: 'low', question: x.name })
  put('0T0E', 9, 21, { stream: 'release', question: x.tone, context: x.toneWhy, options: [x.lintHow[0] as string, x.lintHow[2] as string] })
  put('0S3D', 12, 18, { stream: 'library', question: x.sent, options: [x.fine, x.lintHow[0] as string], status: 'answered', answer: x.fine, answered_by: 'human', answered_at: new Date(now - 1.5 * minute).toISOString() })
  put('05ND', 1, 29, { stream: 'billing', reversible: false, question: x.send, options: [x.lintHow[0] as string, x.lintHow[2] as string] })
  let id = w.events.at(-1)?.id ?? 0
  const say = (e: Partial<Event> & Pick<Event, 'actor' | 'type'>) => w.events.push({ id: ++id, at: new Date(now - 0.1 * minute).toISOString(), injectable: true, source: 'claimed', object_type: 'ticket', object_id: w.tickets[0]?.id, ...e })
  say({ actor: 'library', type: 'ticket_asked', outcome: x.sent, object_id: w.tickets[6]?.id, workspace: 'library' })
  say({ actor: 'user', type: 'ticket_answered', source: 'person', outcome: x.fine, object_id: w.tickets[6]?.id, workspace: 'library' })
  say({ actor: 'api-server', type: 'ticket_asked', outcome: x.drop, workspace: 'api-server' })
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
  w.tickets = [
    invented({ id: 'tkt_01KBB4Z3V0E5XJ8QWY2M0EVIL1', created_at: new Date(now - 3 * minute).toISOString(), stream: '\u202e<i>stream</i>', asked_by: 'x', question: evil.join(' ').slice(0, 480), context: `${evil.join('\n')}\n\n${'long '.repeat(60)}`.replace('W'.repeat(10_000), 'W'.repeat(2_000)), options: [evil[0] as string, evil[1] as string, 'W'.repeat(120), evil[6] as string, 'javascript:alert(1)'], urgency: 'blocking', default_answer: 'W'.repeat(120) }),
    invented({ id: 'tkt_01KBB4Z3V0E5XJ8QWY2M0EVIL2', created_at: new Date(now - 2 * minute).toISOString(), stream: 's'.repeat(128), asked_by: 'x', question: '\u202e', status: 'answered', answer: evil.join('\n').slice(0, 1_900), answered_by: 'human', answered_at: new Date(now - minute).toISOString() }),
  ]
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
