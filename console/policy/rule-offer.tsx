import { useEffect, useRef } from 'preact/hooks'
import type { RuleOffer } from '../api.ts'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { Suggestion } from './suggestion.tsx'
import { useAsked } from '../parts/use-asked.ts'

interface RuleOfferProps {
  readonly approval: string
  readonly isBusy: boolean
  /** Called with the digest of the policy file that the rule was made for. */
  readonly onAllow: (policy: string) => void
  readonly onLeave: () => void
}

/** The rule for a question, to be looked at before it is added. */
export function RuleOfferCard({ approval, isBusy, onAllow, onLeave }: RuleOfferProps) {
  const { answer, fault } = useAsked<RuleOffer>(`/api/approvals/${encodeURIComponent(approval)}/rule`)
  const button = useRef<HTMLButtonElement>(null)
  const from = useRef(document.activeElement)
  useEffect(() => {
    // Who went elsewhere meanwhile stays there.
    if (document.activeElement === from.current) button.current?.focus()
  }, [answer])
  if (answer === undefined) return <NotThereYet fault={fault} />
  const { suggestion, file, digest, reason } = answer
  return (
    <section class="offer" aria-label="Always, as a rule">
      <h3>Always, as a rule</h3>
      {suggestion !== undefined && <Suggestion suggestion={suggestion} isOffer />}
      {reason !== undefined && <p class="warn">No rule can be added here: {reason}</p>}
      <div class="bar">
        {digest !== undefined && (
          <button type="button" class="allow" ref={button} disabled={isBusy} onClick={() => onAllow(digest)}>
            Allow it, and add the rule
          </button>
        )}
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
        {file !== undefined && <small>to {file}</small>}
      </div>
    </section>
  )
}
