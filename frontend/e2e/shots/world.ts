// An afternoon of real work for the pictures: agents of five workspaces report
// and hand over through their bridges.

import type { Steward } from '../steward'

export type Tongue = 'en' | 'zh-CN'

const texts = {
  en: {
    form: 'checkout form validated', set: 'set planned for Friday', dup: 'duplicate column "owner_id"', lib: 'downloads finished: 12 tracks are in the library', flaky: 'time-out after 30 s',
    deps: 'dependencies updated', stems: 'Export eight stems of “Night Drive” at 48 kHz / 24 bit.\nLeave the vocal bus dry; print the reverb separately.\nName files NN_name.wav and put them beside the session.',
    tags: 'Tag the 12 new tracks by key and tempo, and put those above 124 bpm into the Friday crate.', cover: 'Draw a cover for the EP, three variants, 3000 × 3000.', old: 'Clean the sample folder of duplicates.',
    cleaned: '214 files, 1.2 GB', broke: 'the drive went away while copying',
  },
  'zh-CN': {
    form: '结算表单校验通过', set: '周五的曲目单已排好', dup: '重复的列 "owner_id"', lib: '下载完成：12 首曲目已入库', flaky: '30 秒后超时', deps: '依赖已更新',
    stems: '以 48 kHz / 24 bit 导出《Night Drive》的八条分轨。\n人声总线保持干声，混响单独输出。\n文件名用 NN_name.wav，放在工程旁边。', tags: '给 12 首新曲目标注调性和速度，高于 124 bpm 的放进周五的曲包。',
    cover: '为 EP 画封面，三个方案，3000 × 3000。', old: '清理采样文件夹里的重复文件。', cleaned: '214 个文件，1.2 GB', broke: '复制时硬盘断开',
  },
}

/** afternoon fills a ledger, and returns the first line of the handoff that is worth a look. */
export async function afternoon(s: Steward, tongue: Tongue): Promise<string> {
  const x = texts[tongue]
  const [web, api, dj, library, ci] = await Promise.all(['web-app', 'api-server', 'dj', 'library', 'ci'].map((w) => s.agent(w)))
  if (!web || !api || !dj || !library || !ci) throw new Error('five bridges')

  const cleaned = await dj.handOver({ target: 'library', instruction: x.old, source_session_id: 'dj' })
  const { fence } = await library.call('handoff_claim', { handoff_id: cleaned, worker_session_id: 'library' })
  await library.call('handoff_finish', { handoff_id: cleaned, worker_session_id: 'library', status: 'done', outcome: x.cleaned, metrics: { files: 214 }, fence })
  const broke = await web.handOver({ target: 'dj', instruction: x.set, source_session_id: 'web-app-3f' })
  const claim = await dj.call('handoff_claim', { handoff_id: broke, worker_session_id: 'dj-2' })
  await dj.call('handoff_finish', { handoff_id: broke, worker_session_id: 'dj-2', status: 'failed', error: x.broke, fence: claim.fence })
  await web.report({ actor: 'web-app', outcome: x.deps, metrics: { tests: 47 } })
  await library.report({ actor: 'library', outcome: x.lib, metrics: { tracks: 12 } })
  for (let i = 0; i < 6; i++) await dj.report({ actor: 'dj', type: 'progress', outcome: `${i + 1} / 22` })
  await s.owner('brief_seen', { through_id: (await s.owner('brief_get', {})).last_event_id })

  for (let i = 0; i < 2; i++) await ci.report({ actor: 'ci', type: 'test_failed', object_id: 'e2e/login', outcome: x.flaky })
  await api.report({ actor: 'api-server', type: 'failed', object_id: 'migration 0042', outcome: x.dup })
  await library.handOver({ target: 'library', instruction: x.tags, source_session_id: 'dj' })
  const stems = await web.handOver({
    target: 'studio', instruction: x.stems, idempotency_key: 'stems-night-drive-v2', source_session_id: 'web-app-3f', context: { bpm: 104, key: 'F#m', deadline: '2026-12-04' },
    attachments: [{ path: '/home/ada/music/night-drive/night-drive-mix-14.wav' }, { path: '/home/ada/music/night-drive/session-notes.json' }],
  })
  const studio = await s.agent('studio')
  for (let i = 0; i < 2; i++) await studio.call('handoff_claim', { handoff_id: stems, worker_session_id: 'studio-1' })
  await web.handOver({ target: 'studio', instruction: x.cover, source_session_id: 'web-app-3f', attachments: [{ path: '/home/ada/brief.pdf' }] })
  await dj.report({ actor: 'dj', outcome: x.set, file: 'sets/friday.json', metrics: { tracks: 22 } })
  await api.report({ actor: 'api-server', type: 'progress' })
  await web.report({ actor: 'web-app', outcome: x.form, file: 'src/checkout.tsx', metrics: { tests: 48, cov: 91 } })
  await web.call('focus_change', { workspace: 'web-app', object_type: 'page', object_id: 'checkout' })
  return x.stems.split('\n')[0]!
}

const questions = {
  en: {
    drop: 'Drop the column owner_id from production?', dropIt: 'Drop it', keep: 'Keep it', why: 'Migration 0042 fails: the column is there already.\n41 203 rows hold a value; nothing reads it since May.\nDropping it cannot be undone without the backup.',
    name: 'Which name does the EP get?', names: ['Night Drive', 'Nachtfahrt', 'Late Exit'], branch: 'May I push to the release branch?', yes: 'Yes', no: 'No', dir: 'Where do the stems go?', asked: 'Retry the flaky login test?', retry: 'Retry twice',
  },
  'zh-CN': {
    drop: '要从生产库删除 owner_id 列吗？', dropIt: '删除', keep: '保留', why: '迁移 0042 失败：该列已经存在。\n41 203 行有值；五月以后没有程序读取它。\n删除后只能用备份恢复。',
    name: 'EP 用哪个名字？', names: ['Night Drive', '夜车', '末班出口'], branch: '可以推送到发布分支吗？', yes: '可以', no: '不行', dir: '分轨放在哪里？', asked: '要重试不稳定的登录测试吗？', retry: '重试两次',
  },
}

/** queue lets five agents ask; one question has two askers. It returns one to answer, and its answer. */
export async function queue(s: Steward, tongue: Tongue): Promise<{ id: string; answer: string; drop: string }> {
  const q = questions[tongue]
  const [web, api, dj, ci] = await Promise.all(['web-app', 'api-server', 'dj', 'ci'].map((w) => s.agent(w)))
  if (!web || !api || !dj || !ci) throw new Error('four bridges')
  await api.ask({ question: q.drop, options: [q.dropIt, q.keep], context: q.why, urgency: 'blocking', reversible: false, timeout_seconds: 7200 })
  await dj.ask({ question: q.name, options: q.names, default_answer: q.names[0]!, timeout_seconds: 14_400 })
  await dj.ask({ question: q.dir, urgency: 'low', timeout_seconds: 86_400 })
  for (const who of [web, ci]) await who.ask({ question: q.branch, options: [q.yes, q.no], timeout_seconds: 7200 })
  return { id: await ci.ask({ question: q.asked, options: [q.retry, q.no], timeout_seconds: 7200 }), answer: q.retry, drop: q.drop }
}
