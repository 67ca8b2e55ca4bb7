import type { Json } from '../../../contract/base/json.ts'
import type { Registered } from '../../../contract/registry.ts'
import type { CallScope } from '../../state/scope.ts'
import { checkState, type Long } from './ask-job.ts'
import { FollowedJob } from './follow-job.ts'
import { createJobWriter, type JobWriter } from './job-writer.ts'
import { runSegment } from './run-segment.ts'
import { readJobs, type StoredJob } from './stored-job.ts'

type End = NonNullable<StoredJob['end']>

/**
 * Goes on with the jobs of long tools that a session has, and that no process follows: those that survive, and whose tool is there. The others end, and
 * say so.
 */
export function adoptJobs(scope: CallScope): void {
  const { tenant, session } = scope
  const { actor, role, tenant: of } = session.principal
  const group = { tenant: of, session: session.id }
  for (const stored of readJobs(group, tenant.store)) {
    const isOwn = stored.actor === actor && stored.role === role
    const isFollowed = stored.writer !== '' && tenant.store.lives(stored.writer)
    if (!isOwn || stored.phase === 'ended' || isFollowed) continue
    const registered = session.find(stored.tool, 'canonical')
    const writer = createJobWriter(stored, { group, tenant, isNew: false })
    adopt(writer, registered, scope)
  }
}

function adopt(writer: JobWriter, registered: Registered | undefined, scope: CallScope): void {
  const { session, tenant } = scope
  const long = registered?.tool.long ?? goneTool
  const ground = { writer, long, registered, scope, staysOpen: session.staysOpen }
  const job = new FollowedJob(ground)
  session.jobs.adopt(job)
  const interrupted = (reason: string): End => ({ how: 'interrupted', at: tenant.now(), reason })
  job.follow(async () => {
    if (!(await writer.write({ writer: tenant.store.writer }))) {
      session.jobs.drop(job.id)
      return 'lost'
    }
    if (registered === undefined || long === goneTool)
      return interrupted('its process ended, and its tool is not here any more')
    if (!long.survives) return interrupted('its process ended, and its tool cannot be asked again')
    if (writer.job.phase === 'running') return 'runs'
    return findBegun(writer, { long, registered }, scope)
  })
}

/** Whether work whose start was cut off has begun. */
async function findBegun(
  writer: JobWriter,
  { long, registered }: { long: Long; registered: Registered },
  scope: CallScope,
): Promise<End | 'runs' | 'lost'> {
  const { id, input } = writer.job
  const ended = (reason: string): End => ({ how: 'interrupted', at: scope.tenant.now(), reason })
  if (long.find === undefined)
    return ended('its process ended while it was started, and whether its work began is not known')
  let state: Json | undefined
  const { ok, error } = await runSegment(
    writer.job,
    {
      name: 'find',
      async run(context) {
        const found = await long.find?.({ job: id, input }, context)
        if (found !== undefined) state = checkState(found, registered, scope)
      },
    },
    scope,
  )
  if (!ok)
    return ended(
      `its process ended while it was started, and its work was not found: ${error?.message ?? ''}`,
    )
  if (state === undefined) return ended('its process ended before its work began')
  return (await writer.write({ phase: 'running', state })) ? 'runs' : 'lost'
}

/** Stands in for a tool that is not there: nothing of it is called. */
const goneTool: Long = {
  everyMs: 1,
  longestMs: undefined,
  survives: false,
  outputSchema: undefined,
  title: () => '',
  start: () => null,
  poll: () => ({ status: 'running' }),
}
