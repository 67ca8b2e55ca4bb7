import type { AgentEnd, BackgroundAgent, StartingAgent } from '../../contract/agent-host.ts'
import type { Job, JobEnd, JobOutput } from '../../contract/services/job.ts'
import type { HeldJob } from '../state/job-table.ts'
import { pageOf } from '../output/page-of.ts'
import { redactorOf } from '../record/treatments.ts'
import { toCallError } from '../state/to-call-error.ts'
import { noteEnd, type JobPlace } from '../record/note-end.ts'

/** Makes a job of an agent, and starts it. Resolves when it runs. Rejects if too many jobs run, the session is over, or it cannot be started. */
export async function holdAgent(agent: StartingAgent, place: JobPlace): Promise<void> {
  const { jobs } = place.scope.session
  const controller = new AbortController()
  const over = Promise.withResolvers<void>()
  let end: JobEnd | undefined
  const view = (): Job => viewAgent(agent, end, place)
  const finish = (how: AgentEnd): void => {
    end = toJobEnd(how)
    noteEnd(view(), place)
    over.resolve()
  }
  jobs.add({
    id: agent.id,
    view,
    read: (options) => readAgent(agent, options, place),
    ended: over.promise,
    stop: (reason) => controller.abort(reason),
  } satisfies HeldJob)
  try {
    const { ended } = await agent.start(controller.signal)
    const at = () => place.scope.tenant.now()
    ended
      .catch((cause: unknown): AgentEnd => ({
        how: 'failed',
        reason: toCallError(cause, agent.tool).message,
        at: at(),
      }))
      .then(finish)
      .catch((cause: unknown) => {
        over.resolve()
        place.scope.tenant.logError({ call: agent.call, tool: agent.tool, cause })
      })
  } catch (error) {
    jobs.drop(agent.id)
    over.resolve()
    throw error
  }
}

/** An agent as a job. */
export function viewAgent(agent: BackgroundAgent, end: JobEnd | undefined, place: JobPlace): Job {
  const { id, call, tool, title, startedAt } = agent
  const redactor = redactorOf(place.registered, place.scope)
  return {
    id,
    kind: 'agent',
    call,
    tool,
    title: redactor.text(title),
    startedAt,
    bytes: Buffer.byteLength(saidBy(agent, place)),
    ...(end !== undefined && { end }),
  }
}

export function toJobEnd(end: AgentEnd): JobEnd {
  return { ...end, exitCode: null, signal: null, survivors: [] }
}

/** What it said from an offset on, in whole characters. */
export function readAgent(
  agent: BackgroundAgent,
  part: { offset: number; maxBytes: number },
  place: JobPlace,
): JobOutput {
  return pageOf(saidBy(agent, place), part)
}

function saidBy(agent: BackgroundAgent, { registered, scope }: JobPlace): string {
  return redactorOf(registered, scope).text(agent.said())
}
