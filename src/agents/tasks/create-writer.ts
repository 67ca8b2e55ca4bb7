import { setImmediate } from 'node:timers/promises'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { TaskCaller } from '../../contract/services/tasks.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { Draft } from './draft.ts'

/** On whose behalf something is changed. */
export type WriterCaller = Pick<TaskCaller, 'tenant' | 'actor' | 'ended'>

/**
 * Makes changes of documents one after the other for each actor, and writes those that wait for each other together. If another process was faster, they are
 * made anew over what that one wrote.
 */
export interface Writer {
  /** Resolves with what the work returned, once what it wrote is durable. What it throws, it rejects with, and nothing of the work is written. */
  change<T>(caller: WriterCaller, work: (draft: Draft) => T): Promise<T>
}

interface Job {
  caller: WriterCaller
  work: (draft: Draft) => unknown
  settle: (outcome: Outcome) => void
}

type Outcome = { done: unknown; wrote: boolean } | { failed: unknown }

/** So many jobs are written together at most. */
const mostJobs = 64
/** Each time another process was faster, it has gone on, so this is far more than is ever needed. */
const mostTries = 1000
/** How often work is done anew for an answer that may be about a mixture of states. */
const mostLooks = 100

/** A writer over a store. */
export function createWriter(store: Pick<Store, 'append' | 'documents'>): Writer {
  const lines = new Map<string, Job[]>()

  const write = async (tenant: string, jobs: readonly Job[]): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const draft = new Draft(store, tenant)
      const outcomes = jobs.map((job) => tryJob(job, draft))
      // What is written is held against what it was based on; what is only said is held against that here.
      const isOnlySaid = outcomes.some((outcome) => 'failed' in outcome || !outcome.wrote)
      if (isOnlySaid && tries < mostLooks && !draft.isCurrent()) continue
      try {
        const documents = draft.changes()
        // The call that this is work of is not answered before its end is on the disk.
        if (documents.length > 0) await store.append([], { documents, early: true })
        jobs.forEach((job, index) => job.settle(outcomes[index] ?? { failed: new Error('No outcome.') }))
        return
      } catch (error) {
        if (!isDocumentChanged(error) || tries >= mostTries) throw error
      }
      await setImmediate()
    }
  }
  const follow = async (line: string, tenant: string): Promise<void> => {
    const waiting = lines.get(line) ?? []
    // What comes in one turn of the event loop is written together.
    await setImmediate()
    while (waiting.length > 0) {
      const jobs = waiting.splice(0, mostJobs)
      await write(tenant, jobs).catch((error: unknown) => {
        for (const job of jobs) job.settle({ failed: error })
      })
    }
    lines.delete(line)
  }
  return {
    change<T>(caller: WriterCaller, work: (draft: Draft) => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const settle = (outcome: Outcome): void => {
          if ('failed' in outcome) reject(outcome.failed as Error)
          else resolve(outcome.done as T)
        }
        const line = JSON.stringify([caller.tenant, caller.actor])
        const waiting = lines.get(line)
        if (waiting !== undefined) return void waiting.push({ caller, work, settle })
        lines.set(line, [{ caller, work, settle }])
        void follow(line, caller.tenant)
      })
    },
  }
}

function tryJob({ caller, work }: Job, draft: Draft): Outcome {
  if (caller.ended()) return { failed: tooLate() }
  try {
    return draft.attempt(() => work(draft))
  } catch (error) {
    return { failed: error }
  }
}

function tooLate(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The call ended before its change could be made. Nothing was changed.',
  })
}
