import { codeTools, createRuntime, type ApprovalAnswer, type RuntimeOptions } from 'handrail'
import { atEnd } from './at-end.ts'
import type { Place } from './command-line.ts'

/** What a person answers, by the name of who asks. */
export type Answers = (actor: string) => ApprovalAnswer['decision']

/** A program of a place with code tools and a person, on the store and under the policy of the command line there. */
export async function openOffice(
  place: Place,
  options: RuntimeOptions = {},
  answers: Answers = () => 'allow_once',
) {
  const runtime = await createRuntime({
    project: place.project,
    tools: [codeTools({ shell: true })],
    store: { path: place.store },
    approve: async ({ principal }) => ({ decision: answers(principal.actor), by: 'ann' }),
    ...options,
  })
  atEnd(() => runtime.close())
  const as = (actor = 'bot', more: object = {}) => runtime.session({ actor, ...more })
  const write = (path: string, more: { actor?: string; content?: string; tenant?: string } = {}) =>
    as(more.actor, more.tenant === undefined ? {} : { tenant: more.tenant }).call('code.write_file', {
      path,
      content: more.content ?? 'x',
      overwrite: true,
    })
  const command = (...argv: string[]) => as().call('code.run_command', { argv })
  const shell = (line: string) => as().call('code.run_shell', { command: line })
  return { runtime, as, write, command, shell }
}
