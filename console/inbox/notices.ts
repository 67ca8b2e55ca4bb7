import { effect, signal } from '@preact/signals'
import type { PendingApproval } from '../api.ts'
import { isListed, waiting } from '../events.ts'
import { go } from '../route.ts'

/** How a person is told that something waits while they look elsewhere. */
export type Notice = 'browser' | 'sound'

const names = { browser: 'handrail.notice.browser', sound: 'handrail.notice.sound' } as const

/** What is turned on; nothing is until the person does. */
export const notices = {
  browser: signal(isRemembered('browser') && permission() === 'granted'),
  sound: signal(isRemembered('sound')),
}

/** Turns it on or off, and remembers that in this browser. Resolves with why it cannot be turned on. */
export async function turn(notice: Notice, on: boolean): Promise<string | undefined> {
  if (on && notice === 'browser') {
    if (permission() === undefined) return 'This browser shows no notifications.'
    if ((await Notification.requestPermission()) !== 'granted')
      return 'This browser does not let the page show notifications. Allow them for this site.'
  }
  notices[notice].value = on
  remember(notice, on)
  if (on && notice === 'sound') beep()
  return undefined
}

function permission(): NotificationPermission | undefined {
  return 'Notification' in globalThis ? Notification.permission : undefined
}

/** A browser may keep nothing; then a choice holds as long as the page. */
function isRemembered(notice: Notice): boolean {
  try {
    return localStorage.getItem(names[notice]) === 'on'
  } catch {
    return false
  }
}

function remember(notice: Notice, on: boolean): void {
  try {
    localStorage.setItem(names[notice], on ? 'on' : 'off')
  } catch {
    // As above.
  }
}

/** Tells of what comes from now on, on every page; what waits already when the page is opened is seen there. */
export function startNotices(): void {
  let known: ReadonlySet<string> | undefined
  effect(() => {
    if (!isListed.value) return
    const all = [...waiting.value.values()]
    const before = known
    known = new Set([...(before ?? []), ...all.map(({ id }) => id)])
    if (before === undefined) return
    const fresh = all.filter(({ id }) => !before.has(id))
    if (fresh.length > 0) tell(fresh)
  })
}

function tell(fresh: readonly PendingApproval[]): void {
  if (notices.sound.peek()) beep()
  const [first] = fresh
  if (!notices.browser.peek() || first === undefined) return
  const { tool, principal, title } = first.request
  const notification = new Notification(fresh.length === 1 ? `${tool} waits` : `${fresh.length} calls wait`, {
    body: `${principal.actor}: ${title}`,
    // One that is there is replaced, so that a burst leaves one.
    tag: 'handrail',
  })
  notification.addEventListener('click', () => {
    focus()
    go('/inbox')
    notification.close()
  })
}

let audio: AudioContext | undefined

/** Two short tones. Made here, so that nothing is loaded. */
function beep(): void {
  audio ??= new AudioContext()
  const { currentTime: start, destination } = audio
  const volume = audio.createGain()
  volume.gain.setValueAtTime(0.08, start)
  volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.35)
  volume.connect(destination)
  for (const [at, pitch] of [
    [0, 660],
    [0.14, 880],
  ] as const) {
    const tone = audio.createOscillator()
    tone.frequency.value = pitch
    tone.connect(volume)
    tone.start(start + at)
    tone.stop(start + at + 0.12)
  }
}
