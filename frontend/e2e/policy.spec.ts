import { createServer } from 'node:http'
import { expect, headline, test } from './test'

test('the page may load and ask for what is its own, nothing else', async ({ steward, person, browser }) => {
  // A foreign origin of this machine, which notes who comes.
  const came: string[] = []
  const foreign = createServer((q, a) => {
    came.push(q.url ?? '')
    a.setHeader('Access-Control-Allow-Origin', '*')
    a.end('window.__ran = true')
  })
  await new Promise<void>((up) => foreign.listen(0, '127.0.0.1', up))
  const at = foreign.address()
  if (at === null || typeof at === 'string') throw new Error('no port')
  const there = `http://127.0.0.1:${at.port}/`

  const head = await fetch(steward.url)
  expect(head.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self'.*connect-src 'self'/)
  expect(head.headers.get('x-content-type-options')).toBe('nosniff')
  expect(head.headers.get('referrer-policy')).toBe('no-referrer')

  // Not the person's own browser: this one breaks the policy on purpose.
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.addInitScript(() => {
    const w = window as unknown as { broken: string[] }
    w.broken = []
    document.addEventListener('securitypolicyviolation', (e) => w.broken.push(e.effectiveDirective))
  })
  await page.goto(steward.url)
  await expect(page.getByRole('heading', { name: 'Sign in to Steward' })).toBeVisible()
  expect(await page.evaluate(() => (window as unknown as { broken: string[] }).broken)).toEqual([])

  const tries = await page.evaluate(async (there) => {
    const add = (tag: string, set: (e: never) => void) =>
      new Promise<void>((done) => {
        const e = document.createElement(tag)
        e.addEventListener('load', () => done())
        e.addEventListener('error', () => done())
        set(e as never)
        document.body.append(e)
        setTimeout(done, 500) // an inline script or style says nothing when it is refused
      })
    const asked = await fetch(there).then(() => 'answered', () => 'refused')
    const socket = await new Promise<string>((done) => {
      try {
        const s = new WebSocket(there.replace('http', 'ws'))
        s.onopen = () => done('answered')
        s.onerror = () => done('refused')
      } catch {
        done('refused')
      }
    })
    await add('img', (e: HTMLImageElement) => (e.src = there + 'img'))
    await add('script', (e: HTMLScriptElement) => (e.src = there + 'script'))
    await add('script', (e: HTMLScriptElement) => (e.textContent = 'window.__ran = true'))
    await add('style', (e: HTMLStyleElement) => (e.textContent = 'body{display:none}'))
    await add('link', (e: HTMLLinkElement) => ((e.rel = 'stylesheet'), (e.href = there + 'style')))
    await add('iframe', (e: HTMLIFrameElement) => (e.src = there + 'frame'))
    await add('form', (e: HTMLFormElement) => {
      e.action = there + 'form'
      setTimeout(() => e.submit())
    })
    const div = document.createElement('div')
    div.innerHTML = '<img src="x" onerror="window.__ran = true"><a href="javascript:window.__ran = true">x</a>'
    document.body.append(div)
    div.querySelector('a')!.click()
    await new Promise((r) => setTimeout(r, 200)) // for what would have run to run
    return { asked, socket, ran: '__ran' in window, hidden: getComputedStyle(document.body).display === 'none', broken: (window as unknown as { broken: string[] }).broken }
  }, there)
  expect(tries).toMatchObject({ asked: 'refused', socket: 'refused', ran: false, hidden: false })
  expect(new Set(tries.broken)).toEqual(new Set(['connect-src', 'img-src', 'script-src-elem', 'script-src-attr', 'style-src-elem', 'frame-src', 'form-action']))
  expect(came).toEqual([])
  expect(page.url()).toBe(steward.url)
  await context.close()
  foreign.closeAllConnections()
  foreign.close()

  // The page itself, in use, asks nobody else: the watch of every test holds it to that.
  const own = await person.signedIn()
  await expect(headline(own)).toHaveText('Nothing has been reported yet.')
})

test('a page of another origin cannot use the token of this one', async ({ steward }) => {
  const ask = (origin: string) =>
    fetch(steward.url + 'api/call/brief_get', { method: 'POST', body: '{}', headers: { Authorization: `Bearer ${steward.token}`, Origin: origin } })
  expect((await ask(steward.origin)).status).toBe(200)
  expect((await ask('http://evil.example')).status).toBe(403)
  expect((await ask('http://127.0.0.1:1')).status).toBe(403)
})

test('a file that is dropped on the page does not replace it', async ({ steward, page }) => {
  await expect(headline(page)).toBeVisible()
  const kept = await page.evaluate(() => {
    const over = new DragEvent('dragover', { cancelable: true, bubbles: true })
    const drop = new DragEvent('drop', { cancelable: true, bubbles: true })
    document.body.dispatchEvent(over)
    document.body.dispatchEvent(drop)
    return over.defaultPrevented && drop.defaultPrevented
  })
  expect(kept).toBe(true)
  expect(page.url()).toBe(steward.url)
})
