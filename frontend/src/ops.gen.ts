// Generated from the operations in mcp/ops by `go run ./mcp/ops/gen`. Do not edit.

/** Check a command before you hand it to an app: navigate needs a view, dispatch a target. Answers valid with the command, or the errors with the allowed values. It writes and moves nothing: to hand work over use handoff_create. */
export interface AppCommandArgs {
  op: string;
  /** Needed by navigate */
  view?: string;
  /** Place inside the view */
  route?: string;
  /** Why, in one line */
  reason?: string;
  /** Needed by dispatch */
  target?: string;
  /** What to do there */
  instruction?: string;
}

export interface AppCommandResult {
  valid: boolean;
  command?: AppCommand;
  errors?: AppFault[];
}

/** Open an attachment of a handoff on this machine. What the system might run is shown in its folder instead. In the window only. */
export interface AttachmentOpenArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
  /** Of the attachment, from 0 */
  index: number;
}

export interface AttachmentOpenResult {
  /** folder when the system might have run the file instead of showing it */
  opened: "file" | "folder";
  /** of the file or folder, links resolved */
  path: string;
}

/** Write a whole copy of the ledger to a new file while it is in use. steward restore puts it back. */
export interface BackupNowArgs {
  /** Absolute path of a file that does not exist yet; default: a dated one in the backups folder */
  file?: string;
}

export interface BackupNowResult {
  file: string;
  bytes: number;
}

/** Everything the orb and the Brief view show: what is new since the person last looked, failures, who is moving, focus, handoffs, and when time alone next changes it. */
export type BriefGetArgs = Record<string, never>;

export interface BriefGetResult {
  /** when the ledger was looked at */
  now: string;
  /** to be passed to brief_seen once all of this has been looked at */
  last_event_id: number;
  looked: BriefLooked;
  fresh: BriefFresh;
  /** newest first, at most 40, made from the newest 400 key events */
  key_events: KeyEvent[];
  /** there are older ones */
  key_events_more: boolean;
  failures: BriefFailures;
  movers: BriefMovers;
  working: BriefWorking;
  focus: Focus | null;
  /** questions that wait for the person; several agents' same question is one */
  decisions: Count;
  handoffs: BriefHandoffs;
  orb: Orb;
  /** when time alone next changes any of this; null when it does not */
  changes_at: string | null;
}

/** Note that the person has looked at everything up to an event, so that the next brief shows as new only what came after it. One mark for all windows and pages; no event tells of it. */
export interface BriefSeenArgs {
  /** last_event_id of the brief that was on the screen */
  through_id: number;
}

export interface BriefSeenResult {
  /** never less than before, never above the last event */
  through_id: number;
  at: string;
}

/** Read one event in full, and which handoff it is about. */
export interface EventGetArgs {
  event_id: number;
}

export interface EventGetResult {
  event: Event;
  /** the id of the handoff it is about */
  handoff?: string;
}

/** Find events by words of their outcome, file, actor, type and object, newest first. */
export interface EventSearchArgs {
  /** Every word must be there; a beginning is enough. Two Chinese characters match wherever they stand together */
  query: string;
  /** Events before this id only: pass the last one's id for the next page */
  before_id?: number;
  limit?: number;
}

export interface EventSearchResult {
  /** newest first */
  events: Event[];
  has_more: boolean;
}

/** Take note of an unresolved failure as the person: it leaves the report, and an event says so. Refused with the current failure when a newer one of the same actor and object has come. */
export interface FailureAcknowledgeArgs {
  /** Id of the failure as the report shows it */
  event_id: number;
  /** Why it needs no more care */
  reason?: string;
}

export interface FailureAcknowledgeResult {
  event_id: number;
  recorded_at: string;
  /** names of the metrics beyond the first three */
  metrics_dropped?: string[];
}

/** Say that the user, or the actor you name, turned to another workspace or object: situation_report shows it as focus. Wants at least one of workspace, object_id, object_type. It never counts as activity. */
export interface FocusChangeArgs {
  /** Where attention went; default is this connection's */
  workspace?: string;
  /** What is looked at now */
  object_id?: string;
  /** What kind of thing it is: file, task, page */
  object_type?: string;
  /** Whose attention */
  actor?: string;
}

export interface FocusChangeResult {
  event_id: number;
  recorded_at: string;
  /** names of the metrics beyond the first three */
  metrics_dropped?: string[];
}

