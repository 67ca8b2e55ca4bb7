import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, defineTool } from 'handrail'
import type { StepResult } from 'handrail/approvals'
import { codeModeTools } from 'handrail/tools'

/**
 * A process that is killed at any time. It makes one call after the other in a session of its own, each of a program that adds lines to a file, some
 * of them after a person's yes, which it says itself. It goes on with the call that was not over, and prints a letter for each line.
 */
const [folder = '', last = '1000000'] = process.argv.slice(2)

function lineTool(name: string) {
  return defineTool({
    name,
    description: 'Adds a line to a file.',
    permission: 'write',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    async run({ line }) {
      await sleep(Math.random() * 2)
      appendFileSync(join(folder, 'lines'), `${line}\n`)
      process.stdout.write('.')
      await sleep(Math.random() * 2)
      return line
    },
  })
}

const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [lineTool('demo.add'), lineTool('demo.ask'), codeModeTools()],
  policy: { rules: [{ effect: 'allow', tools: ['demo.add'] }] },
  store: { path: join(folder, 'store.db') },
})
const session = runtime.session({ id: 'thread' })
const counted = join(folder, 'counted')
for (;;) {
  const count = existsSync(counted) ? Number(readFileSync(counted, 'utf8')) : 0
  if (count >= Number(last)) break
  const code = `const told = []
  const at = Date.now() + Math.random()
  for (const name of ['add', 'ask', 'add']) {
    try { told.push(await tools['demo__' + name]({ line: '${count} ' + name + told.length + ' ' + at })) }
    catch (error) { told.push(error.reason) }
  }
  return told`
  // A call of this id that was cut off is made again, as a run does it.
  const call = { id: `call_${count}`, tool: 'code_mode.run', input: { code } }
  let step: StepResult = await session.step([call], { once: true })
  while (step.waiting.length > 0) {
    for (const { approval } of step.waiting)
      if (runtime.approvals.find(approval.id)?.state === 'waiting')
        await runtime.approvals.decide(approval.id, { decision: 'allow_once', by: 'ann' })
    step = await session.resume(step)
  }
  const [result] = step.results
  if (result?.ok !== true) throw new Error(JSON.stringify(result?.error))
  appendFileSync(
    join(folder, 'told'),
    `${JSON.stringify([count, (result.data as { returned: unknown }).returned])}\n`,
  )
  writeFileSync(counted, String(count + 1))
}
await runtime.close()
