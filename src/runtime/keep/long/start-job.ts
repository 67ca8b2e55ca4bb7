import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Json } from '../../../contract/base/json.ts'
import type { StartedJob } from '../../../contract/services/long-tool.ts'
import type { Job } from '../../../contract/services/job.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import { parseJson } from '../../../kit/json/parse-json.ts'
import { newId } from '../../../kit/new-id.ts'
import { redactorOf } from '../../record/treatments.ts'
import type { Admitted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { checkState, type Long } from './ask-job.ts'
import { FollowedJob } from './follow-job.ts'
import { forgetOld, sweepJobs } from './clear-jobs.ts'
import { createJobWriter, type JobWriter } from './job-writer.ts'
import { runSegment } from './run-segment.ts'
import type { StoredJob } from './stored-job.ts'

/** Begins the work of a long tool, and follows it from then on. Its job is in the store before it begins, so that none is lost. */
export async function startLongJob(
  start: (started: StartedJob) => Json | Promise<Json>,
  admitted: Admitted,
  scope: CallScope,
): Promise<Job> {
  const { registered } = admitted
  const { long } = registered.tool
  if (long === undefined) throw notLong(registered.definition.name)
  const { tenant, session } = scope
  const group = { tenant: session.principal.tenant, session: session.id }
  const writer = createJobWriter(toStored(admitted, long, scope), { group, tenant, isNew: true })
  const job = new FollowedJob({ writer, long, registered, scope, staysOpen: session.staysOpen })
  session.jobs.add(job)
  let state: Json | undefined
  try {
    await sweepJobs(scope)
    await writer.write({}, { documents: forgetOld(group, scope) })
    state = await start({
      job: job.id,
      callback: tenant.jobCallbacks.of({ tenant: group.tenant, job: job.id }),
    })
    await writer.write({ phase: 'running', state: checkState(state, registered, scope) })
  } catch (error) {
    session.jobs.drop(job.id)
    job.abandon()
    await undo(state, { writer, long }, scope)
    throw error
  }
  job.follow()
  return job.view()
}

/** Ends work that began and cannot be kept, as it could not be asked. */
async function undo(
  state: Json | undefined,
  { writer, long }: { writer: JobWriter; long: Long },
  scope: CallScope,
): Promise<void> {
  const { id, input } = writer.job
  const reason = state === undefined ? 'it did not begin' : 'what it is known by cannot be kept'
  if (state !== undefined && long.stop !== undefined)
    await runSegment(
      writer.job,
      {
        name: 'stop',
        isLast: true,
        run: (context) => long.stop?.({ job: id, input, state, callbacks: [], reason }, context),
      },
      scope,
    )
  await writer.write({ phase: 'ended', writer: '', end: { how: 'failed', at: scope.tenant.now(), reason } })
}

function toStored(
  { call, registered, decoded, shownText }: Admitted,
  long: Long,
  scope: CallScope,
): StoredJob {
  const { tenant, session } = scope
  const input = parseJson(shownText)
  const now = tenant.now()
  return {
    id: newId('job', now),
    tool: registered.definition.name,
    call: call.id,
    toolCallId: call.toolCallId,
    actor: session.principal.actor,
    role: session.principal.role,
    title: redactorOf(registered, scope).text(long.title(decoded)),
    input: isJsonObject(input) ? input : {},
    startedAt: now,
    staysOpen: session.staysOpen || session.isResumed,
    writer: tenant.store.writer,
    phase: 'starting',
    state: null,
    polls: 0,
    said: '',
  }
}

function notLong(tool: string): ToolFailure {
  return new ToolFailure({
    reason: 'failed',
    message: `"${tool}" is no long tool, and begins no job of its own. Tell the developer of the tool.`,
  })
}