/** Take a pending handoff before you work on it; claim again when you start, and it is running. claimed:false means it is not yours: status and owner say why, so leave it. Keep the fence for handoff_finish. A claim never times out. */
export interface HandoffClaimArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
  /** Your session id; the same in claim and finish */
  worker_session_id: string;
}

export interface HandoffClaimResult {
  claimed: boolean;
  changed: boolean;
  status: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  owner?: string;
  fence: number;
  handoff: Handoff;
}

/** Hand work to another target so that exactly one worker takes it. Safe to retry: the same idempotency_key and payload return the stored handoff (duplicate:true); another payload changes nothing (conflict:true): take a new key for new work. */
export interface HandoffCreateArgs {
  /** Who it is for: studio, dj or library unless configured otherwise */
  target: string;
  /** What to do, complete in itself; at most 4000 characters */
  instruction: string;
  /** One key per piece of work; repeat it when you retry */
  idempotency_key: string;
  /** At most 20 files by path; Steward never reads them */
  attachments?: {
    path: string;
    /** What people see */
    name?: string;
  }[];
  /** Your session id */
  source_session_id?: string;
  /** What the worker needs to know; at most 8192 bytes, 16 levels */
  context?: Record<string, unknown>;
}

export interface HandoffCreateResult {
  handoff: Handoff;
  created: boolean;
  duplicate: boolean;
  conflict: boolean;
}

/** End the handoff you claimed: done, failed or cancelled, with an outcome. Only its owner can; repeating the same status changes nothing (changed:false). A refusal carries the current state: when it is closed, stop working on it. */
export interface HandoffFinishArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
  /** The session id you claimed with */
  worker_session_id: string;
  status: "done" | "failed" | "cancelled";
  /** One line: what came of it */
  outcome?: string;
  metrics?: Record<string, number>;
  /** What went wrong */
  error?: string;
  /** From handoff_claim; refuses a claim that is no longer yours */
  fence?: number;
}

export interface HandoffFinishResult {
  handoff: Handoff;
  changed: boolean;
}

/** Read one handoff in full: instruction, attachments, context, owner, outcome, times and every transition. Do this after you claimed it and before you start. */
export interface HandoffGetArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
}

export interface HandoffGetResult {
  handoff: Handoff;
  short_id: string;
  /** in their order, the newest 100 */
  transitions: HandoffTransition[];
  /** earlier ones were left out */
  transitions_more?: boolean;
}

/** List handoffs, newest first, by status or target: a one-line preview, owner and times each. Look for pending ones of your target when you are free for work; handoff_get has the contents. */
export interface HandoffListArgs {
  status?: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  target?: string;
  /** 1 to 50; default 10 */
  limit?: number;
}

export interface HandoffListResult {
  /** newest first */
  handoffs: HandoffSummary[];
  has_more: boolean;
}

/** Take a claimed or running handoff back from its worker as the person: it is pending again, and the old owner's late finish is refused. */
export interface HandoffReleaseArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
  /** Why it is taken back */
  reason?: string;
  /** Of the handoff as it was seen; refuses one that changed since */
  fence?: number;
}

export interface HandoffReleaseResult {
  handoff: Handoff;
}

/** End a pending, claimed or running handoff as the person: done, failed or cancelled. A worker that holds it loses its claim, and its late finish is refused with this decision. */
export interface HandoffSettleArgs {
  /** hnd_… or the short H-… */
  handoff_id: string;
  status: "done" | "failed" | "cancelled";
  /** One line: what came of it */
  outcome?: string;
  /** Why the person ends it */
  reason?: string;
  /** Of the handoff as it was seen; refuses one that changed since */
  fence?: number;
}

export interface HandoffSettleResult {
  handoff: Handoff;
}

/** Take over the events and handoffs of an older ledger, each once however often it runs. Imported events are never key events, failures or activity. */
export interface LedgerImportArgs {
  /** Absolute path of the older ledger; it is not changed */
  file: string;
}

export interface LedgerImportResult {
  source: string;
  events: number;
  others: number;
  already: number;
  skipped?: number;
  clipped?: number;
  last_event_id: number;
  unmapped?: string;
}

