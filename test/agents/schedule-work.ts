import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineLongTool } from 'handrail/tools'

/** A long tool whose work ends when the folder has a file `done`. What happens to it is noted in the folder; once it was asked for, there is `asked`. */
export function buildTool(folder: string) {
  const note = (line: string): void => appendFileSync(join(folder, 'happened'), `${line}\n`)
  return defineLongTool({
    name: 'demo.build',
    description: 'Builds.',
    input: { type: 'object', properties: {} },
    output: { type: 'object', properties: { log: { type: 'string' } }, required: ['log'] },
    everyMs: 2,
    survives: true,
    start: (_, __, { job }) => {
      note('start')
      return { job }
    },
    find: ({ job }) => ({ job }),
    poll: () => {
      if (existsSync(join(folder, 'done'))) return { status: 'completed', result: { log: 'built' } }
      writeFileSync(join(folder, 'asked'), '')
      return { status: 'running' }
    },
    stop: ({ reason }) => note(`stop: ${reason}`),
  })
}

export function happenedIn(folder: string): string[] {
  const path = join(folder, 'happened')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}
