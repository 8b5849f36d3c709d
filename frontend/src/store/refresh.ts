/**
 * coalesce makes a function that runs job with at most one run at work and one
 * waiting, however often it is called. Its promise ends with a run that began
 * after the call, so what it brought is no older than the call.
 */
export function coalesce(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let queued: Promise<void> | null = null
  const start = (): Promise<void> => {
    const run = job().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }
  return () => {
    if (!running) return start()
    queued ??= running
      .catch(() => {})
      .then(() => {
        queued = null
        return start()
      })
    return queued
  }
}