/** Read events in full, in the order they happened. With since_id you get the oldest after it: pass last_id back while has_more is true and you miss nothing. Without it you get the newest. For an overview ask situation_report first. */
export interface RecentEventsArgs {
  /** Events after this id, oldest first; 0 is from the beginning. Absent: the newest */
  since_id?: number;
  /** 1 to 200; default 20 */
  limit?: number;
}

export interface RecentEventsResult {
  /** ascending by id */
  events: Event[];
  /** to be passed as the next since_id */
  last_id: number;
  /** with since_id: more follow; without: older ones were left out */
  has_more: boolean;
}

/** Leave a receipt when you finish something, when it failed, or at a point others should know: who, what, outcome, file, up to three numbers. A failure stays open until a done or resolved for the same actor and object_id. Pointers only: no transcripts, no code. */
export interface ReportDoneArgs {
  /** Who did it; use the same name every time */
  actor: string;
  /** done, failed, resolved, progress, note, or a word of your own */
  type?: string;
  /** What it is about: a ticket, branch or task */
  object_id?: string;
  /** One line of at most 512 characters: what came of it */
  outcome?: string;
  /** Path of the file that matters most */
  file?: string;
  /** Numbers; the first three keys are kept */
  metrics?: Record<string, number>;
  /** Whether others' reports show it; default false for progress, heartbeat, note, else true */
  injectable?: boolean;
}

export interface ReportDoneResult {
  event_id: number;
  recorded_at: string;
  /** names of the metrics beyond the first three */
  metrics_dropped?: string[];
}

/** Read the person's settings of window and page, and where this service keeps its files. */
export type SettingsGetArgs = Record<string, never>;

export interface SettingsGetResult {
  theme: "system" | "light" | "dark";
  language: "system" | "en" | "zh-CN";
  /** whether single letters are shortcuts */
  single_keys: boolean;
  /** whether the service asks once a day if there is a newer version */
  update_check: boolean;
  about: About;
}

/** Change the person's settings of window and page. They are kept in config.json, of which everything else stays as it is. */
export interface SettingsSetArgs {
  theme?: "system" | "light" | "dark";
  language?: "system" | "en" | "zh-CN";
  /** Whether single letters are shortcuts */
  single_keys?: boolean;
  /** Whether the service asks once a day if there is a newer version */
  update_check?: boolean;
}

export interface SettingsSetResult {
  theme: "system" | "light" | "dark";
  language: "system" | "en" | "zh-CN";
  /** whether single letters are shortcuts */
  single_keys: boolean;
  /** whether the service asks once a day if there is a newer version */
  update_check: boolean;
  about: About;
}

/** Ask what is going on before you start or resume work: key events, unresolved failures, who is moving, what the user looks at, open handoffs, in one short answer. Pass last_injected_event_id back as since_id to see only what is new. */
export interface SituationReportArgs {
  /** Only this workspace's events, failures, actors and focus; handoffs are always all */
  workspace_id?: string;
  /** Key events after this id only */
  since_id?: number;
}

export interface SituationReportResult {
  /** one sentence */
  headline: string;
  /** newest first, at most 20 */
  key_events: Event[];
  key_events_more: boolean;
  unresolved_failures: FailureList;
  moving_actors: MoverList;
  focus: Focus | null;
  /** questions that wait for the person */
  decisions: Count;
  handoffs: OpenHandoffs;
  /** to be passed as the next since_id */
  last_injected_event_id: number;
  last_event_id: number;
  /** items were left out to fit the size */
  cut?: boolean;
}

/** Answer an agent's question as the person. With ids it reaches the tickets of one card that are pending; with id alone that one. Refused when none is. */
export interface TicketAnswerArgs {
  /** tkt_… or the short T-… */
  id: string;
  answer: string;
  /** The others of the card that was shown: the same question, asked again */
  ids?: string[];
  /** Ignored: an answer here is the person's */
  answered_by?: string;
}

export interface TicketAnswerResult {
  ticket: Ticket;
  answered: Ticket[];
  /** no longer pending when the answer came */
  missed?: Ticket[];
}

/** Everything that waits for the person, and what they answered in the last five minutes and can still take back. */
export type TicketListArgs = Record<string, never>;

export interface TicketListResult {
  now: string;
  /** pending ones oldest first, then those answered in the last five minutes */
  tickets: Ticket[];
}

/** Take back an answer within five minutes, as the person: the question is pending again, and an agent that has read the answer is told once that it no longer counts. */
export interface TicketUndoArgs {
  /** tkt_… or the short T-… */
  id: string;
  /** The others that the answer reached */
  ids?: string[];
}

