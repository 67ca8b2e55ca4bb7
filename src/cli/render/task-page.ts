import { stepStates, type Task, type TaskStep, type WholeTask } from '../../contract/services/tasks.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import { showLine, showSafely } from '../base/show-safely.ts'
import { countOf } from './count-of.ts'

/** A task in one line. */
export function toTaskRow({ id, createdAt, state, steps, title }: Task): string {
  return showLine(
    `${id}  ${new Date(createdAt).toISOString()}  ${state}  ${countOf(steps, 'step')}  ${title}`,
  )
}

/** A task and its steps, with nothing that could drive the terminal, as lines that each end. */
export function toTaskPage({ task, counts, steps }: WholeTask, redactor: Redactor): string {
  const standing = stepStates.flatMap((state) => (counts[state] === 0 ? [] : [`${counts[state]} ${state}`]))
  const rows: (readonly [name: string, value: string | undefined])[] = [
    ['title', task.title],
    ['summary', task.summary],
    ['owner', task.owner],
    ['state', task.state],
    ['reason', task.reason],
    ['waits for', task.dependsOn.length === 0 ? undefined : task.dependsOn.join(', ')],
    ['created', new Date(task.createdAt).toISOString()],
    ['steps', standing.join(', ') || 'none'],
  ]
  const lines = [
    task.id,
    ...rows.flatMap(([name, value]) =>
      value === undefined
        ? []
        : [`  ${name.padEnd(9)} ${showSafely(redactor.text(value)).replaceAll('\n', '\n            ')}`],
    ),
    ...(steps.length === 0 ? [] : ['']),
    ...steps.map((step) => `  ${showLine(redactor.text(toStepLine(step)))}`),
  ]
  return `${lines.join('\n')}\n`
}

/** A step in one line: which, where it stands, who has it, and what it waits for. */
function toStepLine({ id, title, state, attempt, worker, leaseUntil, dependsOn, reason }: TaskStep): string {
  const until = leaseUntil === undefined ? '' : ` until ${new Date(leaseUntil).toISOString()}`
  return [
    state.padEnd(9),
    id,
    title,
    ...(worker === undefined ? [] : [`claim ${attempt} of ${worker.session}${until}`]),
    ...(state === 'pending' && dependsOn.length > 0 ? [`after ${dependsOn.join(', ')}`] : []),
    ...(reason === undefined ? [] : [reason]),
  ].join('  ')
}
