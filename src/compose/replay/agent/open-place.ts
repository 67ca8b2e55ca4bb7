import { childSession, childTask } from '../../../agents/children/child-options.ts'
import type { KeptRun } from '../../../agents/loop/run-book.ts'
import type {
  AgentDefinitionRegistry,
  RegisteredAgentDefinition,
} from '../../../contract/services/agent-definition.ts'
import type { StoredRun } from '../../../contract/agent-run.ts'
import type { BeginRecord } from '../../../contract/evidence.ts'
import type { Store } from '../../../contract/store.ts'
import type { Session, SessionOptions } from '../../../contract/runtime.ts'
import { readRecord } from '../../../kit/result/read-record.ts'
import { openSessionLike } from '../open-session-like.ts'
import type { NoPlace, Place, Replaying } from './replaying.ts'

/** Opens the session of a run, below those that it is below. Rejects with a SetupError if there can be no such session now. */
export async function openPlace(run: KeptRun, replaying: Replaying): Promise<Place | NoPlace> {
  const { book, stage, task } = replaying
  const { parent, tenant } = run
  const { settings, model } = run
  if (parent === undefined)
    return { session: openOwn(run, replaying), settings: { ...settings, ...withoutUndefined(task) }, model }
  const above = parent.run === undefined ? undefined : book.load(tenant, parent.run)
  if (above !== undefined) {
    const place = await openPlace(above, replaying)
    return 'differences' in place ? place : openChild(run, place, replaying)
  }
  const { parents: [near, ...far] = [] } = firstBegin(run, replaying.store) ?? {}
  const session = openSessionLike(stage.runtime, {
    tenant,
    actor: run.actor,
    ...(near !== undefined && { role: near.role, mode: near.mode ?? 'default', parents: far }),
  })
  return openChild(run, { session, settings: {}, model }, replaying)
}

/** Opens the session of a run that a call started, as its definition says now, below that of the call. */
export async function openChild(
  run: KeptRun,
  parent: Place,
  { stage, context, options, book }: Replaying,
): Promise<Place | NoPlace> {
  const { parent: { wish, definition: id } = {}, settings } = run
  const definitions = context.services['agentDefinitions'] as AgentDefinitionRegistry | undefined
  const definition = id === undefined ? undefined : await definitions?.find(id, context.project)
  if (id !== undefined && definition === undefined)
    return {
      differences: [
        { what: 'agent', recorded: `the definition "${id}"`, now: 'there is no such definition' },
      ],
    }
  const ground = { definition, parent: parent.session, settings: parent.settings }
  const how = wish === undefined ? undefined : childSession(wish, ground)
  const session = stage.runtime.session({ parent: parent.session, ...(how ?? openedWith(run, book)) })
  const { system: _s, instructions: _i, output: _o, maxTurns: _m, ...kept } = settings
  return {
    session,
    settings: wish === undefined ? settings : { ...kept, ...childTask(wish, ground) },
    model: modelOf(wish?.model, { definition, parent, options }),
  }
}

/** The model that an agent would work with now, as far as the options name it. */
function modelOf(
  name: string | undefined,
  about: {
    definition: RegisteredAgentDefinition | undefined
    parent: Place
    options: Replaying['options']
  },
): StoredRun['model'] {
  const { definition, parent, options } = about
  const { models = {}, model: usual } = options.agents ?? {}
  const find = (id: string | undefined) =>
    id !== undefined && Object.hasOwn(models, id) ? models[id] : undefined
  const meant = find(name) ?? find(definition?.model)
  const found = meant ?? parent.model ?? usual
  return { provider: found.provider, modelId: found.modelId }
}

/** The session of a run that a person or a program started, with the tools that it had. */
function openOwn(run: KeptRun, { stage, book, store }: Replaying): Session {
  const { tenant, actor, settings } = run
  const { agent, standingConsents = firstBegin(run, store)?.standingConsents } = settings.session ?? {}
  return stage.runtime.session({
    tenant,
    actor,
    ...openedWith(run, book),
    ...(agent !== undefined && { agent }),
    ...(standingConsents !== undefined && { standingConsents }),
  })
}

/** How the session of a run stood when it began. */
function openedWith({ tenant, id }: KeptRun, book: Replaying['book']): SessionOptions {
  const [first] = book.briefs(tenant, id)
  if (first === undefined) return {}
  const { restrictions: _restrictions, ...opened } = first.brief.session
  return opened
}

function firstBegin({ tenant, session }: KeptRun, store: Pick<Store, 'records'>): BeginRecord | undefined {
  const first = store.records({ tenant, session, kind: 'begin', limit: 1 }).next()
  return first.done === true ? undefined : readRecord(first.value.text, 'begin')
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value
}
