import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { StepState, StepWorker, Task, TaskStep } from '../../contract/services/tasks.ts'

/** A task as it is kept under its id. */
export type StoredTask = Omit<Task, 'id'> & {
  /** Counts up with each change by an author, so that no step goes on from what was changed meanwhile. */
  readonly revision: number
  /** The place of the next step. */
  readonly nextPlace: number
}

/** What the author says of a step. Changes only with the revision of its task. */
export type StoredPlan = Pick<TaskStep, 'title' | 'description' | 'dependsOn'>

/** Where a step stands. */
export interface StoredState {
  readonly state: StepState
  readonly place: number
  /** How many of those that it depends on are not completed. */
  readonly waits: number
  readonly attempt: number
  readonly worker?: StepWorker
  readonly leaseUntil?: number
  readonly output?: Json
  readonly reason?: string
}

/** What one of them is as JSON. */
export function toStored(value: StoredTask | StoredPlan | StoredState): JsonObject {
  // It holds nothing but JSON; what is absent is left out.
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

/** What was kept of a task; undefined for null. Only this room writes such documents, and the store lets none through that others wrote. */
export function readTask(value: Json): StoredTask | undefined {
  return (value ?? undefined) as StoredTask | undefined
}

/** The same for what the author says of a step. */
export function readPlan(value: Json): StoredPlan | undefined {
  return (value ?? undefined) as StoredPlan | undefined
}

/** The same for where a step stands. */
export function readState(value: Json): StoredState | undefined {
  return (value ?? undefined) as StoredState | undefined
}