export interface TicketUndoResult {
  tickets: Ticket[];
}

export interface About {
  version: string;
  /** path of the ledger file */
  ledger: string;
  state_folder: string;
  /** path of config.json, which need not exist */
  config: string;
  /** path of the log */
  log: string;
  role: "auto" | "serve" | "window";
  /** address of the page; null when HTTP is off */
  http: string | null;
  license: string;
  /** to whom work may be handed */
  targets: string[];
  update: Update;
}

export interface AppCommand {
  op: string;
  view?: string;
  route?: string;
  reason?: string;
  target?: string;
  instruction?: string;
}

export interface AppFault {
  field: string;
  message: string;
  allowed: string[];
}

export interface BriefFailures {
  total: number;
  /** newest first, at most 50 */
  items: FailureItem[];
}

export interface BriefFresh {
  /** events */
  total: number;
  /** key events, counted up to 200 */
  key: number;
  /** counting stopped at key */
  key_more: boolean;
}

export interface BriefHandoffs {
  counts: HandoffCount;
  /** pending for 10 minutes or longer */
  waiting: number;
  /** newest first, at most 10 */
  open: HandoffSummary[];
}

export interface BriefLooked {
  /** 0: never */
  through_id: number;
  at: string | null;
}

export interface BriefMovers {
  total: number;
  /** counting stopped at total */
  more: boolean;
  /** newest first, at most 12 */
  items: BriefMover[];
}

export interface BriefMover {
  actor: string;
  workspace?: string;
  last_at: string;
  last: LastWord;
  /** events in the last 30 minutes */
  count: number;
  /** events in each of 15 stretches of 2 minutes, oldest first; the last one holds now */
  buckets: number[];
}

export interface BriefWorking {
  total: number;
  /** counting stopped at total */
  more: boolean;
}

export interface Count {
  pending: number;
  blocking: number;
}

export interface Event {
  id: number;
  at: string;
  said_at?: string;
  actor: string;
  type: string;
  object_id?: string;
  object_type?: string;
  workspace?: string;
  outcome?: string;
  file?: string;
  metrics?: Record<string, number>;
  injectable: boolean;
  source: "claimed" | "observed" | "system" | "person" | "import";
  session_id?: string;
  caller?: string;
  data?: Record<string, unknown>;
}

export interface FailureItem {
  id: number;
  at: string;
  said_at?: string;
  actor: string;
  type: string;
  object_id?: string;
  object_type?: string;
  workspace?: string;
  outcome?: string;
  file?: string;
  metrics?: Record<string, number>;
  injectable: boolean;
  source: "claimed" | "observed" | "system" | "person" | "import";
  session_id?: string;
  caller?: string;
  data?: Record<string, unknown>;
  first_id: number;
  first_at: string;
  count: number;
}

export interface FailureList {
  total: number;
  /** newest first, at most 10 */
  items: FailureItem[];
}

export interface Focus {
  workspace: string | null;
  object_type: string | null;
  object_id: string | null;
  at: string;
}

export interface Handoff {
  id: string;
  target: string;
  status: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  instruction: string;
  attachments: HandoffAttachment[];
  context: Record<string, unknown> | null;
  idempotency_key: string;
  source_session_id: string | null;
  worker_session_id: string | null;
  fence: number;
  outcome: string | null;
  metrics: Record<string, number> | null;
  error: string | null;
  created_at: string;
  claimed_at: string | null;
  running_at: string | null;
  finished_at: string | null;
}

export interface HandoffAttachment {
  path: string;
  name?: string;
}

export interface HandoffCount {
  pending: number;
  claimed: number;
  running: number;
  done: number;
  failed: number;
  cancelled: number;
}

export interface HandoffSummary {
  id: string;
  target: string;
  status: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  preview: string;
  attachment_count: number;
  source_session_id?: string;
  worker_session_id?: string;
  fence: number;
  outcome?: string;
  created_at: string;
  claimed_at?: string;
  running_at?: string;
  finished_at?: string;
}

export interface HandoffTransition {
  event_id: number;
  at: string;
  type: string;
  actor: string;
  source: "claimed" | "observed" | "system" | "person" | "import";
  from?: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  to: "pending" | "claimed" | "running" | "done" | "failed" | "cancelled";
  target: string;
  worker?: string;
  fence: number;
  previous_owner?: string;
  reason?: string;
  decided_by?: string;
}

