import { join } from 'node:path'
import { createRuntime, defineTool, type RuntimeOptions, type Session, type ToolResult } from 'handrail'
import { codeModeTools, type ProgramLimits } from 'handrail/tools'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'

const numbered = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

/** A runtime with tools that note what they did, and one that runs programs. */
export async function openPrograms(changed: RuntimeOptions = {}, limits: ProgramLimits = {}) {
  const did: string[] = []
  const folder = makeFolder({})
  const look = defineTool({
    name: 'shop.look',
    description: 'Looks at one.',
    permission: 'readonly',
    input: numbered,
    output: numbered,
    async run({ n }) {
      did.push(`look ${n}`)
      await Promise.resolve()
      did.push(`looked ${n}`)
      return { n }
    },
  })
  const note = defineTool({
    name: 'shop.note',
    description: 'Notes one.',
    permission: 'write',
    input: numbered,
    run({ n }) {
      did.push(`note ${n}`)
      return `noted ${n}`
    },
  })
  const options: RuntimeOptions = {
    project: folder,
    home: folder,
    store: { path: join(folder, 'store.db') },
    ...changed,
    tools: [look, note, codeModeTools({ limits }), ...(changed.tools ?? [])],
  }
  const open = async () => {
    const runtime = await createRuntime(options)
    atEnd(() => runtime.close())
    return runtime
  }
  return { did, options, open, runtime: await open() }
}

/** Runs a program in a session. */
export function runCode(session: Session, code: string): Promise<ToolResult> {
  return session.call('code_mode.run', { code })
}

/** What a program returned. */
export function returnedBy({ data, error }: ToolResult): unknown {
  if (typeof data !== 'object' || data === null || !('returned' in data)) return error?.message
  return data['returned']
}
