import { useChange } from '../parts/use-change.ts'
import type { Access } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { Table } from '../parts/table.tsx'
import { When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

/** Who may connect, get in and decide. */
export function AccessPage() {
  const { answer, fault, isLate, again } = useAsked<Access>('/api/access')
  if (answer === undefined) return <NotThereYet fault={fault} />
  return (
    <>
      <h1>Access</h1>
      <p>
        Tenants: <strong>{answer.tenants.join(', ')}</strong>
      </p>
      <Visits visits={answer.visits} isLate={isLate} again={again} />
      <Login login={answer.login} />
      <Callers {...answer} />
      <Deciders {...answer} />
      <Webhooks {...answer} />
    </>
  )
}

interface VisitsProps {
  readonly visits: Access['visits']
  readonly isLate: boolean
  readonly again: () => void
}

function Visits({ visits, isLate, again }: VisitsProps) {
  const change = useChange()
  const end = async (visit: string): Promise<void> => {
    await change.make(`/api/visits/${encodeURIComponent(visit)}/end`, {})
    again()
  }
  return (
    <>
      <h2>In the console now</h2>
      <Fault text={change.fault} />
      <ul class="list" aria-label="Visits">
        {visits.map(({ visit, actor, name, roles, since, until, isOwn, mayEnd }) => (
          <li key={visit} class="note">
            <div class="bar">
              <span>
                <strong>{name}</strong>
                {isOwn && ' (you)'} · {roles.map(describeRole).join(', ')}
              </span>
              {mayEnd && !isOwn && (
                <button
                  type="button"
                  class="deny"
                  disabled={change.isBusy || isLate}
                  aria-label={`End the visit of ${name}`}
                  onClick={() => void end(visit)}
                >
                  End
                </button>
              )}
            </div>
            <small>
              {name !== actor && <span class="wrap">{actor} · </span>}
              entered <When at={since} />, ends <When at={until} />
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}

function describeRole({ tenant, role }: { tenant: string; role: string }): string {
  return tenant === '*' ? `${role} of every tenant` : `${role} of ${tenant}`
}

function Login({ login }: Pick<Access, 'login'>) {
  if (login === undefined)
    return (
      <>
        <h2>Log-in</h2>
        <p class="empty">
          Persons get in by a link: <code>handrail console</code>. For a team, name an OpenID provider under
          console of gateway.json.
        </p>
      </>
    )
  return (
    <>
      <h2>Log-in at {login.issuer}</h2>
      {login.rules.length === 0 && <p class="empty">No rule is of a tenant that you see.</p>}
      {login.rules.length > 0 && (
        <Table
          label="Rules of the log-in"
          columns={['Claim', 'Value', 'Role', 'Tenants']}
          rows={login.rules.map(({ claim, value, role, tenants }) => ({
            key: JSON.stringify([claim, value, role, tenants]),
            cells: [claim, value, role, tenants.includes('*') ? 'every one' : tenants.join(', ')],
          }))}
        />
      )}
    </>
  )
}

function Callers({ callers, oauth, isOpen }: Access) {
  return (
    <>
      <h2>Callers</h2>
      {isOpen && (
        <p class="empty">
          Every program on this machine may call tools. To name them: <code>handrail token ci --write</code>
        </p>
      )}
      {oauth !== undefined && (
        <p>
          Tokens of {oauth.issuer} for {oauth.resource}, of{' '}
          {oauth.tenantClaim === undefined
            ? `the tenant ${oauth.tenant ?? 'local'}`
            : `the tenant that "${oauth.tenantClaim}" names`}
          .
        </p>
      )}
      {callers.length > 0 && (
        <Table
          label="Tokens"
          columns={['Token', 'Tenant', 'Approves', 'Expires']}
          rows={callers.map(({ id, actor, tenant, approver, expiresAt, state }) => ({
            key: id,
            cells: [
              <>
                {id}
                {actor !== id && <small> as {actor}</small>}
              </>,
              tenant,
              approver ? 'yes' : 'no',
              expiresAt === undefined ? (
                'never'
              ) : (
                <span class={state === 'expired' ? 'danger' : undefined}>
                  {state === 'expired' && 'expired '}
                  <When at={expiresAt} />
                </span>
              ),
            ],
          }))}
        />
      )}
    </>
  )
}

function Deciders({ deciders }: Pick<Access, 'deciders'>) {
  return (
    <>
      <h2>Who has to say yes</h2>
      {deciders.length === 0 && (
        <p class="empty">Any approver of the tenant: the policy names nobody under approvers.</p>
      )}
      <ul class="list" aria-label="Approvers of the policy">
        {deciders.map(({ tenants, tools, approvers, needed }) => (
          <li key={JSON.stringify([tenants, tools, approvers, needed])} class="note">
            {needed} of {approvers?.join(', ') ?? 'anybody'} for {tools?.join(', ') ?? 'every tool'}
            {tenants !== undefined && ` of ${tenants.join(', ')}`}
          </li>
        ))}
      </ul>
    </>
  )
}

function Webhooks({ webhooks }: Pick<Access, 'webhooks'>) {
  if (webhooks.length === 0) return null
  return (
    <>
      <h2>Told of approvals</h2>
      <ul class="list" aria-label="Webhooks">
        {webhooks.map(({ host, tenants, events }) => (
          <li key={JSON.stringify([host, tenants, events])} class="note">
            {host}
            {events.length > 0 && `: ${events.join(', ')}`}
            {tenants !== undefined && ` of ${tenants.join(', ')}`}
          </li>
        ))}
      </ul>
    </>
  )
}
