import type { ApprovalDetail, Json, PendingApproval } from '../api.ts'
import { CallTable } from '../parts/call-table.tsx'
import { Countdown } from '../parts/countdown.tsx'
import { Fault } from '../parts/fault.tsx'
import { Fields } from '../parts/fields.tsx'
import { Preview } from '../parts/preview.tsx'
import { useAsked } from '../parts/use-asked.ts'

/** All that a person needs to decide about one call. */
export function Question({ approval }: { approval: PendingApproval }) {
  const { request } = approval
  const { answer, fault } = useAsked<ApprovalDetail>(`/api/approvals/${encodeURIComponent(approval.id)}`)
  return (
    <>
      <h2>
        {request.title}
        {request.dangerous && <span class="tag danger">dangerous</span>}
        {request.ran && <span class="tag">ran already; nothing landed yet</span>}
      </h2>
      <p>
        <code>{request.tool}</code> · time left <Countdown until={approval.expiresAt} />
      </p>
      <WouldDo approval={approval} />
      <dl>
        {describe(approval).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Fault text={fault} />
      {answer !== undefined && (
        <>
          <p>{describeEarlier(answer.earlier)}</p>
          <details>
            <summary>Just before in this session</summary>
            <CallTable calls={answer.before} label="Just before in this session" />
          </details>
        </>
      )}
    </>
  )
}

/** What the call would do: what its tool shows of it, or its input field by field. */
export function WouldDo({ approval }: { approval: PendingApproval }) {
  const { title, body, kind, asOfNow } = approval.request.preview
  const input = kind === 'text' ? readObject(body) : undefined
  return (
    <>
      {input === undefined ? (
        <Preview title={title} body={body} />
      ) : (
        <div>
          <div class="preview-title">{title}</div>
          <Fields value={input} />
        </div>
      )}
      {asOfNow !== undefined && <p>{asOfNow}</p>}
    </>
  )
}

function readObject(text: string): { readonly [name: string]: Json } | undefined {
  try {
    const read: Json = JSON.parse(text)
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : undefined
  } catch {
    return undefined
  }
}

type Row = readonly [name: string, value: string]

function describe({ tenant, needed, answers, request }: PendingApproval): readonly Row[] {
  const { principal, parents, because, cwd, hosts, env, hookNotes } = request
  const some = (name: string, values: readonly string[]): readonly Row[] =>
    values.length === 0 ? [] : [[name, values.join(', ')]]
  return [
    ['Who', `${principal.actor} of ${tenant}`],
    ['Role', principal.role],
    ...some('Agent', describeAgent(principal.agent)),
    ...some(
      'Started by',
      parents.map((parent) => describeParent(parent)),
    ),
    ['Why it asks', `${because.reason} (${because.layer}: ${because.rule})`],
    ['Input', request.inputSummary],
    ['A yes for the session covers', request.scope],
    ...some('Folder', cwd === undefined ? [] : [cwd]),
    ...some('Hosts', hosts),
    ...some('Variables', env),
    ...some('Hooks', hookNotes),
    ...(needed < 2 ? [] : some('Yeses', [`${answers.length} of ${needed}`, ...answers.map(({ by }) => by)])),
  ]
}

type Agent = PendingApproval['request']['principal']['agent']

function describeAgent(agent: Agent): readonly string[] {
  if (agent === undefined) return []
  const { agentId, runId, parentAgentId, parentRunId } = agent
  const started = parentAgentId === undefined ? [] : [`started by ${parentAgentId}`]
  const above = parentRunId === undefined ? [] : [`in run ${parentRunId}`]
  return [`${agentId} in run ${runId}`, ...started, ...above]
}

function describeParent({ session, role, agent }: PendingApproval['request']['parents'][number]): string {
  return `${role}${agent === undefined ? '' : ` ${agent.agentId}`}, session ${session}`
}

function describeEarlier({ calls, ok, denied }: ApprovalDetail['earlier']): string {
  if (calls === 0) return 'This actor has not called this tool before.'
  return `Of the last ${calls} calls of this tool by this actor ${ok} went well, and ${denied} were denied.`
}
