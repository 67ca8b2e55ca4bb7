import { signal, useSignal } from '@preact/signals'
import { may, type PendingApproval } from '../../api.ts'
import { onAsked, waiting } from '../../events.ts'
import { go, path } from '../../route.ts'

/** How a person wants to be told of questions that are asked. */
interface Notices {
  readonly notify: boolean
  readonly sound: boolean
}

const place = 'handrail.notices'
/** Both are off until a person turns them on in this browser. */
const wanted = signal<Notices>(read())

/** Questions that come within this time are told at once. */
const gatherMs = 250

/** Tells of each question from now on, as the person wants it, whatever page is shown. Returns what ends it. */
export function followNotices(): () => void {
  let gathered: PendingApproval[] = []
  return onAsked((approval) => {
    const { notify, sound } = wanted.value
    if (!(notify || sound) || !may('approver', approval.tenant)) return
    gathered.push(approval)
    if (gathered.length > 1) return
    setTimeout(() => {
      tell(gathered)
      gathered = []
    }, gatherMs)
  })
}

function tell(asked: readonly PendingApproval[]): void {
  const [first] = asked
  if (first === undefined) return
  if (wanted.value.sound) play()
  const isSeen = document.hasFocus() && (path.value === '/' || path.value === '/inbox')
  if (!wanted.value.notify || isSeen || !isPermitted()) return
  // It may stand on a locked screen: it says no more than who asks for what.
  const body = `${first.request.tool} for ${first.request.principal.actor}`
  const more = asked.length > 1 ? `, and ${asked.length - 1} more` : ''
  const notice = new Notification(`${waiting.value.size} waiting: Handrail`, {
    body: `${body}${more}`,
    icon: '/console/icon.svg',
    tag: first.id,
  })
  notice.addEventListener('click', () => {
    focus()
    go('/inbox')
    notice.close()
  })
}

let audio: AudioContext | undefined

/** Plays two short tones, if the page was pressed once: browsers permit none before that. */
function play(): void {
  if (!navigator.userActivation.hasBeenActive) return
  audio ??= new AudioContext()
  const volume = new GainNode(audio, { gain: 0.08 })
  volume.connect(audio.destination)
  for (const [index, frequency] of [660, 880].entries()) {
    const tone = new OscillatorNode(audio, { frequency })
    tone.connect(volume)
    tone.start(audio.currentTime + index * 0.14)
    tone.stop(audio.currentTime + index * 0.14 + 0.12)
  }
}

/** What turns notices on and off. */
export function NoticeSwitches() {
  const fault = useSignal('')
  const turn = (change: Partial<Notices>): void => {
    wanted.value = { ...wanted.value, ...change }
    fault.value = keep(wanted.value)
  }
  const turnNotify = async (): Promise<void> => {
    if (wanted.value.notify) return turn({ notify: false })
    if (typeof Notification !== 'undefined') await Notification.requestPermission()
    if (isPermitted()) turn({ notify: true })
    else fault.value = 'The browser does not let this page notify you. Permit it in the settings of the site.'
  }
  const turnSound = (): void => {
    turn({ sound: !wanted.value.sound })
    if (wanted.value.sound) play()
  }
  const { notify, sound } = wanted.value
  return (
    <div class="bar" role="group" aria-label="When something is asked">
      <button type="button" aria-pressed={notify && isPermitted()} onClick={() => void turnNotify()}>
        Notify me
      </button>
      <button type="button" aria-pressed={sound} onClick={turnSound}>
        Play a sound
      </button>
      <span role="status">{fault}</span>
    </div>
  )
}

function isPermitted(): boolean {
  return typeof Notification !== 'undefined' && Notification.permission === 'granted'
}

function read(): Notices {
  try {
    const kept: Partial<Notices> | null = JSON.parse(localStorage.getItem(place) ?? 'null')
    return { notify: kept?.notify === true, sound: kept?.sound === true }
  } catch {
    // Something else is there, or the browser keeps nothing: both are off.
    return { notify: false, sound: false }
  }
}

/** Returns what went wrong, in words. */
function keep(notices: Notices): string {
  try {
    localStorage.setItem(place, JSON.stringify(notices))
    return ''
  } catch {
    return 'The browser does not remember this: it keeps nothing for this page.'
  }
}
