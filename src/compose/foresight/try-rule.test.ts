import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createSimulation } from '../simulation/create-simulation.ts'
import { codeTools } from '../sources/code-tools.ts'
import { createJudge } from './create-judge.ts'
import type { JudgedCall } from './judged-call.ts'
import { openTrial } from './try-rule.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

test('a rule on a command that only looks does not help one that wrote, and does help one that did not', async () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-trial-')))
  ends.push(() => rmSync(project, { recursive: true }))
  const runtime = { project, tools: [codeTools()] }
  const present = await createSimulation(runtime)
  ends.push(() => present.close())
  const judge = createJudge(present, false)
  const obstacleOf = async (argv: readonly string[], wrote: boolean): Promise<string | undefined> => {
    const executable = `/usr/bin/${argv[0]}`
    const call: JudgedCall = {
      call: 'call_1',
      tenant: 'local',
      tool: 'code.run_command',
      actor: 'bot',
      at: 0,
      caller: {},
      definition: '',
      operations: [{ kind: 'process', executable, argv, cwd: project }],
      input: undefined,
      hides: { input: false, operations: false },
      wrote,
    }
    const rule = {
      id: 'r',
      effect: 'allow' as const,
      tools: ['code.run_command'],
      commands: [argv.join(' ')],
    }
    const trial = await openTrial({ tenant: 'local', rule, runtime, judge })
    if ('reason' in trial) return trial.reason
    ends.push(() => trial.close())
    return trial.findObstacle(call)
  }
  expect(await obstacleOf(['cat', 'a.md'], false)).toBeUndefined()
  expect(await obstacleOf(['cat', 'a.md'], true)).toContain('defaults/dangerous would still ask')
  expect(await obstacleOf(['touch', 'a.md'], true)).toBeUndefined()
})
