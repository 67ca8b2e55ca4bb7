import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { mkdtempSync } from 'node:fs'
import { makeAgentModel, turnsOfRun } from './harness/agent-model.ts'
import { makeTaskTool } from './handrail/task-tool.ts'
import { contenders as ai } from './peers/ai-agent.ts'
const rounds = Number(process.argv[2] ?? 40)
const names = process.argv.slice(3)
async function own(place: string, durable = false) {
  const at = place === '' ? '' : createRequire(`/tmp/h-agents-inst/${place}/package.json`).resolve('handrail')
  const { createRuntime, defineTool } = await import(pathToFileURL(at).href)
  const dir = mkdtempSync('/tmp/h-agents-b-')
  const runtime = await createRuntime({
    project: dir,
    tools: [makeTaskTool(defineTool)],
    store: durable ? { path: dir + '/s.db' } : 'memory',
  })
  const model = makeAgentModel('bench__add')
  return async (n: number) => {
    for (let i = 0; i < n; i++) {
      const run = await runtime.run({ model, prompt: 'Add the lines.' })
      for await (const event of run) if (event.type === 'text') event.delta
      await run.result
    }
  }
}
const works: [string, (n: number) => Promise<unknown>][] = []
for (const name of names) {
  if (name === 'ai') {
    const p = await ai[0].prepare()
    works.push([name, (n) => p.round(n * turnsOfRun)])
  } else works.push([name, await own(name.replace(/-durable$/, ''), name.endsWith('-durable'))])
}
for (const [, work] of works) await work(60)
const cpu = new Map<string, number[]>(),
  wall = new Map<string, number[]>()
for (let r = 0; r < rounds; r++)
  for (const [name, work] of works) {
    const c = process.cpuUsage(),
      t = performance.now()
    await work(10)
    const d = process.cpuUsage(c)
    ;(cpu.get(name) ?? cpu.set(name, []).get(name)!).push((d.user + d.system) / 10 / turnsOfRun)
    ;(wall.get(name) ?? wall.set(name, []).get(name)!).push(
      ((performance.now() - t) * 1000) / 10 / turnsOfRun,
    )
  }
const med = (v: number[]) => v.toSorted((a, b) => a - b)[v.length >> 1]
for (const [name] of works)
  console.log(
    name.padEnd(14),
    'cpu',
    med(cpu.get(name)!).toFixed(1),
    'wall',
    med(wall.get(name)!).toFixed(1),
    'µs',
  )
const ref = cpu.get('ai')
if (ref)
  for (const [name] of works) {
    const v = cpu.get(name)!.map((x, i) => x / ref[i])
    console.log(name, 'cpu ratio per round, median', med(v).toFixed(3))
  }
