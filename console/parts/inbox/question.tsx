import type { ApprovalDetail, PendingApproval } from '../../api.ts'
import { CallTable } from '../call-table.tsx'
import { Fault } from '../fault.tsx'
import { Preview } from '../../code/preview.tsx'
import { countOf } from '../text.tsx'
import { useAsked } from '../use-asked.ts'
import { Countdown } from './countdown.tsx'

type Row = readonly [name: string, value: string]

/** A question with all that there is to know about it. */
export function Question({ question }: { question: PendingApproval }) {
  const { answer, fault } = useAsked<ApprovalDetail>(`/api/approvals/${encodeURIComponent(question.id)}`)
  return (
    <>
      <h2>
        {question.request.title}
        <Marks question={question} />
      </h2>
      <Shown question={question} />
      <Rows rows={[...whyRows(question), ...whoRows(question), ...whatRows(question)]} />
      <Fault text={fault} />
      {answer !== undefined && (
        <>
          <p>
            {answer.earlier.calls === 0
              ? 'This actor has not called this tool before.'
              : `Of the last ${countOf(answer.earlier.calls, 'call')} of this tool by this actor, ${answer.earlier.ok} went well and ${answer.earlier.denied} ${answer.earlier.denied === 1 ? 'was' : 'were'} denied.`}
          </p>
          <details>
            <summary>Just before in this session</summary>
            <CallTable
              calls={answer.before}
              label="Just before in this session"
              empty="Nothing was called before."
            />
          </details>
        </>
      )}
    </>
  )
}

/** Alike questions that are decided together, each with what it would do. */
export function Questions({
  questions,
  isOver,
}: {
  questions: readonly PendingApproval[]
  isOver: (question: PendingApproval) => boolean
}) {
  const [first] = questions
  if (first === undefined) return null
  return (
    <>
      <h2>
        {questions.length} of {first.request.tool}, decided together
      </h2>
      <Rows rows={[...whyRows(first), ...whoRows(first)]} />
      <ol class="batch" aria-label="Decided together">
        {questions.map((question) => (
          <li key={question.id}>
            <details open>
              <summary>
                {question.request.title} <code>{question.request.inputSummary}</code>
                <Marks question={question} isOver={isOver(question)} />
              </summary>
              <Shown question={question} />
              <Rows rows={whatRows(question)} />
            </details>
          </li>
        ))}
      </ol>
    </>
  )
}

function Marks({ question, isOver = false }: { question: PendingApproval; isOver?: boolean }) {
  const { dangerous, ran } = question.request
  return (
    <>
      {dangerous && <span class="tag danger">dangerous</span>}
      {ran && <span class="tag">ran already; nothing landed yet</span>}
      {isOver ? <span class="tag danger">waits no more</span> : <Countdown until={question.expiresAt} />}
    </>
  )
}

function Shown({ question: { request } }: { question: PendingApproval }) {
  const { kind, title, body, asOfNow } = request.preview
  return (
    <>
      <Preview kind={kind} title={title} body={body} />
      {asOfNow !== undefined && <p>{asOfNow}</p>}
    </>
  )
}

function Rows({ rows }: { rows: readonly Row[] }) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Why it asks, and about what. */
function whyRows({ request: { because, tool } }: PendingApproval): Row[] {
  return [
    ['Why it asks', `${because.reason} (${because.layer}: ${because.rule})`],
    ['Tool', tool],
  ]
}

/** Who asks, and below whom. */
function whoRows({ tenant, request: { principal, parents, session } }: PendingApproval): Row[] {
  const { actor, role, agent } = principal
  const below = parents.map((parent) => {
    const of = parent.agent === undefined ? '' : `agent ${parent.agent.agentId} in `
    return `${parent.role}: ${of}${parent.session}`
  })
  return [
    ['Who', `${actor} of ${tenant}, as ${role}`],
    ...(agent === undefined ? [] : [['Agent', `${agent.agentId}, run ${agent.runId}`] as const]),
    ...(agent?.parentAgentId === undefined
      ? []
      : [
          [
            'Started by',
            `agent ${agent.parentAgentId}${agent.parentRunId === undefined ? '' : `, run ${agent.parentRunId}`}`,
          ] as const,
        ]),
    ...(below.length === 0 ? [] : [['Below', below.join(', below ')] as const]),
    ['Session', session],
  ]
}

/** What it touches. */
function whatRows({ request, needed, answers }: PendingApproval): Row[] {
  const { inputSummary, scope, cwd, hosts, env, hookNotes } = request
  const yeses = `${answers.length} of ${needed}: ${answers.map(({ by }) => by).join(', ')}`
  return [
    ['Input', inputSummary],
    ['A yes for the session covers', scope],
    ...(cwd === undefined ? [] : [['Folder', cwd] as const]),
    ...(hosts.length === 0 ? [] : [['Hosts', hosts.join(', ')] as const]),
    ...(env.length === 0 ? [] : [['Variables', env.join(', ')] as const]),
    ...(hookNotes.length === 0 ? [] : [['Hooks', hookNotes.join(' ')] as const]),
    ...(needed < 2 ? [] : [['Yeses', yeses] as const]),
  ]
}
