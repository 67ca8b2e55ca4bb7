import { useSignal } from '@preact/signals'
import { mayOperate, me, type BudgetRow, type ConsentRow } from '../api.ts'
import { now } from '../parts/clock.ts'
import { Fault } from '../parts/fault.tsx'
import { Table } from '../parts/table.tsx'
import { countOf, showNumber, When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'
import { useChange } from '../parts/use-change.ts'

interface Budgets {
  readonly tenant: string
  readonly actor: string
  readonly budgets: readonly BudgetRow[]
}

/** What may still be spent, and what persons said yes to for a time. */
export function BudgetsPage() {
  const tenant = useSignal('')
  const actor = useSignal('')
  const wanted = useSignal('')
  const { answer, fault } = useAsked<Budgets>(`/api/budgets${wanted.value}`)
  const look = (event: Event): void => {
    event.preventDefault()
    const given = Object.entries({ tenant: tenant.value.trim(), actor: actor.value.trim() })
    const query = new URLSearchParams(given.filter(([, value]) => value !== ''))
    wanted.value = query.size === 0 ? '' : `?${query.toString()}`
  }
  return (
    <>
      <h1>Budgets</h1>
      <form class="bar" onSubmit={look}>
        {me.value?.tenant === undefined && (
          <label>
            Tenant{' '}
            <input
              value={tenant.value}
              placeholder={answer?.tenant ?? 'local'}
              onInput={(event) => (tenant.value = event.currentTarget.value)}
            />
          </label>
        )}
        <label>
          Actor{' '}
          <input
            value={actor.value}
            placeholder={answer?.actor ?? ''}
            onInput={(event) => (actor.value = event.currentTarget.value)}
          />
        </label>
        <button type="submit">Look</button>
      </form>
      <Fault text={fault} />
      {answer?.budgets.length === 0 && (
        <p class="empty">
          No budget of the policy counts calls of {answer.actor} of {answer.tenant}.
        </p>
      )}
      {answer !== undefined && answer.budgets.length > 0 && <BudgetTable {...answer} />}
      {(answer ?? fault) !== undefined && <Consents />}
    </>
  )
}

function BudgetTable({ actor, tenant, budgets }: Budgets) {
  return (
    <Table
      label={`Budgets of ${actor} of ${tenant}`}
      columns={[
        'Budget',
        ['Spent', 'number'],
        ['Held', 'number'],
        ['Left', 'number'],
        'Begins anew',
        'Counts',
      ]}
      rows={budgets.map(({ id, unit, limit, spent, reserved, left, endsAt, tools }) => ({
        key: `${id} ${tools[0] ?? ''}`,
        cells: [
          <>
            {id}{' '}
            <small>
              {showNumber(limit)} {unit}
            </small>
            <meter min={0} max={limit} value={spent + reserved} aria-label={`Used of ${id}`} />
          </>,
          showNumber(spent),
          showNumber(reserved),
          <span class={left === 0 ? 'danger' : undefined}>{showNumber(left)}</span>,
          endsAt === undefined ? 'never' : <When at={endsAt} />,
          <span title={tools.join(', ')}>
            {tools.length === 1 ? tools[0] : countOf(tools.length, 'tool')}
          </span>,
        ],
      }))}
    />
  )
}

function Consents() {
  const { answer, fault, isLate, again } = useAsked<{ readonly consents: readonly ConsentRow[] }>(
    '/api/consents',
  )
  const change = useChange()
  const revoke = async (id: string): Promise<void> => {
    await change.make(`/api/consents/${encodeURIComponent(id)}/revoke`, {})
    again()
  }
  return (
    <>
      <h2>Consents</h2>
      <Fault text={fault ?? change.fault} />
      {answer?.consents.length === 0 && (
        <p class="empty">
          No person said yes for a time. At a terminal:{' '}
          <code>handrail consent give code.write_file --for 1h</code>
        </p>
      )}
      <ul class="list" aria-label="Consents">
        {answer?.consents.map((consent) => (
          <li key={`${consent.tenant} ${consent.id}`} class="note">
            <div class="bar">
              <span>
                <strong>{consent.tool}</strong>
                {consent.scope !== '*' && ` (${consent.scope})`} for{' '}
                {consent.actor === '*' ? 'everybody' : consent.actor} of {consent.tenant}
              </span>
              {consent.state === 'holds' && mayOperate(consent.tenant) && (
                <button
                  type="button"
                  class="deny"
                  disabled={change.isBusy || isLate}
                  aria-label={`Revoke the consent to ${consent.tool} for ${consent.actor}`}
                  onClick={() => void revoke(consent.id)}
                >
                  Revoke
                </button>
              )}
            </div>
            <small>
              {consent.state} · by {consent.givenBy} <When at={consent.givenAt} />,{' '}
              {consent.expiresAt < now.value ? 'ended' : 'ends'} <When at={consent.expiresAt} />
              {consent.reason !== undefined && ` · ${consent.reason}`}
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}
