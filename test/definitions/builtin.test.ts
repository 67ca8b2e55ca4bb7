import { codeTools, webTools } from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime } from '../support/project.ts'

test('every built-in definition and face passes the checks of registration (DEF-8, NAME-6)', async () => {
  // Handed in one by one they are tools like any other, and checked.
  const search = { engine: 'brave', secret: 'BRAVE_KEY' } as const
  const tools = [...codeTools().list(), ...webTools({ search }).list()]
  const runtime = await openRuntime({ tools })
  expect(runtime.registry.size).toBe(tools.length)
  expect(tools.length).toBe(15)
})
