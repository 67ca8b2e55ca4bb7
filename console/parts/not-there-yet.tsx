import { Fault } from './fault.tsx'

/** For a page whose answer is not there: why it was refused, or that it is on its way. */
export function NotThereYet({ fault }: { fault: string | undefined }) {
  return fault === undefined ? <p class="empty">Loading…</p> : <Fault text={fault} />
}
