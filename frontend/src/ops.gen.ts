// Shapes of what Steward can be asked by the window and the page: arguments and
// results, by operation.

export interface Event {
  id: number
  at: string
  said_at?: string
  actor: string
  type: string
  object_id?: string
  object_type?: string
  workspace?: string
  outcome?: string
  file?: string
  metrics?: Record<string, number> | null
  injectable: boolean
  source: 'claimed' | 'observed' | 'system' | 'person' | 'import'
  session_id?: string
  caller?: string
  data?: unknown
}

export interface KeyEvent extends Event {
  count: number
  first_id: number
  first_at: string
}

export interface Count {
  pending: number
  claimed: number
  running: number
  done: number
  failed: number
  cancelled: number
}

export interface Summary {
  id: string
  target: string
  status: 'pending' | 'claimed' | 'running' | 'done' | 'failed' | 'cancelled'
  preview: string
  attachment_count: number
  source_session_id?: string
  worker_session_id?: string
  fence: number
  outcome?: string
  created_at: string
  claimed_at?: string
  running_at?: string
  finished_at?: string
}

export interface Handoff {
  id: string
  target: string
  status: 'pending' | 'claimed' | 'running' | 'done' | 'failed' | 'cancelled'
  instruction: string
  attachments: { path: string; name?: string }[]
  context: unknown
  idempotency_key: string
  source_session_id: string | null
  worker_session_id: string | null
  fence: number
  outcome: string | null
  metrics: Record<string, number> | null
  error: string | null
  created_at: string
  claimed_at: string | null
  running_at: string | null
  finished_at: string | null
}

export interface Transition {
  event_id: number
  at: string
  type: string
  actor: string
  source: 'claimed' | 'observed' | 'system' | 'person' | 'import'
  from?: string
  to: string
  target: string
  worker?: string
  fence: number
  previous_owner?: string
  reason?: string
  decided_by?: string
}

export interface BriefGetArgs {}

export interface BriefGetResult {
  now: string
  last_event_id: number
  looked: { through_id: number; at: string | null }
  fresh: { total: number; key: number; key_more: boolean }
  key_events: KeyEvent[]
  key_events_more: boolean
  failures: { total: number; items: KeyEvent[] }
  movers: {
    total: number
    more?: boolean
    items: {
      actor: string
      workspace?: string
      last_at: string
      last: { id: number; type: string; object_id?: string; outcome?: string }
      count: number
      buckets: number[]
    }[]
  }
  working: { total: number; more?: boolean }
  focus: { workspace: string | null; object_type: string | null; object_id: string | null; at: string } | null
  handoffs: { counts: Count; waiting: number; open: Summary[] }
  orb: { face: 'idle' | 'working' | 'needs' | 'failure' | 'both'; needs: number; failures: number; working: number }
  changes_at: string | null
}

export interface BriefSeenArgs {
  through_id: number
}

export interface BriefSeenResult {
  through_id: number
  at: string
}

export interface EventGetArgs {
  event_id: number
}

export interface EventGetResult {
  event: Event
  handoff?: string
}

export interface FailureAcknowledgeArgs {
  event_id: number
  reason?: string
}

export interface FailureAcknowledgeResult {
  event_id: number
  recorded_at: string
}

export interface HandoffListArgs {
  status?: string
  target?: string
  limit?: number
}

export interface HandoffListResult {
  handoffs: Summary[]
  has_more: boolean
}

export interface HandoffGetArgs {
  handoff_id: string
}

export interface HandoffGetResult {
  handoff: Handoff
  short_id: string
  transitions: Transition[]
  transitions_more?: boolean
}

export interface HandoffCreateArgs {
  target: string
  instruction: string
  idempotency_key: string
  attachments?: { path: string; name?: string }[]
  source_session_id?: string
  context?: Record<string, unknown>
}

export interface HandoffCreateResult {
  handoff: Handoff
  created: boolean
  duplicate: boolean
  conflict: boolean
}

export interface HandoffClaimArgs {
  handoff_id: string
  worker_session_id: string
}

export interface HandoffClaimResult {
  claimed: boolean
  changed: boolean
  status: string
  owner?: string
  fence: number
  handoff: Handoff
}

export interface HandoffSettleArgs {
  handoff_id: string
  status: string
  outcome?: string
  reason?: string
  fence?: number
}

export interface HandoffSettleResult {
  handoff: Handoff
}

export interface HandoffReleaseArgs {
  handoff_id: string
  reason?: string
  fence?: number
}

export interface HandoffReleaseResult {
  handoff: Handoff
}

export interface AttachmentOpenArgs {
  handoff_id: string
  index: number
}

export interface AttachmentOpenResult {
  opened: 'file' | 'folder'
  path: string
}

export interface RecentEventsArgs {
  since_id?: number
  limit?: number
}

export interface RecentEventsResult {
  events: Event[]
  last_id: number
  has_more: boolean
}

export interface SettingsGetArgs {}

export interface SettingsGetResult {
  theme: 'system' | 'light' | 'dark'
  language: 'system' | 'en' | 'zh-CN'
  single_keys: boolean
  about: {
    version: string
    ledger: string
    state_folder: string
    config: string
    log: string
    role: string
    http: string | null
    license: string
    targets: string[]
  }
}

export interface SettingsSetArgs {
  theme?: 'system' | 'light' | 'dark'
  language?: 'system' | 'en' | 'zh-CN'
  single_keys?: boolean
}

export type SettingsSetResult = SettingsGetResult

export interface Ops {
  attachment_open: { args: AttachmentOpenArgs; result: AttachmentOpenResult }
  brief_get: { args: BriefGetArgs; result: BriefGetResult }
  brief_seen: { args: BriefSeenArgs; result: BriefSeenResult }
  event_get: { args: EventGetArgs; result: EventGetResult }
  failure_acknowledge: { args: FailureAcknowledgeArgs; result: FailureAcknowledgeResult }
  handoff_claim: { args: HandoffClaimArgs; result: HandoffClaimResult }
  handoff_create: { args: HandoffCreateArgs; result: HandoffCreateResult }
  handoff_get: { args: HandoffGetArgs; result: HandoffGetResult }
  handoff_list: { args: HandoffListArgs; result: HandoffListResult }
  handoff_release: { args: HandoffReleaseArgs; result: HandoffReleaseResult }
  handoff_settle: { args: HandoffSettleArgs; result: HandoffSettleResult }
  recent_events: { args: RecentEventsArgs; result: RecentEventsResult }
  settings_get: { args: SettingsGetArgs; result: SettingsGetResult }
  settings_set: { args: SettingsSetArgs; result: SettingsSetResult }
}
