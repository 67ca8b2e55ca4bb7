/** The tool that every contender offers. It takes an order line and gives its text and weight. */
export interface OrderLine {
  item: string
  count: number
  unit: 'g' | 'kg' | 'piece'
  express: boolean
}

export const taskName = 'bench.add'
/** For peers that take no dot in a name. */
export const wireName = 'bench_add'
export const taskDescription = 'Adds a line to an order.'

/** Four fields, as JSON Schema. */
export const taskSchema = {
  type: 'object',
  properties: {
    item: { type: 'string', minLength: 1, maxLength: 200 },
    count: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
    unit: { type: 'string', enum: ['g', 'kg', 'piece'] },
    express: { type: 'boolean' },
  },
  required: ['item', 'count', 'unit', 'express'],
  additionalProperties: false,
} as const

let runs = 0
let made = 0
let broken = false

/** The work itself: next to nothing, so that only the way to it costs. */
export async function runTask(line: OrderLine): Promise<{ line: string; weight: number }> {
  runs++
  return { line: `${line.count} ${line.unit} of ${line.item}`, weight: line.count * 2 }
}

/** How often the work was done in this process. */
export function taskRuns(): number {
  return runs
}

/** From now on inputs are out of bounds (`count` is -1), or good again. */
export function breakInputs(on: boolean): void {
  broken = on
}

/** The next input. No two are equal. */
export function nextInput(): OrderLine {
  made++
  return { item: 'garden hose', count: broken ? -1 : made, unit: 'piece', express: true }
}

/** The next input as the JSON text that a model writes. */
export function nextInputText(): string {
  made++
  return `{"item":"garden hose","count":${broken ? -1 : made},"unit":"piece","express":true}`
}
