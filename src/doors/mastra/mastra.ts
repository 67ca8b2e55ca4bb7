import { SetupError } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { createSdkDoor } from '../base/create-sdk-door.ts'
import { checkDoorOptions, type SdkDoorOptions } from '../base/door-options.ts'
import { toMastraTool, type MakeMastraTool } from './to-mastra-tool.ts'

/** What the door takes of Mastra, so that it does not load it by itself. */
export interface MastraOptions<Made> extends SdkDoorOptions {
  /** `createTool` of `@mastra/core/tools`. */
  createTool: MakeMastraTool<Made>
}

/** The tools of a session for agents of Mastra. */
export interface MastraDoor<Made> {
  readonly tools: { [name: string]: Made }
}

/**
 * The tools of a session for agents of Mastra. A call that asks suspends its run with `{ approvals }`: each with its id, title, tool, preview and
 * digest. Go on with `agent.resumeGenerate({ [id]: { decision: 'allow_once', by: 'bob' } }, { runId })`, or with any data once it was decided
 * elsewhere. Throws a SetupError without `createTool`.
 *
 * @example
 * const door = mastra(session, { createTool, approvals: runtime.approvals })
 * const agent = new Agent({ id: 'shop', name: 'Shop', instructions: 'Help.', model, tools: door.tools })
 */
export function mastra<Made>(session: Session, options: MastraOptions<Made>): MastraDoor<Made> {
  checkDoorOptions('mastra', options, ['createTool'])
  const { createTool: make } = options
  if (typeof make !== 'function')
    throw new SetupError(
      'invalid_options',
      'mastra needs { createTool }, the function of "@mastra/core/tools".',
    )
  const door = createSdkDoor(session, options)
  const context = { make, session, door, options }
  return {
    tools: Object.fromEntries(door.tools.list.map((tool) => [tool.name, toMastraTool(tool, context)])),
  }
}
