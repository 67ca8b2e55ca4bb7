import { hash } from 'node:crypto'
import type { Contender } from '../harness/contender.ts'
import { nextInputText, runTask, taskName } from '../harness/task.ts'
import { isOrderLine } from '../harness/task-ajv.ts'

/** As many records as Handrail keeps in memory. */
const kept = 10_000

const rules = [
  { effect: 'deny', tools: 'danger.' },
  { effect: 'allow', tools: 'bench.' },
] as const

/** What stands in every begin: who, by which definition, policy and profile, decided by which rule. */
const envelope = {
  event: 'tool_started',
  tenant: 'local',
  session: 'ses_00000000000000000000',
  actor: 'user',
  role: 'main',
  origin: 'api',
  tool: taskName,
  definition: `1.0.0 ${digestOf('definition')}`,
  policy: digestOf('policy'),
  profile: digestOf('profile'),
  decision: { effect: 'allow', layer: 'defaults', rule: 'readonly' },
  writer: 'writer_00000000000000000000',
}

/**
 * What a governed call costs at least: the same work by hand, for one tool, and nothing else. Parse, validate, decide, call; a begin
 * and an end record with the same facts as Handrail's, digests of input and result, both records chained.
 */
const floor: Contender = {
  name: 'floor, in memory',
  prepare() {
    const records: { text: string; body: string; hash: string }[] = []
    let written = 0
    let last = ''
    const append = (text: string, body: string): void => {
      last = hash('sha256', `${last}\n${text}`, 'hex')
      records[written++ % kept] = { text, body, hash: last }
    }
    const call = async (text: string): Promise<string> => {
      const id = `call_${written}`
      const at = Date.now()
      const input: unknown = JSON.parse(text)
      if (!isOrderLine(input)) throw new Error('invalid input')
      if (decide(taskName) !== 'allow') throw new Error('denied')
      append(JSON.stringify({ kind: 'begin', ...envelope, call: id, at, input: digestOf(text) }), text)
      const data = await runTask(input)
      const result = JSON.stringify({
        callId: id,
        tool: taskName,
        ok: true,
        content: [{ type: 'json', json: data }],
        data,
      })
      const end = {
        kind: 'end',
        event: 'tool_completed',
        tenant: 'local',
        session: envelope.session,
        call: id,
        tool: taskName,
      }
      append(
        JSON.stringify({
          ...end,
          at: Date.now(),
          outcome: 'ok',
          result: digestOf(result),
          bytesIn: text.length,
          bytesOut: result.length,
        }),
        result,
      )
      return result
    }
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await call(nextInputText())
      },
      close() {},
    })
  },
}

function digestOf(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`
}

function decide(tool: string): 'allow' | 'deny' {
  for (const rule of rules) if (tool.startsWith(rule.tools)) return rule.effect
  return 'deny'
}

export const contenders = [floor]