export interface KeyEvent {
  id: number;
  at: string;
  said_at?: string;
  actor: string;
  type: string;
  object_id?: string;
  object_type?: string;
  workspace?: string;
  outcome?: string;
  file?: string;
  metrics?: Record<string, number>;
  injectable: boolean;
  source: "claimed" | "observed" | "system" | "person" | "import";
  session_id?: string;
  caller?: string;
  data?: Record<string, unknown>;
  /** failures equal in actor, workspace, object_id and type, this one included */
  count: number;
  /** the oldest of them */
  first_id: number;
  first_at: string;
}

export interface LastWord {
  id: number;
  type: string;
  object_id?: string;
  outcome?: string;
}

export interface MoverList {
  total: number;
  /** counting stopped at total */
  more?: boolean;
  /** newest first, at most 10 */
  items: MoverItem[];
}

export interface MoverItem {
  actor: string;
  workspace?: string;
  last_at: string;
  last: LastWord;
  /** events in the last 30 minutes */
  count: number;
}

export interface OpenHandoffs {
  counts: HandoffCount;
  /** newest first, at most 10 */
  open: HandoffSummary[];
}

export interface Orb {
  face: "idle" | "working" | "needs" | "failure" | "both";
  /** what waits for the person */
  needs: number;
  failures: number;
  working: number;
}

export interface Ticket {
  id: string;
  stream: string;
  asked_by: string;
  question: string;
  options: string[];
  context?: string;
  urgency: "low" | "normal" | "blocking";
  default_answer?: string;
  reversible: boolean;
  status: "pending" | "answered" | "expired" | "cancelled";
  created_at: string;
  expires_at: string;
  answer?: string;
  answered_by?: "human" | "default";
  answered_at?: string;
  card: string;
}

export interface Update {
  /** unset: this build knows no address to ask; off: the person has not turned it on; unknown: it has not been asked yet */
  state: "unset" | "off" | "unknown" | "current" | "newer" | "failed";
  /** the newer one */
  version?: string;
  /** address of the page that says what is new in it */
  notes?: string;
  /** why the last look failed */
  problem?: string;
  /** when it was asked last */
  checked_at?: string;
}

/** Every operation by its name. */
export interface Ops {
  app_command: { args: AppCommandArgs; result: AppCommandResult };
  attachment_open: { args: AttachmentOpenArgs; result: AttachmentOpenResult };
  backup_now: { args: BackupNowArgs; result: BackupNowResult };
  brief_get: { args: BriefGetArgs; result: BriefGetResult };
  brief_seen: { args: BriefSeenArgs; result: BriefSeenResult };
  event_get: { args: EventGetArgs; result: EventGetResult };
  event_search: { args: EventSearchArgs; result: EventSearchResult };
  failure_acknowledge: { args: FailureAcknowledgeArgs; result: FailureAcknowledgeResult };
  focus_change: { args: FocusChangeArgs; result: FocusChangeResult };
  handoff_claim: { args: HandoffClaimArgs; result: HandoffClaimResult };
  handoff_create: { args: HandoffCreateArgs; result: HandoffCreateResult };
  handoff_finish: { args: HandoffFinishArgs; result: HandoffFinishResult };
  handoff_get: { args: HandoffGetArgs; result: HandoffGetResult };
  handoff_list: { args: HandoffListArgs; result: HandoffListResult };
  handoff_release: { args: HandoffReleaseArgs; result: HandoffReleaseResult };
  handoff_settle: { args: HandoffSettleArgs; result: HandoffSettleResult };
  ledger_import: { args: LedgerImportArgs; result: LedgerImportResult };
  recent_events: { args: RecentEventsArgs; result: RecentEventsResult };
  report_done: { args: ReportDoneArgs; result: ReportDoneResult };
  settings_get: { args: SettingsGetArgs; result: SettingsGetResult };
  settings_set: { args: SettingsSetArgs; result: SettingsSetResult };
  situation_report: { args: SituationReportArgs; result: SituationReportResult };
  ticket_answer: { args: TicketAnswerArgs; result: TicketAnswerResult };
  ticket_list: { args: TicketListArgs; result: TicketListResult };
  ticket_undo: { args: TicketUndoArgs; result: TicketUndoResult };
}
