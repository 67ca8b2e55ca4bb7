import { codeTools, webTools } from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime } from '../support/project.ts'

test('every built-in definition and face passes the checks of registration (DEF-8, NAME-6)', async () => {
  // From a source of this kind they are checked like any other, and may be programs that only read.
  const search = { engine: 'brave', secret: 'BRAVE_KEY' } as const
  const tools = [...codeTools().list(), ...webTools({ search }).list()]
  const runtime = await openRuntime({ tools: [{ id: 'test', kind: 'declarative', list: () => tools }] })
  expect(runtime.registry.size).toBe(tools.length)
  expect(tools.length).toBe(16)
})
