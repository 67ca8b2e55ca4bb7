import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, defineTool, type Runtime } from 'handrail'
import type { StepResult } from 'handrail/approvals'

/**
 * One of two processes that are killed at any time: an agent that pays orders back, one after the other, and keeps its step in a file; or a person
 * who says yes to each order once, and no to what is asked about it again. Each prints a letter for each thing done.
 */
const [role = '', folder = '', last = ''] = process.argv.slice(2)
const refund = defineTool({
  name: 'shop.refund',
  description: 'Pays an order back.',
  permission: 'write',
  input: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  async run({ order }) {
    appendFileSync(join(folder, 'paid'), `${order}\n`)
    await sleep(2)
    return { refunded: order }
  },
})
const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [refund],
  store: { path: join(folder, 'home', 'store.db') },
})

interface Saved {
  readonly order: number
  readonly step?: StepResult
}

const saved = join(folder, 'step.json')

function save(state: Saved): void {
  writeFileSync(`${saved}.new`, JSON.stringify(state))
  renameSync(`${saved}.new`, saved)
}

async function ask(): Promise<void> {
  const session = runtime.session({ id: 'thread', actor: 'agent' })
  let { order, step }: Saved = existsSync(saved)
    ? (JSON.parse(readFileSync(saved, 'utf8')) as Saved)
    : { order: 0 }
  for (; ; order++, step = undefined) {
    if (last !== '' && order >= Number(last)) return
    step ??= await session.step([{ id: `order-${order}`, tool: 'shop.refund', input: { order: `${order}` } }])
    save({ order, step })
    while (step.waiting.length > 0) {
      await sleep(3)
      step = await session.resume(step)
    }
    const [result] = step.results
    appendFileSync(join(folder, 'results'), `${order} ${result?.outcome ?? 'none'}\n`)
    save({ order: order + 1 })
    process.stdout.write('.')
  }
}

async function decide({ approvals }: Runtime): Promise<never> {
  for (;;) {
    for (const { id, request } of approvals.list()) {
      // What was said is written down first: a question about the same order that came later is another one.
      const said = readSaid()
      const isFirst = !said.some(({ order }) => order === request.toolCallId)
      if (isFirst) appendFileSync(join(folder, 'said'), `${request.toolCallId} ${id}\n`)
      const isYes = isFirst || said.some((each) => each.id === id)
      await approvals.decide(id, { decision: isYes ? 'allow_once' : 'deny', by: 'person' })
      process.stdout.write('.')
    }
    await sleep(3)
  }
}

function readSaid(): { order: string | undefined; id: string | undefined }[] {
  const path = join(folder, 'said')
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([order, id]) => ({ order, id }))
}

await (role === 'agent' ? ask() : decide(runtime))
await runtime.close()
