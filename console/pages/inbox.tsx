import { useRef } from 'preact/hooks'
import { me, type PendingApproval } from '../api.ts'
import { isListed, waiting } from '../events.ts'
import { Batch, Card } from '../inbox/card.tsx'
import { groupWaiting, isAlike } from '../inbox/group-waiting.ts'
import { NoticeSettings } from '../inbox/notice-settings.tsx'
import { describeEnd, useDecision, type Decided, type Word } from '../inbox/use-decision.ts'
import { useKeys } from '../inbox/use-keys.ts'
import { useShown } from '../inbox/use-shown.ts'
import { WaitingList } from '../inbox/waiting-list.tsx'
import { Fault } from '../parts/fault.tsx'

/** What waits for a person, by session, the nearest deadline first. */
export function InboxPage() {
  const groups = groupWaiting(waiting.value.values())
  const list = groups.flatMap(({ approvals }) => approvals)
  const shown = useShown(list)
  const { current, selected } = shown
  const decision = useDecision()
  const reason = useRef<HTMLInputElement>(null)
  const endOf = ({ id }: PendingApproval): string | undefined => {
    if (waiting.value.has(id) || decision.isOwn(id)) return undefined
    const told = decision.endOf(id)
    return told === undefined ? 'it was answered elsewhere' : describeEnd(told)
  }
  const decide = async (word: Word): Promise<void> => {
    const isBatch = selected.length > 0
    const meant = isBatch ? selected : current === undefined ? [] : [current]
    const open = meant.filter((each) => waiting.value.has(each.id))
    if (open.length === 0 || decision.isBusy || me.value?.role === 'viewer') return
    if (isBatch && word === 'allow_for_session') return
    const after = list.slice(list.findIndex(({ id }) => id === open.at(-1)?.id) + 1)
    const next = [...after, ...list].find(({ id }) => !open.some((each) => each.id === id))
    const isTaken = await decision.decide(open, word, reason.current?.value.trim() ?? '')
    if (!isTaken && !isBatch) return
    if (reason.current !== null) reason.current.value = ''
    shown.select([])
    shown.show(next)
  }
  const alikes = current === undefined ? [] : list.filter((each) => isAlike(current, each))
  useKeys({
    j: { act: () => shown.step(1), repeats: true },
    k: { act: () => shown.step(-1), repeats: true },
    a: { act: () => void decide('allow_once') },
    s: { act: () => void decide('allow_for_session') },
    d: { act: () => reason.current?.focus() },
    x: { act: () => current !== undefined && alikes.length > 1 && shown.toggle(current) },
    b: { act: () => alikes.length > 1 && shown.select(alikes) },
    Escape: { act: () => shown.select([]) },
  })
  const answers = { decide: (word: Word) => void decide(word), reason, isBusy: decision.isBusy }
  return (
    <>
      <h1>Inbox</h1>
      <NoticeSettings />
      <p class="said" role="status">
        {decision.said}
      </p>
      <Became decided={decision.decided} />
      {current === undefined ? (
        <p class="empty">
          {isListed.value
            ? 'Nothing waits for you. What a policy asks about shows up here by itself.'
            : 'Loading…'}
        </p>
      ) : (
        <div class="split">
          <WaitingList groups={groups} shown={shown} />
          {selected.length > 0 ? (
            <Batch selected={selected} endOf={endOf} clear={() => shown.select([])} {...answers} />
          ) : (
            <Card
              approval={current}
              end={endOf(current)}
              alikes={alikes}
              select={shown.select}
              {...answers}
            />
          )}
        </div>
      )}
    </>
  )
}

/** What became of the last answer, of each call that it was for. */
function Became({ decided }: { decided: Decided | undefined }) {
  if (decided === undefined) return null
  const { outcomes, word } = decided
  const [first] = outcomes
  if (outcomes.length === 1) return <Fault text={first?.fault} />
  return (
    <ul class="became" aria-label="What became of each">
      {outcomes.map(({ approval, fault }) => (
        <li key={approval.id} class={fault === undefined ? undefined : 'fault'}>
          {approval.request.tool} {approval.request.inputSummary}:{' '}
          {fault ?? (word === 'deny' ? 'denied' : 'allowed')}
        </li>
      ))}
    </ul>
  )
}
