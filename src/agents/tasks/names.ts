import type { StepState } from '../../contract/services/tasks.ts'
import type { Name } from './draft.ts'
import type { StoredState } from './stored.ts'

/*
 * Where what lies. A task is one document; a step is one that only authors change, and one for where it stands. Beside them, a document for each thing
 * that is looked for has its name alone: tasks that have not ended, the steps of a state, and the steps that wait for a step. No id has a space.
 */

/** A task of an actor. */
export function taskName(actor: string, id: string): Name {
  return { kind: 'task', group: actorGroup(actor), id }
}

/** All tasks of an actor. */
export function actorGroup(actor: string): string {
  return `all ${actor}`
}

/** Those that have not ended. */
export function openGroup(actor: string): string {
  return `open ${actor}`
}

/** What the author says of a step. */
export function planName(task: string, id: string): Name {
  return { kind: 'step', group: `plan ${task}`, id }
}

/** Where a step stands. */
export function stateName(task: string, id: string): Name {
  return { kind: 'step', group: `state ${task}`, id }
}

/** Steps of a state, in the order in which they are taken. */
export function stateGroup(task: string, state: StepState): string {
  return `${state} ${task}`
}

/** A step among those of its state: running ones in the order in which their leases end. */
export function placeName(task: string, id: string, { state, place, leaseUntil }: StoredState): Name {
  const order = state === 'running' ? (leaseUntil ?? 0) : place
  return { kind: 'step', group: stateGroup(task, state), id: `${String(order).padStart(16, '0')} ${id}` }
}

/** What `placeName` made the id of. */
export function readPlace(id: string): { order: number; step: string } {
  return { order: Number(id.slice(0, 16)), step: id.slice(17) }
}

/** The steps that depend on a step. */
export function afterGroup(task: string, step: string): string {
  return `after ${task} ${step}`
}

/** That one step depends on another one. */
export function afterName(task: string, on: string, step: string): Name {
  return { kind: 'step', group: afterGroup(task, on), id: step }
}
